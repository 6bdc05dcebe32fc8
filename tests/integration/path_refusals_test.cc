// Path rules: what a refusal says, so that an agent can act on it.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PathRefusals : public IntegrationTest {};

TEST_F(PathRefusals, OutsideNamesThePathAndListsTheRootsWithTheirAccess) {
  MakeDirectory("writable");
  MakeDirectory("readonly");
  const std::string writable = Path("writable");
  const std::string readonly = Path("readonly");
  Mount({{writable, "", true}, {readonly, "", false}});
  const auto names_all = [&](const std::string& path) {
    return AllOf(HasSubstr(path), HasSubstr(writable + " (writable)"),
                 HasSubstr(readonly + " (read-only)"));
  };
  const std::string secret = Path("outside/secret.txt");
  EXPECT_THAT(ReadRefusal(secret), names_all(secret));
  EXPECT_THAT(WriteRefusal(secret), names_all(secret));
  EXPECT_THAT(Refusal("list_directory", {{"path", "/etc"}}), names_all("/etc"));
  EXPECT_THAT(Refusal("glob", {{"pattern", "*"}, {"path", "/etc"}}), names_all("/etc"));
  EXPECT_THAT(Refusal("search_file_content", {{"pattern", "root"}, {"path", "/etc"}}),
              names_all("/etc"));
  EXPECT_THAT(Refusal("run_shell_command", {{"command", {"true"}}, {"directory", "/etc"}}),
              names_all("/etc"));
}

TEST_F(PathRefusals, OutsideListsHostNamesOfMappedRoots) {
  MakeDirectory("guest");
  const std::string host = Path("host");
  Mount({{host, Path("guest").string(), false}});
  EXPECT_THAT(ReadRefusal("/etc/passwd"),
              AllOf(HasSubstr("/etc/passwd"), HasSubstr(host + " (read-only)")));
}

TEST_F(PathRefusals, MissingFileOutsideIsRefusedLikeOneThatExists) {
  MakeDirectory("root");
  MakeFile("outside/exists", "");
  Mount({{Path("root").string(), "", true}});
  std::string exists = ReadRefusal(Path("outside/exists"));
  std::string missing = ReadRefusal(Path("outside/missing"));
  ASSERT_NE(exists.find("exists"), std::string::npos);
  exists.replace(exists.find(Path("outside/exists").string()),
                 Path("outside/exists").string().size(), "X");
  missing.replace(missing.find(Path("outside/missing").string()),
                  Path("outside/missing").string().size(), "X");
  EXPECT_EQ(exists, missing) << "the text must not tell what exists outside";
}

TEST_F(PathRefusals, ReadOnlyRefusalSaysHowToMakeTheMountWritableAndListsAllRoots) {
  MakeFile("readonly/a.txt", "text");
  MakeDirectory("writable");
  const std::string readonly = Path("readonly");
  const std::string writable = Path("writable");
  Mount({{readonly, "", false}, {writable, "", true}});
  const std::string text = WriteRefusal(readonly + "/a.txt");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr(readonly + "/a.txt"), HasSubstr("read-only"),
            HasSubstr("limactl stop default"), HasSubstr("limactl edit default --start --set"),
            HasSubstr("{\"location\":\"" + readonly + "\""), HasSubstr(writable + " (writable)")));
  EXPECT_EQ(ReadFile(readonly + "/a.txt"), "text");
}

TEST_F(PathRefusals, ReadOnlyRefusalComesForNewFilesToo) {
  MakeFile("readonly/a.txt", "text");
  const std::string readonly = Path("readonly");
  Mount({{readonly, "", false}});
  EXPECT_THAT(WriteRefusal(readonly + "/new/b.txt"), HasSubstr("read-only"));
  EXPECT_FALSE(fs::exists(readonly + "/new"));
  EXPECT_EQ(ReadFile(readonly + "/a.txt"), "text");
}

TEST_F(PathRefusals, RefusalOfALinkNamesWhatTheAgentAskedFor) {
  MakeDirectory("root");
  MakeFile("outside/secret.txt", "secret");
  MakeLink("root/link", Path("outside/secret.txt"));
  Mount({{Path("root").string(), "", true}});
  EXPECT_THAT(ReadRefusal(Path("root/link")),
              AllOf(HasSubstr(Path("root/link").string()),
                    HasSubstr(Path("root").string() + " (writable)")));
}

TEST_F(PathRefusals, InstanceWithoutMountsRefusesAndSaysSo) {
  Mount({});
  EXPECT_THAT(ReadRefusal("/etc/passwd"), HasSubstr("/etc/passwd"));
  EXPECT_THAT(Refusal("list_directory", {{"path", "/"}}), HasSubstr("may be used: none"));
}

}  // namespace
}  // namespace integration

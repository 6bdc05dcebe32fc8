// Path rules: only regular files are read or written, and what is none gets an error
// at once.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::FileDescriptor;
using testing_support::TextOf;

/// Far below every deadline of the program, and far above what an answer takes on a busy machine.
constexpr std::chrono::seconds kAtOnce{10};

class SpecialFiles : public IntegrationTest {
 protected:
  void MountRoot(const std::vector<std::string>& options = {}) {
    MakeDirectory("root");
    Mount({{root, "", true}}, options);
  }

  void MakeFifo(const std::string& name) {
    if (::mkfifo(Path(name).c_str(), 0600) != 0)
      throw std::system_error(errno, std::generic_category(), "mkfifo");
  }

  FileDescriptor MakeSocket(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = Path(name);
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    if (!socket.valid() ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::system_error(errno, std::generic_category(), "bind " + path);
    return socket;
  }

  std::string RefusalAtOnce(const std::string& tool, const nlohmann::json& arguments) {
    const nlohmann::json result = client().CallTool(tool, arguments, kAtOnce);
    EXPECT_TRUE(result.value("isError", false)) << tool << ": " << result.dump();
    return TextOf(result);
  }

  void ExpectRefusedByFileTools(const std::string& path, const std::string& kind) {
    EXPECT_THAT(RefusalAtOnce("read_file", {{"path", path}}), HasSubstr(kind));
    EXPECT_THAT(RefusalAtOnce("write_file", {{"path", path}, {"content", "x"}}), HasSubstr(kind));
  }

  const std::string root = Path("root").string();
};

TEST_F(SpecialFiles, DirectoryIsNeitherReadNorWritten) {
  MountRoot();
  MakeFile("root/directory/a.txt", "");
  ExpectRefusedByFileTools(root + "/directory", "directory");
  ExpectRefusedByFileTools(root, "directory");
  EXPECT_THAT(List(root + "/directory"), ElementsAre("a.txt"));
}

TEST_F(SpecialFiles, FifoIsRefusedAtOnce) {
  MountRoot();
  MakeFifo("root/fifo");
  ExpectRefusedByFileTools(root + "/fifo", "FIFO");
  EXPECT_TRUE(fs::is_fifo(Path("root/fifo")));
}

TEST_F(SpecialFiles, LinkToAFifoIsRefusedAtOnce) {
  MountRoot();
  MakeFifo("root/fifo");
  MakeLink("root/link", "fifo");
  ExpectRefusedByFileTools(root + "/link", "FIFO");
}

TEST_F(SpecialFiles, SocketIsRefusedAtOnce) {
  MountRoot();
  const FileDescriptor socket = MakeSocket("root/socket");
  ExpectRefusedByFileTools(root + "/socket", "socket");
  EXPECT_TRUE(fs::is_socket(Path("root/socket")));
}

TEST_F(SpecialFiles, EndlessDeviceIsRefusedAtOnce) {
  MountRoot({"--allow-path", "/dev:w"});
  ExpectRefusedByFileTools("/dev/zero", "device");
  ExpectRefusedByFileTools("/dev/null", "device");
}

TEST_F(SpecialFiles, LinkToADeviceOutsideIsRefused) {
  MountRoot();
  MakeLink("root/zero", "/dev/zero");
  RefusalAtOnce("read_file", {{"path", root + "/zero"}});
  RefusalAtOnce("write_file", {{"path", root + "/zero"}, {"content", "x"}});
}

TEST_F(SpecialFiles, FileIsNoDirectory) {
  MountRoot();
  MakeFile("root/a.txt", "text");
  RefusalAtOnce("list_directory", {{"path", root + "/a.txt"}});
  RefusalAtOnce("read_file", {{"path", root + "/a.txt/below"}});
  RefusalAtOnce("write_file", {{"path", root + "/a.txt/below"}, {"content", "x"}});
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "text");
}

TEST_F(SpecialFiles, FifoInATreeDoesNotHoldUpGlobAndSearch) {
  MountRoot();
  MakeFifo("root/fifo");
  MakeFile("root/a.txt", "needle\n");
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", root}}), ElementsAre(root + "/a.txt"));
  EXPECT_EQ(Call("search_file_content", {{"pattern", "needle"}, {"path", root}})
                .value("git_grep_output", ""),
            "a.txt:1:needle\n");
  EXPECT_THAT(List(root), ElementsAre("a.txt", "fifo"));
}

}  // namespace
}  // namespace integration

#include "files/file_problem.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/errors.h"

namespace files {
namespace {

std::string Refusal(guest::FileType type) {
  paths::ResolvedPath path;
  path.host = "/host/a";
  path.attributes = guest::FileAttributes{.type = type};
  try {
    RequireRegularFile(path);
    return "";
  } catch (const support::CallError& error) {
    return error.what();
  }
}

TEST(RequireRegularFile, SaysOfEachOtherTypeWhatItIs) {
  using guest::FileType;
  EXPECT_EQ(Refusal(FileType::kRegular), "");
  EXPECT_EQ(Refusal(FileType::kCharacterDevice),
            "/host/a is a character device, not a regular file");
  std::set<std::string> texts;
  for (const FileType type :
       {FileType::kDirectory, FileType::kSymlink, FileType::kFifo, FileType::kSocket,
        FileType::kCharacterDevice, FileType::kBlockDevice, FileType::kUnknown}) {
    texts.insert(Refusal(type));
  }
  EXPECT_EQ(texts.size(), 7U);
}

}  // namespace
}  // namespace files

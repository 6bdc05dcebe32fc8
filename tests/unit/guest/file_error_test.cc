#include "guest/file_error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace guest {
namespace {

TEST(FileError, NamesTheOperationThePathAndWhatWentWrong) {
  const FileError error(FileErrorCode::kNotFound, "stat", "/a/b", "");
  EXPECT_STREQ(error.what(), "stat /a/b: no such file or directory");
  EXPECT_EQ(error.code(), FileErrorCode::kNotFound);
  EXPECT_EQ(error.detail(), "");
}

TEST(FileError, RepeatsTheGuestsOwnWords) {
  const FileError error(FileErrorCode::kFailure, "write", "/a", "quota exceeded");
  EXPECT_STREQ(error.what(), "write /a: failure (quota exceeded)");
  EXPECT_EQ(error.detail(), "quota exceeded");
}

TEST(FileError, EachCodeHasATextOfItsOwn) {
  std::set<std::string> texts;
  for (const FileErrorCode code :
       {FileErrorCode::kNotFound, FileErrorCode::kPermissionDenied, FileErrorCode::kAlreadyExists,
        FileErrorCode::kUnsupported, FileErrorCode::kFailure}) {
    texts.insert(FileError(code, "open", "/a", "").what());
  }
  EXPECT_EQ(texts.size(), 5U);
}

}  // namespace
}  // namespace guest

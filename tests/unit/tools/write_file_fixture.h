#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/write_file.h"
#include "unit/tools/file_tool_fixture.h"

namespace tools {

/// Writes files, with the umask that most have.
class WriteFile : public FileToolTest<WriteFileTool> {
 protected:
  WriteFile() : umask_(umask(022)) {}
  ~WriteFile() override { umask(umask_); }

  void Write(const std::string& path, const std::string& content) {
    const mcp::ToolResult result = Call({{"path", path}, {"content", content}});
    EXPECT_EQ(result.structured, nlohmann::json::object());
    EXPECT_TRUE(result.more_content.empty()) << result.more_content.front();
  }
  std::string WriteError(const std::string& path, const std::string& content = "new") {
    return Error({{"path", path}, {"content", content}});
  }
  void FailAt(testing_support::Operation where, guest::FileErrorCode code) {
    guest->set_hook([where, code](testing_support::Operation operation, const std::string& path) {
      if (operation == where) throw guest::FileError(code, "fail", path, "");
    });
  }
  [[nodiscard]] ino_t Inode(const std::string& name) const { return Status(work / name).st_ino; }
  [[nodiscard]] mode_t Mode(const std::string& name) const {
    return Status(work / name).st_mode & 07777U;
  }

 private:
  mode_t umask_;
};

}  // namespace tools

#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "files/file_writer.h"
#include "unit/tools/tool_fixture.h"

namespace tools {

/// Calls one file tool: the host's /host/work is a writable directory, /host/library a read-only
/// one.
class FileToolTest : public ToolTest<testing_support::LocalGuest> {
 protected:
  explicit FileToolTest(std::string tool) : tool_(std::move(tool)) {
    std::filesystem::create_directory(work);
    std::filesystem::create_directory(library);
    files = work;
    paths::PathRules::Options options;
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = work.string(), .writable = true},
                     {.host = "/host/library", .guest = library.string(), .writable = false}};
    options.working_directory = "/host/work";
    UseRules(options);
  }

  mcp::ToolResult Call(const nlohmann::json& arguments) { return ToolTest::Call(tool_, arguments); }
  std::string Error(const nlohmann::json& arguments) { return ToolTest::Error(tool_, arguments); }

  /// The directories take no new file, so that existing ones are written in place.
  void RefuseNewFiles(const testing_support::LocalGuest::Hook& hook = {}) const {
    guest->set_hook([hook](guest::Operation operation, const std::string& path) {
      if (operation == guest::Operation::kOpen &&
          path.find(files::kTemporaryPrefix) != std::string::npos) {
        throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "open", path, "");
      }
      if (hook) hook(operation, path);
    });
  }

  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(work)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  [[nodiscard]] static struct stat Status(const std::filesystem::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status;
  }

  const std::filesystem::path work = top / "work";
  const std::filesystem::path library = top / "library";

 private:
  const std::string tool_;
};

}  // namespace tools

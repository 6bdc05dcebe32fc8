#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files/file_writer.h"
#include "mcp/tool.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/silent_progress.h"
#include "testing/temporary_directory.h"
#include "tools/workspace.h"
#include "unit/tools/tool_named.h"

namespace tools {

/// Calls one file tool over this machine's files: the host's /host/work is a writable directory,
/// /host/library a read-only one.
class FileToolTest : public ::testing::Test, private WorkspaceSource {
 protected:
  explicit FileToolTest(const std::string& tool)
      : tool_(ToolNamed(tool, static_cast<WorkspaceSource&>(*this))) {
    std::filesystem::create_directory(work);
    std::filesystem::create_directory(library);
    paths::PathRules::Options options;
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = work.string(), .writable = true},
                     {.host = "/host/library", .guest = library.string(), .writable = false}};
    workspace_.guest = guest;
    workspace_.paths = std::make_shared<const paths::PathRules>(options);
  }

  mcp::ToolResult Call(const nlohmann::json& arguments) {
    return tool_->Call(
        {.arguments = arguments, .context = context, .progress = progress_, .format = format});
  }

  /// The text of the error that the call must end with.
  std::string Error(const nlohmann::json& arguments) {
    try {
      ADD_FAILURE() << "no error but " << Structured(Call(arguments));
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  /// The round trips of a call, once the roots are known.
  std::string RoundTrips(const nlohmann::json& arguments) {
    (void)workspace_.paths->Resolve("/host/work", paths::Access::kRead, *guest, {});
    guest->ResetCounts();
    (void)Call(arguments);
    return guest->counts();
  }

  void Put(const std::string& name, const std::string& bytes) const {
    std::ofstream file(work / name, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush()) << name;
  }

  [[nodiscard]] std::string Get(const std::string& name) const {
    std::ifstream file(work / name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  /// The directories take no new file, so that existing ones are written in place.
  void RefuseNewFiles(const testing_support::LocalGuest::Hook& hook = {}) const {
    guest->set_hook([hook](testing_support::Operation operation, const std::string& path) {
      if (operation == testing_support::Operation::kOpen &&
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

  testing_support::TemporaryDirectory top;
  const std::filesystem::path work = top.path() / "work";
  const std::filesystem::path library = top.path() / "library";
  const std::shared_ptr<testing_support::LocalGuest> guest =
      std::make_shared<testing_support::LocalGuest>();
  support::Context context;
  mcp::ResultFormat format;

 private:
  Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override { return workspace_; }

  testing_support::SilentProgress progress_;
  Workspace workspace_;
  std::unique_ptr<mcp::Tool> tool_;
};

}  // namespace tools

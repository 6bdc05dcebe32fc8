#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/errors.h"
#include "testing/files.h"
#include "testing/local_guest.h"
#include "testing/recorded_progress.h"
#include "testing/temporary_directory.h"
#include "tools/tool_list.h"
#include "tools/workspace.h"
#include "unit/tools/tool_named.h"

namespace tools {

/// Calls tools over this machine's files.
template <typename Guest>
class ToolTest : public ::testing::Test, private WorkspaceSource {
 protected:
  void UseRules(const paths::PathRules::Options& options) {
    workspace_ = {guest, std::make_shared<const paths::PathRules>(options), "/bin/sh"};
  }

  mcp::ToolResult Call(const std::string& tool, const nlohmann::json& arguments) {
    for (const mcp::Tool& candidate : tools_) {
      if (candidate.definition.name == tool) {
        return candidate.call({arguments, context, progress_, format});
      }
    }
    throw std::out_of_range(tool);
  }

  /// The text of the error that the call must end with.
  std::string Error(const std::string& tool, const nlohmann::json& arguments) {
    try {
      ADD_FAILURE() << tool << " did not fail: " << Structured(Call(tool, arguments));
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  /// The round trips of a call, once the roots are known.
  std::string RoundTrips(const std::string& tool, const nlohmann::json& arguments) {
    (void)workspace_.paths->Resolve(workspace_.paths->DefaultDirectory(), paths::Access::kRead,
                                    *guest, {});
    guest->ResetCounts();
    (void)Call(tool, arguments);
    return guest->counts();
  }

  /// Calls `action` before every such operation of the guest.
  void At(guest::Operation where,
          const std::function<void(const std::string& path)>& action) const {
    guest->set_hook([=](guest::Operation operation, const std::string& path) {
      if (operation == where) action(path);
    });
  }
  void FailAt(guest::Operation where, guest::FileErrorCode code) const {
    At(where, [code](const std::string& path) { throw guest::FileError(code, "fail", path, ""); });
  }

  void Put(const std::string& name, const std::string& bytes) const {
    std::ofstream file(files / name, std::ios::binary);
    file << bytes;
    ASSERT_TRUE(file.flush()) << name;
  }

  [[nodiscard]] std::string Get(const std::string& name) const {
    return testing_support::ReadFile(files / name);
  }

  testing_support::TemporaryDirectory directory_;
  const std::filesystem::path top = directory_.path();
  std::filesystem::path files = top;  ///< where Put and Get work
  const std::shared_ptr<Guest> guest = std::make_shared<Guest>();
  support::Context context;
  mcp::ResultFormat format;

 private:
  Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override { return workspace_; }

  testing_support::RecordedProgress progress_;
  Workspace workspace_;
  const std::vector<mcp::Tool> tools_ = MakeTools(*this, {});
};

}  // namespace tools

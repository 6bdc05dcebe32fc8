// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
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

namespace tools {

/// The structured content of a result.
inline nlohmann::json Structured(const mcp::ToolResult& result) {
  EXPECT_EQ(result.style, mcp::ResultStyle::kStructured);
  return nlohmann::json::parse(result.content);
}

/// The text of a result that has no structured content.
inline std::string TextOf(const mcp::ToolResult& result) {
  EXPECT_EQ(result.style, mcp::ResultStyle::kText);
  return result.content;
}

/// Calls tools over this machine's files. The only root is the directory `work`, on the host /work.
class ToolTest : public ::testing::Test, protected WorkspaceSource {
 protected:
  explicit ToolTest(const ToolOptions& options = {}) : tools_(MakeTools(*this, options)) {
    std::filesystem::create_directory(work);
    rules.instance = "default";
    rules.roots = {{.host = "/work", .guest = work.string(), .writable = true}};
    UseRules();
  }

  /// Makes the workspace use `rules`.
  void UseRules() {
    workspace_ = {guest, std::make_shared<const paths::PathRules>(rules), "/bin/sh"};
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
    } catch (const support::Error& error) {
      return error.what();
    }
  }

  /// Calls `action` before every such operation of the guest.
  void At(guest::Operation where,
          const std::function<void(const std::string& path)>& action) const {
    guest->set_hook([=](guest::Operation operation, const std::string& path) {
      if (operation == where) action(path);
    });
  }

  void Put(const std::string& name, const std::string& bytes) const {
    testing_support::WriteFile(work / name, bytes);
  }

  Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override { return workspace_; }

  testing_support::TemporaryDirectory directory_;
  const std::filesystem::path work = directory_.path() / "work";
  const std::shared_ptr<testing_support::LocalGuest> guest =
      std::make_shared<testing_support::LocalGuest>();
  paths::PathRules::Options rules;
  support::Context context;
  mcp::ResultFormat format;

 private:
  testing_support::RecordedProgress progress_;
  Workspace workspace_;
  const std::vector<mcp::Tool> tools_;
};

}  // namespace tools

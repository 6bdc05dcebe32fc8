#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/tool.h"
#include "support/errors.h"
#include "testing/recorded_progress.h"
#include "tools/workspace.h"
#include "unit/find/search_fixture.h"
#include "unit/tools/tool_named.h"

namespace tools {

/// The tree of SearchFixture as the mount "/Users/me/project", and a tool called over it.
class SearchToolFixture : public find::SearchFixture, public WorkspaceSource {
 protected:
  static constexpr const char* kHost = "/Users/me/project";

  SearchToolFixture() {
    paths::PathRules::Options options;
    options.roots = {{kHost, Path("").string(), false, {}}};
    options.instance = "default";
    paths_ = std::make_shared<const paths::PathRules>(std::move(options));
  }

  Workspace Acquire(const support::Context& /*context*/,
                    mcp::ProgressReporter& /*progress*/) override {
    // The fixture owns the guest and outlives the call.
    return {std::shared_ptr<guest::Guest>(std::shared_ptr<void>(), &guest_), paths_, "/bin/sh"};
  }

  mcp::ToolResult Call(const mcp::Tool& tool, const nlohmann::json& arguments) {
    return tool.call({arguments, context_, progress_, format_});
  }

  std::string ErrorOf(const mcp::Tool& tool, const nlohmann::json& arguments) {
    try {
      return "no error: " + Structured(Call(tool, arguments)).dump();
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  [[nodiscard]] static std::string Host(const std::string& relative) {
    return std::string(kHost) + "/" + relative;
  }

  std::shared_ptr<const paths::PathRules> paths_;
  testing_support::RecordedProgress progress_;
  mcp::ResultFormat format_;
};

}  // namespace tools

// SPDX-License-Identifier: Apache-2.0
// A guest that answers anything: the agent gets JSON, bounded by what the guest has sent.

#include <array>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "mcp/outcome.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/utf8.h"
#include "testing/local_guest.h"
#include "testing/recorded_progress.h"
#include "tools/tool_list.h"
#include "tools/workspace.h"

namespace {

using guest::FileErrorCode;
using guest::FileType;

/// An answer contains the guest's text twice, escaped, and the host's path.
constexpr std::size_t kMaxGrowth = 64;
constexpr std::size_t kMaxBesides = std::size_t{64} * 1024;

/// Throws now and then.
void MayFail(fuzz::Input& input, const std::string& path) {
  switch (input.Byte()) {
    case 250:
      throw guest::FileError(FileErrorCode::kNotFound, "open", path, std::string(input.Piece()));
    case 251:
      throw guest::FileError(FileErrorCode::kPermissionDenied, "open", path,
                             std::string(input.Piece()));
    case 252:
      throw guest::FileError(FileErrorCode::kFailure, "open", path, std::string(input.Piece()));
    case 253:
      throw guest::FileError(FileErrorCode::kUnsupported, "open", path, "");
    case 254:
      throw support::ConnectionLost("the line broke", input.Flag());
    default:
      break;
  }
}

guest::FileAttributes Attributes(fuzz::Input& input) {
  guest::FileAttributes attributes;
  constexpr std::array kTypes = {FileType::kRegular, FileType::kDirectory, FileType::kSymlink,
                                 FileType::kFifo, FileType::kUnknown};
  const std::uint8_t choice = input.Byte();
  attributes.type = choice < 200 ? kTypes.at(choice & 1U) : kTypes.at(choice % kTypes.size());
  attributes.permissions = input.Byte();
  attributes.size = input.Flag() ? input.Byte() : input.Number();
  attributes.modified = static_cast<std::int64_t>(input.Number());
  return attributes;
}

/// Mostly honest about RealPath: otherwise the path rules would let nothing through.
guest::Reply Reply(fuzz::Input& input, const guest::Request& request) {
  using guest::Operation;
  if (request.operation == Operation::kReadDirectory) {
    std::vector<guest::DirectoryEntry> entries;
    for (std::size_t i = input.Below(16); i > 0; --i) {
      entries.push_back({std::string(input.Piece()), Attributes(input)});
    }
    return {std::move(entries), {}};
  }
  MayFail(input, request.path);
  switch (request.operation) {
    case Operation::kLStat:
    case Operation::kStatOpen:
      return {Attributes(input), {}};
    case Operation::kRealPath:
      return {input.Byte() < 230 ? request.path : std::string(input.Piece()), {}};
    case Operation::kReadLink:
      return {std::string(input.Piece()), {}};
    case Operation::kRead:
      return {std::string(input.Piece().substr(0, request.length)), {}};
    case Operation::kStatFileSystem:
      return {guest::FileSystemStatus{.free_bytes = input.Number(), .read_only = input.Flag()}, {}};
    default:
      return {};
  }
}

shell::RunEnd Print(fuzz::Input& input, const std::string& text, shell::OutputSink& sink) {
  MayFail(input, text);
  bool more = true;
  for (std::size_t pieces = input.Below(8); pieces > 0 && more; --pieces) {
    const auto stream = input.Flag() ? shell::Stream::kError : shell::Stream::kOutput;
    more = sink.OnOutput(stream, input.Piece());
  }
  shell::RunEnd result;
  if (input.Flag()) result.exit_status = input.Byte();
  if (input.Flag()) result.exit_signal = std::string(input.Piece());
  return result;
}

class Source final : public tools::WorkspaceSource {
 public:
  explicit Source(fuzz::Input& input) : guest_(std::make_shared<testing_support::LocalGuest>()) {
    guest_->set_reply(
        [&](const guest::Request& request, const auto&) { return Reply(input, request); });
    guest_->set_run([&](const shell::Script& script, shell::OutputSink& sink, const auto&) {
      return Print(input, script.text, sink);
    });
    workspace_.guest = guest_;
    paths::PathRules::Options options;
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = "/mnt/w", .writable = true}};
    workspace_.paths = std::make_shared<const paths::PathRules>(options);
    workspace_.shell = "/bin/bash";
  }
  tools::Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override {
    return workspace_;
  }
  [[nodiscard]] std::size_t open_handles() const { return guest_->open_handles(); }

 private:
  std::shared_ptr<testing_support::LocalGuest> guest_;
  tools::Workspace workspace_;
};

nlohmann::json ArgumentsOf(const std::string& tool) {
  if (tool == "glob") return {{"pattern", "**/*"}, {"path", "/host/work"}};
  if (tool == "list_directory") return {{"path", "/host/work"}};
  if (tool == "read_file") return {{"path", "/host/work/file"}};
  if (tool == "replace") {
    return {{"path", "/host/work/file"}, {"old_string", "a"}, {"new_string", "b"}};
  }
  if (tool == "read_process") return nlohmann::json::object();
  if (tool == "write_process") return {{"id", "p1"}, {"signal", "TERM"}};
  if (tool == "run_shell_command" || tool == "start_process") {
    return {{"command", {"true"}}, {"directory", "/host/work"}};
  }
  if (tool == "search_file_content") return {{"pattern", "a"}, {"path", "/host/work"}};
  return {{"path", "/host/work/file"}, {"content", "text"}};
}

void Check(const mcp::Outcome& outcome, std::size_t sent) {
  fuzz::Require(outcome.response.starts_with("\"result\":"),
                "a call ends with a result or a failure, never with an internal error");
  const std::string text = "{" + outcome.response + "}";
  fuzz::Require(support::IsValidUtf8(text), "an answer is UTF-8");
  fuzz::Require(text.find('\n') == std::string::npos, "an answer is one line");
  fuzz::Require(nlohmann::json::accept(text), "an answer is JSON");
  fuzz::Require(text.size() <= kMaxGrowth * sent + kMaxBesides, "an answer is bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  tools::ToolOptions options;
  const std::size_t choice = input.Byte();
  Source source(input);
  const auto all = tools::MakeTools(source, options);
  const mcp::Tool& tool = all.at(choice % all.size());
  testing_support::RecordedProgress progress;
  const nlohmann::json arguments = ArgumentsOf(tool.definition.name);
  support::StopSource stop;
  const auto run = [&]() -> mcp::Outcome {
    try {
      return mcp::OutcomeOf(tool.call({arguments, stop.context(), progress}), mcp::Era::kLegacy,
                            {});
    } catch (...) {
      return mcp::OutcomeOf(std::current_exception(), mcp::Era::kLegacy, {});
    }
  };
  Check(run(), size);
  fuzz::Require(source.open_handles() == 0, "what a call opens it closes");
  return 0;
}

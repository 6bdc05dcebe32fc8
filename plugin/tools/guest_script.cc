#include "tools/guest_script.h"

#include <algorithm>
#include <string_view>

#include "support/errors.h"
#include "tools/mark.h"

namespace tools {
namespace {

/// What is kept of the output of a shell that never came to the script, for the error text.
constexpr std::size_t kMaximumPreamble = 1024;

/// The shell reads all of the braces before it runs any of it, so that nothing of the script is
/// left on standard input, which then only tells when the client is gone.
std::string Wrap(const std::string& script, const std::string& mark) {
  const std::string print_mark = "printf '%s\\n' " + mark.substr(0, mark.size() - 1);
  return "{ exec 3<&0 </dev/null\n"
         "(cat <&3 && kill -TERM -$$) >/dev/null 2>&1 &\n"
         "limactl_mcp_watcher=$!\n"
         "trap 'kill \"$limactl_mcp_watcher\" 2>/dev/null' EXIT\n"
         "exec 3<&-\n" +
         print_mark + "\n" + print_mark + " >&2\n" + script + "\nexit\n}\n";
}

/// Passes on what comes after the mark.
class AfterMark {
 public:
  explicit AfterMark(std::string_view mark) : mark_(mark) {}

  /// The part of `bytes` that is the script's.
  std::string_view Take(std::string_view bytes) {
    if (seen_) return bytes;
    // The mark may be cut by the border of two pieces.
    const std::size_t old_size = tail_.size();
    tail_ += bytes.substr(0, mark_.size() - 1);
    if (const auto at = tail_.find(mark_); at != std::string::npos) {
      return Found(bytes, at + mark_.size() - old_size);
    }
    if (const auto at = bytes.find(mark_); at != std::string_view::npos) {
      return Found(bytes, at + mark_.size());
    }
    preamble_ += bytes.substr(0, kMaximumPreamble - std::min(kMaximumPreamble, preamble_.size()));
    tail_ = bytes.size() >= mark_.size()
                ? std::string(bytes.substr(bytes.size() - mark_.size() + 1))
                : tail_.substr(tail_.size() - std::min(tail_.size(), mark_.size() - 1));
    return {};
  }

  [[nodiscard]] bool seen() const { return seen_; }
  [[nodiscard]] const std::string& preamble() const { return preamble_; }

 private:
  std::string_view Found(std::string_view bytes, std::size_t end) {
    seen_ = true;
    return bytes.substr(end);
  }

  std::string_view mark_;
  std::string tail_;
  std::string preamble_;
  bool seen_ = false;
};

class ScriptSink : public guest::OutputSink {
 public:
  ScriptSink(std::string_view mark, guest::OutputSink& sink)
      : standard_output_(mark), standard_error_(mark), sink_(sink) {}

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    AfterMark& filter =
        stream == guest::OutputStream::kStandardOutput ? standard_output_ : standard_error_;
    const std::string_view own = filter.Take(bytes);
    return own.empty() || sink_.OnOutput(stream, own);
  }

  [[nodiscard]] bool script_began() const { return standard_output_.seen(); }
  [[nodiscard]] const std::string& preamble() const { return standard_error_.preamble(); }

 private:
  AfterMark standard_output_;
  AfterMark standard_error_;
  guest::OutputSink& sink_;
};

}  // namespace

std::optional<int> RunScript(guest::Guest& guest, const std::string& script,
                             guest::OutputSink& sink, const support::Context& context) {
  const std::string mark = MakeMark() + '\n';  // printed as a line
  guest::Command command;
  command.command_line = "exec /bin/sh";
  command.standard_input = Wrap(script, mark);
  command.hold_standard_input_open = true;
  command.changes_nothing = true;
  command.may_be_started_ahead = true;
  ScriptSink script_sink(mark, sink);
  const guest::CommandResult result = guest.Run(command, script_sink, context);
  if (result.exit_signal) {
    throw support::CallError("What this server ran in the guest was ended by signal " +
                             *result.exit_signal + ": call again.");
  }
  if (result.exit_status && !script_sink.script_began()) {
    throw support::CallError("The guest user's login shell could not run /bin/sh (exit status " +
                             std::to_string(*result.exit_status) + "): " + script_sink.preamble());
  }
  return result.exit_status;
}

}  // namespace tools

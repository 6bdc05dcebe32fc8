#include "paths/script_answer.h"

#include <string_view>
#include <utility>

namespace paths {
namespace {

class AnswerSink final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream == shell::Stream::kOutput) answer += bytes;
    return answer.size() <= kMaximumAnswer;
  }

  std::string answer;
};

}  // namespace

ScriptAnswer AskScript(guest::Guest& guest, const std::string& script,
                       const support::Context& context) {
  AnswerSink sink;
  const std::optional<int> status = guest.RunScript(script, sink, context).exit_status;
  return {std::move(sink.answer), status};
}

}  // namespace paths

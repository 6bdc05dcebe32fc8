#include "connection/script_answer.h"

#include <string_view>
#include <utility>

#include "tools/guest_script.h"

namespace connection {
namespace {

class AnswerSink final : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    if (stream == guest::OutputStream::kStandardOutput) answer += bytes;
    return answer.size() <= kMaximumAnswer;
  }

  std::string answer;
};

}  // namespace

ScriptAnswer AskScript(guest::Guest& guest, const std::string& script,
                       const support::Context& context) {
  AnswerSink sink;
  const std::optional<int> status = tools::RunScript(guest, script, sink, context);
  return {std::move(sink.answer), status};
}

}  // namespace connection

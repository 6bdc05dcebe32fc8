#include "files/direct_read.h"

#include <optional>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace files {
namespace {

/// Checks that the opened file has the expected path, as a link may have replaced the file. `dd`
/// reopens it through its descriptor, as `iflag` requires. The dot preserves newlines at the end of
/// the name.
std::string Script(const std::string& path) {
  const std::string dd = "dd if=/proc/self/fd/0 2>/dev/null iflag=";
  return "exec <" + shell::ShellQuote(path) +
         "\n[ \"$(readlink -n /proc/self/fd/0; printf .)\" = " + shell::ShellQuote(path + ".") +
         " ] || exit 1\n" + dd + "nocache count=0 && " + dd + "direct bs=1048576";
}

class Sink final : public shell::OutputSink {
 public:
  explicit Sink(const TakeBytes& take) : take_(take) {}

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream != shell::Stream::kOutput || bytes.empty()) return true;
    has_bytes = true;
    wants_more = take_(bytes);
    return wants_more;
  }

  bool has_bytes = false;
  bool wants_more = true;

 private:
  const TakeBytes& take_;
};

}  // namespace

bool ReadDirectly(const std::string& path, const TakeBytes& take, guest::Guest& guest,
                  const support::Context& context) {
  Sink sink(take);
  const std::optional<int> status = guest.RunScript(Script(path), sink, context).exit_status;
  if (!sink.wants_more || status == 0) return true;
  if (!sink.has_bytes) return false;
  throw support::CallError(
      "the guest read the beginning of the file past its cache, but not the rest: the file may "
      "have "
      "been removed on the host; try again");
}

}  // namespace files

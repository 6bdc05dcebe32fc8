// What the guest sends while a command runs: its header, its output and the words that end it, cut
// into pieces anywhere.

#include "tools/command_output.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "connection/mount_table.h"
#include "fuzz/input.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace {

constexpr const char* kMark = "0123456789abcdef";
constexpr std::size_t kMaximum = 1024;

/// The line that says how much was left out, and a character that took three bytes of one.
constexpr std::size_t kLongestText = 3 * kMaximum + 256;

struct Seen {
  std::string standard_output;
  std::string standard_error;
  std::optional<long> process_group;

  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Each line of `bytes` belongs to one of the streams.
Seen Run(std::string_view bytes, std::size_t piece) {
  tools::CommandOutput output(kMark, kMaximum);
  bool more = true;
  while (!bytes.empty() && more) {
    const std::size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
    bytes.remove_prefix(line.size());
    const auto stream = (line.front() & 1) != 0 ? guest::OutputStream::kStandardError
                                                : guest::OutputStream::kStandardOutput;
    line.remove_prefix(1);
    while (!line.empty() && more) {
      more = output.OnOutput(stream, line.substr(0, piece));
      line.remove_prefix(std::min(piece, line.size()));
    }
    const std::string progress = output.Describe();
    fuzz::Require(support::IsValidUtf8(progress), "progress is UTF-8");
    fuzz::Require(support::Printable(progress) == progress, "progress is printable");
  }
  output.Finish();
  return {output.StandardOutput(), output.StandardError(), output.process_group()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.Byte();
  const std::string_view bytes = input.Rest();
  const Seen seen = Run(bytes, piece);
  fuzz::Require(seen == Run(bytes, bytes.size() + 1), "pieces make no difference");
  for (const std::string* text : {&seen.standard_output, &seen.standard_error}) {
    fuzz::Require(support::IsValidUtf8(*text), "output is UTF-8");
    fuzz::Require(text->size() <= kLongestText, "output is capped");
  }
  const auto table = connection::MountTable::Parse(bytes);
  for (const char* path : {"/", "/mnt/a", "/home/user"}) {
    const connection::MountLine* line = table.At(path);
    if (line != nullptr) static_cast<void>(connection::HasStaleCache(*line));
  }
  return 0;
}

#include "files/direct_read.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "shell/shell_quote.h"
#include "support/errors.h"

namespace files {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;
static_assert(kDirectReadWindow % kBlock == 0);

/// Prints what tells the file from others, a line, and then its content.
///
/// - What was opened must have the path that was checked: a link may have been put there since.
///   `dd` opens that once more, whatever the path names by then, as it must for `iflag`. The dot
///   keeps line ends at the end of a name.
/// - No `count`: a short read in between must not end the output. The sink ends it.
std::string Script(const std::string& path, std::uint64_t skipped_blocks) {
  const std::string input = "dd if=/proc/self/fd/0 iflag=";
  return "exec <" + shell::ShellQuote(path) +
         "\n[ \"$(readlink -n /proc/self/fd/0; printf .)\" = " + shell::ShellQuote(path + ".") +
         " ] || exit 1\nstat -L -c %d:%i /proc/self/fd/0 && " + input +
         "nocache count=0 2>/dev/null && " + input + "direct bs=" + std::to_string(kBlock) +
         " skip=" + std::to_string(skipped_blocks) + " 2>/dev/null";
}

class WindowSink final : public shell::OutputSink {
 public:
  explicit WindowSink(std::uint64_t skipped) : skipped_(skipped) {}

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    if (stream != shell::Stream::kOutput) return true;
    if (!identity_ended) TakeIdentity(bytes);
    const auto skipped = static_cast<std::size_t>(std::min<std::uint64_t>(skipped_, bytes.size()));
    bytes.remove_prefix(skipped);
    skipped_ -= skipped;
    window += bytes.substr(0, kDirectReadWindow - window.size());
    return window.size() < kDirectReadWindow;
  }

  std::string identity;
  bool identity_ended = false;
  std::string window;

 private:
  void TakeIdentity(std::string_view& bytes) {
    constexpr std::size_t kMost = 64;  // two numbers
    const std::string_view piece = bytes.substr(0, bytes.find('\n'));
    identity += piece.substr(0, kMost - identity.size());
    identity_ended = piece.size() < bytes.size();
    bytes.remove_prefix(std::min(piece.size() + 1, bytes.size()));
  }

  std::uint64_t skipped_;
};

struct Window {
  std::string identity;  ///< of the file
  std::string bytes;
};

/// Nothing when the guest cannot.
std::optional<Window> ReadWindow(const std::string& path, std::uint64_t begin,
                                 std::uint64_t remembered_size, guest::Guest& guest,
                                 const support::Context& context) {
  // dd itself skips only within the size that the guest remembers.
  const std::uint64_t blocks = std::min(begin, remembered_size) / kBlock;
  WindowSink sink(begin - blocks * kBlock);
  const std::optional<int> status =
      guest.RunScript(Script(path, blocks), sink, context).exit_status;
  const bool is_full = sink.window.size() == kDirectReadWindow;
  // Without a status, and not because the window is full, it may have been cut.
  if (status ? *status != 0 : !is_full) return std::nullopt;
  if (!sink.identity_ended) return std::nullopt;
  return Window{std::move(sink.identity), std::move(sink.window)};
}

}  // namespace

DirectFile::DirectFile(std::string path, std::uint64_t remembered_size, guest::Guest& guest)
    : path_(std::move(path)), remembered_size_(remembered_size), guest_(guest) {}

std::unique_ptr<DirectFile> DirectFile::Open(const std::string& path, std::uint64_t remembered_size,
                                             guest::Guest& guest, const support::Context& context) {
  auto window = ReadWindow(path, 0, remembered_size, guest, context);
  if (!window) return nullptr;
  std::unique_ptr<DirectFile> file(new DirectFile(path, remembered_size, guest));
  file->identity_ = std::move(window->identity);
  file->Keep(std::move(window->bytes), 0);
  return file;
}

void DirectFile::Keep(std::string window, std::uint64_t begin) {
  window_begin_ = begin;
  window_ = std::move(window);
  at_end_ = window_.size() < kDirectReadWindow;
  left_out_ = 0;
  if (window_.empty() || begin + window_.size() != remembered_size_) return;
  // Only up to the remembered size does the guest make up what is missing.
  const std::size_t last = window_.find_last_not_of('\0');
  const std::size_t kept = last == std::string::npos ? 0 : last + 1;
  left_out_ = window_.size() - kept;
  if (left_out_ == 0) return;
  window_.resize(kept);
  at_end_ = true;
}

std::string_view DirectFile::Part(std::uint64_t position, const support::Context& context) {
  const std::uint64_t begin = position - position % kDirectReadWindow;
  if (begin != window_begin_) {
    if (begin > window_begin_ && at_end_) return {};
    auto window = ReadWindow(path_, begin, remembered_size_, guest_, context);
    if (!window) {
      throw support::CallError(
          "the guest could read the beginning of the file past its cache, but not the rest: it may "
          "have been removed on the host meanwhile; try again");
    }
    if (window->identity != identity_) {
      throw support::CallError(
          "the file was replaced by another one while it was being read; try again");
    }
    Keep(std::move(window->bytes), begin);
  }
  const auto start = static_cast<std::size_t>(position - begin);
  return std::string_view(window_).substr(std::min(start, window_.size()));
}

std::string DirectFile::Read(std::uint64_t offset, std::size_t length,
                             const support::Context& context) {
  std::string bytes;
  while (bytes.size() < length) {
    const std::string_view part = Part(offset + bytes.size(), context);
    if (part.empty()) break;
    bytes += part.substr(0, length - bytes.size());
  }
  return bytes;
}

}  // namespace files

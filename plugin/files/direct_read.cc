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

/// Prints the file's identity, a line, and then its content.
///
/// - The file that was opened must have the path that was checked, since a link may have taken its
///   place. `dd` opens it again by its descriptor, as `iflag` needs. The dot keeps newlines at the
///   end of the name.
/// - No `count`: a short read would end the output early. The sink ends it.
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

/// Nothing if the guest cannot.
std::optional<Window> ReadWindow(const std::string& path, std::uint64_t begin,
                                 std::uint64_t remembered_size, guest::Guest& guest,
                                 const support::Context& context) {
  // dd skips only within the size that the guest remembers.
  const std::uint64_t blocks = std::min(begin, remembered_size) / kBlock;
  WindowSink sink(begin - blocks * kBlock);
  const std::optional<int> status =
      guest.RunScript(Script(path, blocks), sink, context).exit_status;
  const bool is_full = sink.window.size() == kDirectReadWindow;
  // Without a status the window is whole only if it is full.
  if (status ? *status != 0 : !is_full) return std::nullopt;
  if (!sink.identity_ended) return std::nullopt;
  return Window{std::move(sink.identity), std::move(sink.window)};
}

}  // namespace

std::unique_ptr<DirectFile> DirectFile::Open(const std::string& path, std::uint64_t remembered_size,
                                             guest::Guest& guest, const support::Context& context) {
  auto window = ReadWindow(path, 0, remembered_size, guest, context);
  if (!window) return nullptr;
  std::unique_ptr<DirectFile> file(new DirectFile(path, remembered_size, guest));
  file->identity_ = std::move(window->identity);
  file->window_ = std::move(window->bytes);
  return file;
}

std::string_view DirectFile::Part(std::uint64_t position, const support::Context& context) {
  const std::uint64_t begin = position - position % kDirectReadWindow;
  if (begin != window_begin_) {
    const bool is_last = window_.size() < kDirectReadWindow;
    if (begin > window_begin_ && is_last) return {};
    auto window = ReadWindow(path_, begin, remembered_size_, guest_, context);
    if (!window) {
      throw support::CallError(
          "the guest read the beginning of the file past its cache, but not the rest: the file may "
          "have been removed on the host; try again");
    }
    if (window->identity != identity_) {
      throw support::CallError(
          "the file was replaced by another one while it was being read; try again");
    }
    window_begin_ = begin;
    window_ = std::move(window->bytes);
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

#include "tools/link_count.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "support/paths.h"
#include "tools/guest_script.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

class FirstBytes : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    constexpr std::size_t kMost = 64;  // a number and a line end
    if (stream == guest::OutputStream::kStandardOutput)
      text += bytes.substr(0, kMost - text.size());
    return true;
  }

  std::string text;
};

// GNU and BusyBox know -c, the BSDs and macOS -f.
std::optional<std::uint32_t> AskCommand(const std::string& path, guest::Guest& guest,
                                        const support::Context& context) {
  const std::string quoted = ShellQuote(path);
  FirstBytes output;
  RunScript(guest,
            "stat -c %h " + quoted + " 2>/dev/null || stat -f %l " + quoted + " 2>/dev/null\n",
            output, context);
  std::uint32_t count = 0;
  const char* begin = output.text.data();
  const auto result = std::from_chars(begin, begin + output.text.size(), count);
  if (result.ec != std::errc() || result.ptr == begin) return std::nullopt;
  return count;
}

std::optional<std::uint32_t> AskListing(const std::string& directory, const std::string& path,
                                        guest::Guest& guest, const support::Context& context) {
  const auto entries = guest.ListSmall(directory, kLargeDirectoryBytes, context);
  if (!entries) return std::nullopt;
  const std::string_view name = support::LastComponent(path);
  const auto found = std::find_if(entries->begin(), entries->end(),
                                  [&](const auto& entry) { return entry.name == name; });
  return found == entries->end() ? std::nullopt : found->link_count;
}

}  // namespace

std::optional<std::uint32_t> CountLinks(const std::string& path, guest::Guest& guest,
                                        const support::Context& context) {
  const std::string directory = support::ParentPath(path);
  try {
    if (const auto count = AskListing(directory, path, guest, context)) return count;
  } catch (const guest::FileError&) {
    // The directory may not be listed; its files can still be asked about one by one.
  }
  return AskCommand(path, guest, context);
}

}  // namespace tools

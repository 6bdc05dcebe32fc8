// SPDX-License-Identifier: Apache-2.0
// What the guest sends while a command runs: its output and the reports of its resident shell, cut
// into pieces anywhere.

#include "shell/command_output.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/input.h"
#include "paths/mount_check.h"
#include "shell/resident_script.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace {

constexpr const char* kMark = "0123456789abcdef";
constexpr std::size_t kMaxOutput = 1024;

/// U+FFFD takes three bytes for one. The rest is for the line that counts what was left out.
constexpr std::size_t kMaxText = 3 * kMaxOutput + 256;

struct Seen {
  std::string standard_output;
  std::string standard_error;
  std::string reports;

  friend bool operator==(const Seen&, const Seen&) = default;
};

constexpr std::array kStreams = {shell::Stream::kOutput, shell::Stream::kError};

/// Each line of `bytes` belongs to one of the streams.
Seen Run(std::string_view bytes, std::size_t piece) {
  std::string progress;
  shell::CommandOutput output(kMaxOutput, true,
                              [&](std::string shown) { progress = std::move(shown); });
  output.OnStarted();
  std::string reports;
  shell::ReportSplitter splitters[] = {shell::ReportSplitter(kMark), shell::ReportSplitter(kMark)};
  const auto keep = [&](std::size_t stream) {
    return [&output, stream](std::string_view own) { output.OnOutput(kStreams.at(stream), own); };
  };
  const auto report = [&](std::string_view words) { reports.append(words).append("\n"); };
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
    bytes.remove_prefix(line.size());
    const std::size_t stream = static_cast<unsigned char>(line.front()) & 1U;
    line.remove_prefix(1);
    while (!line.empty()) {
      splitters[stream].Feed(line.substr(0, piece), keep(stream), report);
      line.remove_prefix(std::min(piece, line.size()));
    }
    fuzz::Require(support::IsValidUtf8(progress), "progress is UTF-8");
    fuzz::Require(support::Printable(progress) == progress, "progress is printable");
  }
  for (std::size_t stream : {0U, 1U}) splitters[stream].Finish(keep(stream));
  shell::CutOutputs cut;
  auto [standard_output, standard_error] = output.Finish(cut);
  return {std::move(standard_output), std::move(standard_error), reports};
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
    fuzz::Require(text->size() <= kMaxText, "output is capped");
  }
  const auto table = paths::ParseMountTable(std::string(bytes));
  for (const char* path : {"/", "/mnt/a", "/home/user"}) {
    static_cast<void>(paths::FindMount(table, path));
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "exposure/baseline.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "git/git.h"
#include "support/files.h"
#include "support/sha256.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "baseline 2";
constexpr std::size_t kFirstItem = 4;

std::optional<Baseline> Parse(const std::string& text) {
  std::vector<std::string> fields = git::Split(text, '\0');
  if (fields.size() < kFirstItem || fields.size() % 4 != 0 || fields[0] != kFormat) {
    return std::nullopt;
  }
  Baseline baseline{fields[1], fields[2], {{}, fields[3] == "cut"}};
  for (std::size_t i = kFirstItem; i < fields.size(); i += 4) {
    baseline.state.items[{fields[i], fields[i + 1]}] = {fields[i + 2], fields[i + 3]};
  }
  return baseline;
}

/// Beside the side repositories of copies.
fs::path FileOf(const fs::path& instance_directory, const fs::path& top) {
  constexpr std::size_t kIdLength = 16;
  const std::string id = support::Sha256(top.string()).substr(0, kIdLength);
  return instance_directory / "mcp-copy" / (id + ".baseline");
}

}  // namespace

std::string Digest(const State& state) {
  return support::Sha256(Serialize(state) + (state.is_cut ? "cut" : ""));
}

std::optional<Baseline> FindBaseline(const fs::path& instance_directory,
                                     const fs::path& directory) {
  for (fs::path above = directory;; above = above.parent_path()) {
    auto baseline = Parse(support::ReadText(FileOf(instance_directory, above)));
    if (baseline || above == above.parent_path()) return baseline;
  }
}

void Save(const fs::path& instance_directory, const Baseline& baseline) {
  std::string text;
  const std::string cut = baseline.state.is_cut ? "cut" : "";
  for (const std::string& field : {std::string(kFormat), baseline.top, baseline.last_seen, cut}) {
    text += field + '\0';
  }
  const fs::path file = FileOf(instance_directory, baseline.top);
  fs::create_directories(file.parent_path());
  support::WriteText(file, text + Serialize(baseline.state));
}

}  // namespace exposure

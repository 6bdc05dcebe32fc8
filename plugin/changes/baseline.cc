#include "changes/baseline.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "copy/side_repository.h"
#include "support/sha256.h"

namespace changes {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "baseline 1";
constexpr std::size_t kFirstItem = 4;

std::optional<Baseline> Parse(const std::string& text) {
  std::vector<std::string> fields = copy::Split(text, '\0');
  if (fields.size() < kFirstItem || fields.size() % 4 != 0 || fields[0] != kFormat) {
    return std::nullopt;
  }
  Baseline baseline{fields[1], fields[2], {{}, fields[3] == "cut"}};
  for (std::size_t i = kFirstItem; i < fields.size(); i += 4) {
    baseline.state.items[{fields[i], fields[i + 1]}] = {fields[i + 2], fields[i + 3]};
  }
  return baseline;
}

}  // namespace

std::string Digest(const State& state) {
  return support::Sha256(Serialize(state));
}

std::optional<Baseline> FindBaseline(const fs::path& instance_directory, const fs::path& directory,
                                     const std::optional<fs::path>& top) {
  for (fs::path above = directory;; above = above.parent_path()) {
    const copy::SidePlace place(instance_directory, above.string());
    const auto baseline = Parse(copy::ReadText(place.baseline));
    if (baseline && (!top || above == *top || baseline->is_of_repository())) return baseline;
    if (above == above.parent_path()) return std::nullopt;
  }
}

void Save(const fs::path& instance_directory, const Baseline& baseline) {
  std::string text;
  const std::string cut = baseline.state.is_cut ? "cut" : "";
  for (const std::string& field : {std::string(kFormat), baseline.top, baseline.last_seen, cut}) {
    text += field + '\0';
  }
  const copy::SidePlace place(instance_directory, baseline.top);
  fs::create_directories(place.baseline.parent_path());
  copy::WriteText(place.baseline, text + Serialize(baseline.state));
}

}  // namespace changes

// SPDX-License-Identifier: Apache-2.0
#include "support/edit_distance.h"

#include <algorithm>

#include "support/format.h"
#include "support/words.h"

namespace support {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // distance[i][j] is that of the first i bytes of `a` and the first j of `b`.
  std::vector distance(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const bool is_same = a[i - 1] == b[j - 1];
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                                 distance[i - 1][j - 1] + (is_same ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
    }
  }
  return distance[a.size()][b.size()];
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kShort = 2;  // is near any other
  const std::string lower = LowerCase(word);
  std::string nearest;
  std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 4);
  for (const std::string& candidate : known) {
    const bool is_long = word.size() > candidate.size() + least;
    std::size_t distance = is_long ? least : EditDistance(lower, LowerCase(candidate));
    if (word.size() > 1 + kShort && candidate.starts_with(lower)) distance = 1;
    if (distance >= least || candidate.size() <= kShort) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : Format(" Did you mean {}?", nearest);
}

}  // namespace support

// SPDX-License-Identifier: Apache-2.0
#include "support/edit_distance.h"

#include <algorithm>
#include <vector>

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

}  // namespace support

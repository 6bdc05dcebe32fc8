#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "soak/sample.h"

namespace soak {

/// Memory, descriptors, threads and guest processes over the calls, one below the other, with a
/// mark for each fault (at so many calls). Throws std::runtime_error when the file cannot be
/// written.
void WriteChart(const std::vector<Sample>& samples, const std::vector<std::uint64_t>& faults,
                const std::filesystem::path& file);

}  // namespace soak

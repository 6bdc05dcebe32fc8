#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "testing/mcp_client.h"

namespace soak {

/// The outcomes of calls.
struct Tally {
  std::uint64_t good = 0;
  std::uint64_t refused = 0;    ///< as expected: paths outside the mount
  std::uint64_t broken = 0;     ///< reported a lost or missing connection
  std::uint64_t cancelled = 0;  ///< by the client; no response

  [[nodiscard]] std::uint64_t all() const { return good + refused + broken + cancelled; }
  void Add(const Tally& other);
};

/// A client with a server of its own. Keeps several calls of all kinds in flight and checks each
/// response. It alone uses `directory` in the guest.
class MixedClient {
 public:
  /// Starts the server and makes its files. `seed` determines the calls.
  MixedClient(const testing_support::ChildProcess::Options& server, std::filesystem::path directory,
              unsigned seed);

  /// Makes `calls` calls, or fewer if `stop` is set, and counts each in `done`. Throws
  /// std::runtime_error with the first response that is wrong or late.
  void Run(std::uint64_t calls, std::atomic<std::uint64_t>& done, const std::atomic<bool>& stop);

  /// Throws std::runtime_error unless each written file holds what was last reported as written, or
  /// what may have been written since.
  void RequireNothingLost() const;

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] pid_t pid() { return client_.process().pid(); }

 private:
  enum class Kind { kGood, kRefused, kWritten };
  struct Pending {
    Kind kind = Kind::kGood;
    std::string expected = {};  ///< part of the response
    std::size_t file = 0;       ///< of kWritten
    std::string content = {};   ///< of kWritten
  };
  struct WrittenFile {
    bool is_being_written = false;
    std::set<std::string> possible;  ///< contents
  };

  void Begin();
  void BeginWrite();
  void BeginCancelled();
  std::int64_t Call(const std::string& tool, const nlohmann::json& arguments, Pending pending);
  void Take(const nlohmann::json& response);
  void Count(const Pending& pending, bool is_error, const std::string& text);
  [[nodiscard]] std::string Path(const std::string& name) const;
  unsigned Below(unsigned limit);

  testing_support::McpClient client_;
  std::filesystem::path directory_;
  std::mt19937 random_;
  std::uint64_t begun_ = 0;
  std::map<std::int64_t, Pending> pending_;
  std::set<std::int64_t> cancelled_;  ///< may still be answered, if they were done before
  std::vector<WrittenFile> written_;
  Tally tally_;
};

}  // namespace soak

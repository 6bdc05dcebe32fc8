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

#include "testing/child_process.h"

namespace soak {

/// What came of the calls, of one client or of all.
struct Tally {
  std::uint64_t good = 0;
  std::uint64_t refused = 0;    ///< as they had to be: paths outside
  std::uint64_t broken = 0;     ///< told that the line was lost, or not there
  std::uint64_t cancelled = 0;  ///< withdrawn by the client, not answered

  [[nodiscard]] std::uint64_t all() const { return good + refused + broken + cancelled; }
  void Add(const Tally& other);
};

/// A client with a server of its own, which keeps several calls of all kinds on their way and looks
/// at each answer. Has the directory `directory` of the guest to itself.
class MixedClient {
 public:
  /// Starts the server and makes its files. `seed` decides which calls are made.
  MixedClient(const testing_support::ChildProcess::Options& server, std::filesystem::path directory,
              unsigned seed);

  /// Makes so many calls, adding each to `done` when it has ended, or until `stop`. Throws
  /// std::runtime_error, with the answer, on the first one that is wrong or does not come in time.
  void Run(std::uint64_t calls, std::atomic<std::uint64_t>& done, const std::atomic<bool>& stop);

  /// Throws std::runtime_error unless each written file holds what was last said to be written, or
  /// what may have been written since.
  void RequireNothingLost() const;

  [[nodiscard]] const Tally& tally() const { return tally_; }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  /// How an answer is looked at.
  enum class Kind { kGood, kRefused, kWritten };
  struct Pending {
    Kind kind = Kind::kGood;
    std::string expected = {};  ///< what the answer holds
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
  void Take(const std::string& line);
  void Note(const Pending& pending, bool is_error, const std::string& text);
  void Send(const nlohmann::json& message);
  std::string ReadLine();
  [[nodiscard]] std::string Path(const std::string& name) const;
  unsigned Below(unsigned limit);

  testing_support::ChildProcess process_;
  std::filesystem::path directory_;
  std::mt19937 random_;
  std::string buffer_;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, Pending> pending_;
  std::set<std::int64_t> withdrawn_;  ///< may be answered still, if they ended before
  std::vector<WrittenFile> written_;
  Tally tally_;
};

}  // namespace soak

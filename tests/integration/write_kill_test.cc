// SPDX-License-Identifier: Apache-2.0
// Random names and texts are written, changed and read back. A server that is killed at a random
// moment of a write leaves the old file or the new one, and at most one temporary file, which a
// later write removes.
//
// LIMACTL_MCP_KILLS sets the number of kills (default: kDefaultKills, or what kDefaultTime allows),
// LIMACTL_MCP_SEED the seed of the random numbers.

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "integration/fixture.h"

namespace integration {
namespace {

constexpr int kDefaultKills = 80;
constexpr auto kDefaultTime = std::chrono::seconds(20);
constexpr int kRounds = 100;
constexpr auto kSessionsEndWithin = std::chrono::seconds(20);  // three, on an idle machine

long NumberFrom(const char* variable, long otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtol(value, nullptr, 10);
}

class Random {
 public:
  Random()
      : seed_(NumberFrom("LIMACTL_MCP_SEED", 20261121)), engine_(static_cast<unsigned>(seed_)) {
    ::testing::Test::RecordProperty("seed", std::to_string(seed_));
  }

  std::size_t Below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
  }

  /// Valid UTF-8 with sequences of all lengths, line ends and control characters.
  std::string Text(std::size_t characters) {
    static const std::vector<std::string> kAlphabet = {
        "a",    "b",  "\n",     "\r\n",   "\r",         "\t",     " ",          "\x01",
        "\x7f", "\"", "\\",     "\u00e9", "\u0301",     "\u4e2d", "\ufeff",     "\u2028",
        "$(x)", "`",  "\uffff", "'",      "\U0001F600", "\u202e", "\U0010FFFF", "<"};
    std::string text;
    for (std::size_t i = 0; i < characters; ++i) text += kAlphabet[Below(kAlphabet.size())];
    return text;
  }

  /// A name that a shell, a glob or a careless program would misread.
  std::string Name() {
    static const std::vector<std::string> kAlphabet = {
        "a", "-",  " ",  "\n", "*",   "?",      "[",       "{",      "'",  "\"", "$", "`",
        ";", "\\", "..", "~",  "%2e", "\u00e9", "e\u0301", "\u202e", "\t", "|",  "&", "#"};
    std::string name;
    for (std::size_t i = 1 + Below(12); i > 0; --i) name += kAlphabet[Below(kAlphabet.size())];
    return name == "." || name == ".." || name == "~" ? name + "x" : name;
  }

 private:
  long seed_;
  std::mt19937 engine_;
};

class WriteKill : public IntegrationTest {
 protected:
  Random random;
};

class KilledServer : public WriteKill {
 protected:
  /// Empty if there is no file; written texts are never empty.
  [[nodiscard]] static std::string TextAt(const std::string& path) {
    return fs::exists(path) ? ReadFile(path) : "";
  }

  /// Does not wait for the response. Returns the new content.
  std::string SendWrite(const std::string& path, const std::string& old_text, long number) {
    const std::size_t last = old_text.rfind('#');
    if (last != std::string::npos && random.Below(3) == 0) {
      const std::string end = old_text.substr(last);
      client().BeginCall("replace",
                         {{"path", path}, {"old_string", end}, {"new_string", end + "+"}});
      return old_text + "+";
    }
    std::string new_text = random.Text(random.Below(random.Below(4) == 0 ? 400'000 : 2'000));
    new_text += "#" + std::to_string(number);
    client().BeginCall("write_file", {{"path", path}, {"content", new_text}});
    return new_text;
  }

  /// At most about as long as such a write takes on this machine, estimated from earlier outcomes.
  void SleepAWhile(const std::string& kind) {
    const auto [most, is_new] = times.try_emplace(kind, 10'000);
    std::this_thread::sleep_for(std::chrono::microseconds(random.Below(most->second)));
  }
  void LearnTime(const std::string& kind, bool was_too_early) {
    std::size_t& most = times.at(kind);
    most = std::clamp<std::size_t>(was_too_early ? most * 5 / 4 : most * 3 / 4, 1'000, 2'000'000);
  }

  /// Sessions may write until they end.
  bool WaitUntilSessionsEnd() {
    return Eventually([this] { return Instance().SessionPids().empty(); }, kSessionsEndWithin);
  }

  std::map<std::string, std::size_t> times;  ///< microseconds
  std::map<std::string, int> outcomes;
};

TEST_F(WriteKill, RandomTextsUnderRandomNamesComeBackAsTheyWere) {
  StartGuest();
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = root + "/" + random.Name() + "/" + random.Name();
    if (fs::is_directory(path) || fs::is_regular_file(fs::path(path).parent_path())) continue;
    std::string text = random.Text(1 + random.Below(random.Below(10) == 0 ? 20'000 : 200));
    SCOPED_TRACE("round " + std::to_string(round) + ": " + json(path).dump());
    Write(path, text);
    ASSERT_EQ(ReadFile(path), text);
    ASSERT_EQ(Read(path), text);

    const std::string old_string = "<" + random.Text(3) + ">" + std::to_string(round);
    const std::string new_string = random.Text(4) + "!";
    Write(path, text + old_string);
    Call("replace", {{"path", path}, {"old_string", old_string}, {"new_string", new_string}});
    ASSERT_EQ(ReadFile(path).substr(0, text.size()), text);
    ASSERT_EQ(ReadFile(path).find(old_string), std::string::npos);
  }
  EXPECT_THAT(Leftovers(root), IsEmpty());
}

TEST_F(KilledServer, LeavesTheOldFileOrTheNewOne) {
  const long kills = NumberFrom("LIMACTL_MCP_KILLS", kDefaultKills);
  const auto enough = std::getenv("LIMACTL_MCP_KILLS") == nullptr
                          ? std::chrono::steady_clock::now() + kDefaultTime
                          : std::chrono::steady_clock::time_point::max();
  StartRoot();
  std::vector<std::string> paths;
  for (int i = 0; i < 6; ++i) paths.push_back(root + "/" + random.Name() + std::to_string(i));

  for (long kill = 0; kill < kills && std::chrono::steady_clock::now() < enough; ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    Serve();
    const bool is_first_write = random.Below(4) == 0;
    if (!is_first_write) {
      Write(root + "/first", "text");
      ASSERT_THAT(Leftovers(root), IsEmpty());
    }
    const std::string& path = paths[random.Below(paths.size())];
    const std::string old_text = TextAt(path);
    const std::string new_text = SendWrite(path, old_text, kill);
    const std::string kind = is_first_write             ? "first"
                             : new_text.size() < 50'000 ? "small"
                                                        : "large";
    SleepAWhile(kind);
    client().process().Signal(SIGKILL);
    ASSERT_TRUE(client().process().Wait(std::chrono::seconds(10)).has_value());
    // Sessions may write until they end.
    ASSERT_TRUE(
        Eventually([this] { return Instance().SessionPids().empty(); }, kSessionsEndWithin));
    const std::vector<fs::path> left = Leftovers(root);
    outcomes["temporary file left"] += static_cast<int>(left.size());
    MakeOld(left);

    const std::string now = TextAt(path);
    ASSERT_TRUE(now == old_text || now == new_text)
        << "half a file of " << now.size() << " bytes; " << old_text.size() << " before, "
        << new_text.size() << " written";
    ++outcomes[now == old_text ? "old file" : "new file"];
    LearnTime(kind, now == old_text);
    ForgetServer();
  }
  for (const auto& [outcome, count] : outcomes) std::cout << outcome << ": " << count << "\n";
  Serve();
  Write(root + "/first", "text");
  EXPECT_THAT(Leftovers(root), IsEmpty());
}

}  // namespace
}  // namespace integration

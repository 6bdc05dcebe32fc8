#include "soak/mixed_client.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "testing/files.h"

namespace soak {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 8;
constexpr std::chrono::minutes kPatience(2);
constexpr unsigned kFiles = 20;
constexpr std::size_t kWrittenFiles = 10;

std::string NameOf(unsigned file) {
  return "file" + std::to_string(file) + ".txt";
}
std::string ContentOf(unsigned file) {
  return "this is file " + std::to_string(file) + "\n" + std::string(std::size_t{200} * file, 'x') +
         "\n";
}

/// Whether an error reports that the connection is lost or cannot be made.
bool IsConnectionError(const std::string& text) {
  constexpr std::array kWords = {"onnect", "limactl start", "is not ready",
                                 "SFTP",   "may have run",  "signal"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace

void Tally::Add(const Tally& other) {
  good += other.good;
  refused += other.refused;
  broken += other.broken;
  cancelled += other.cancelled;
}

MixedClient::MixedClient(const testing_support::ChildProcess::Options& server, fs::path directory,
                         unsigned seed)
    : client_(server), directory_(std::move(directory)), random_(seed), written_(kWrittenFiles) {
  fs::create_directories(directory_);
  for (unsigned file = 0; file < kFiles; ++file) {
    testing_support::WriteFile(directory_ / NameOf(file), ContentOf(file));
  }
  client_.Initialize();
}

std::string MixedClient::Path(const std::string& name) const {
  return (directory_ / name).string();
}

unsigned MixedClient::Below(unsigned limit) {
  return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
}

void MixedClient::Run(std::uint64_t calls, std::atomic<std::uint64_t>& done,
                      const std::atomic<bool>& stop) {
  std::uint64_t counted = tally_.all();
  const std::uint64_t wanted = counted + calls;
  while (tally_.all() < wanted && !stop) {
    while (pending_.size() < kAtOnce && tally_.all() + pending_.size() < wanted) Begin();
    if (!pending_.empty()) Take(client_.NextMessage(kPatience));
    done += tally_.all() - std::exchange(counted, tally_.all());
  }
}

void MixedClient::Begin() {
  const unsigned choice = Below(1000);
  const unsigned file = Below(kFiles);
  if (choice < 450) {
    Call("read_file", {{"path", Path(NameOf(file))}},
         {.expected = "this is file " + std::to_string(file)});
  } else if (choice < 650) {
    Call("list_directory", {{"path", directory_.string()}}, {.expected = "file19.txt"});
  } else if (choice < 800) {
    BeginWrite();
  } else if (choice < 850) {
    Call("read_file", {{"path", Path(NameOf(file))}, {"offset", 0}, {"limit", 1}},
         {.expected = "this is file " + std::to_string(file)});
  } else if (choice < 950) {
    Call("read_file", {{"path", "/etc/passwd"}}, {.kind = Kind::kRefused, .expected = "outside"});
  } else if (choice < 965) {
    Call("glob", {{"pattern", "**/file1*.txt"}, {"path", directory_.string()}},
         {.expected = "file10.txt"});
  } else if (choice < 975) {
    Call("search_file_content", {{"pattern", "this is file 7$"}, {"path", directory_.string()}},
         {.expected = "file7.txt"});
  } else if (choice < 998) {
    const std::string word = "word" + std::to_string(begun_);
    // A background process, as of a command that starts a server.
    Call(
        "run_shell_command",
        {{"command", {"sh", "-c", "sleep 0.1 & echo " + word}}, {"directory", directory_.string()}},
        {.expected = word});
  } else {
    BeginCancelled();
  }
}

void MixedClient::BeginWrite() {
  const std::size_t file = Below(kWrittenFiles);
  WrittenFile& written = written_[file];
  if (written.is_being_written) return;
  written.is_being_written = true;
  const std::string content = "call " + std::to_string(begun_) + "\n";
  Call("write_file", {{"path", Path("written" + std::to_string(file))}, {"content", content}},
       {.kind = Kind::kWritten, .expected = "", .file = file, .content = content});
}

void MixedClient::BeginCancelled() {
  const std::int64_t id =
      Call("run_shell_command",
           {{"command", {"sleep", "1000"}}, {"directory", directory_.string()}}, {});
  pending_.erase(id);
  cancelled_.insert(id);
  client_.Cancel(id);
  ++tally_.cancelled;
}

std::int64_t MixedClient::Call(const std::string& tool, const json& arguments, Pending pending) {
  ++begun_;
  const std::int64_t id = client_.BeginCall(tool, arguments);
  pending_.emplace(id, std::move(pending));
  return id;
}

void MixedClient::Take(const json& response) {
  if (!response.contains("id")) return;  // a notification
  const auto id = response["id"].get<std::int64_t>();
  if (cancelled_.erase(id) > 0) return;
  const auto found = pending_.find(id);
  if (found == pending_.end())
    throw std::runtime_error("a response to no request: " + response.dump());
  const Pending pending = std::move(found->second);
  pending_.erase(found);
  if (!response.contains("result")) throw std::runtime_error("not a result: " + response.dump());
  const json& result = response["result"];
  // A command that was cut short reports it beside its output.
  const bool is_error = result.value("isError", false) ||
                        result.value("structuredContent", json::object()).contains("error");
  Count(pending, is_error, result["content"].dump());
}

void MixedClient::Count(const Pending& pending, bool is_error, const std::string& text) {
  const bool holds = text.find(pending.expected) != std::string::npos;
  if (is_error && pending.kind == Kind::kRefused && holds) {
    ++tally_.refused;
  } else if (is_error) {
    if (!IsConnectionError(text)) throw std::runtime_error("an error of another kind: " + text);
    ++tally_.broken;
  } else {
    if (pending.kind == Kind::kRefused || !holds) {
      throw std::runtime_error("expected " + pending.expected + ", got: " + text);
    }
    ++tally_.good;
  }
  if (pending.kind != Kind::kWritten) return;
  WrittenFile& written = written_[pending.file];
  written.is_being_written = false;
  // After an error the file may hold the old content or the new one.
  if (!is_error) written.possible.clear();
  if (is_error && written.possible.empty()) written.possible.insert("");  // nothing was there
  written.possible.insert(pending.content);
}

void MixedClient::RequireNothingLost() const {
  for (std::size_t file = 0; file < written_.size(); ++file) {
    const fs::path path = directory_ / ("written" + std::to_string(file));
    if (written_[file].possible.empty()) continue;
    if (written_[file].possible.count(testing_support::ReadFile(path)) == 0) {
      throw std::runtime_error(path.string() + " does not hold what was written last: " +
                               testing_support::ReadFile(path));
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
    const std::string name = entry.path().filename().string();
    // After a lost connection a temporary file stays until a later write.
    const bool is_temporary = name.starts_with(".limactl-mcp-");
    if (!is_temporary && !name.starts_with("file") && !name.starts_with("written")) {
      throw std::runtime_error("left behind: " + entry.path().string());
    }
  }
}

}  // namespace soak

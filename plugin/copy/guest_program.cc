#include "copy/guest_program.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>

#include "copy/git.h"
#include "copy/programs.h"
#include "shell/resident_script.h"
#include "shell/shell_quote.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {
namespace {

using support::CallError;
using support::Clock;

/// Without a byte in either direction while there is a pack, and in all.
constexpr std::chrono::seconds kSilence{60};
constexpr std::chrono::hours kTotal{1};

/// Bytes that may wait for the guest, or for this host.
constexpr std::size_t kMaxWaiting = std::size_t{1} << 20;

/// Bytes of reports, and of messages.
constexpr std::uint64_t kMaxReports = std::uint64_t{4} << 20;

/// Bytes of the guest's words that are shown.
constexpr std::size_t kMaxMessage = 300;

constexpr std::chrono::milliseconds kInterval{200};

[[noreturn]] void Stop(const std::string& problem) {
  throw CallError(problem + " Nothing was changed.");
}

[[noreturn]] void ThrowNonsense() {
  Stop("The guest's answer makes no sense.");
}

std::uint64_t ToNumber(const std::string& word) {
  constexpr std::size_t kMaxDigits = 9;
  const bool is_number = !word.empty() && word.size() <= kMaxDigits &&
                         word.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) ThrowNonsense();
  return std::stoull(word);
}

/// What to do about a reason or a state of programs/. `detail`: git's words.
std::string Advice(const std::string& reason, const std::string& detail,
                   const SideRepository& side) {
  const std::string& instance = side.place().instance;
  const std::string& directory = side.facts().directory;
  const std::map<std::string, std::string> texts = {
      {"git", "git 2.30 or newer is needed in the guest: sudo apt-get install git"},
      {"busy", "Another limactl mcp works with this copy."},
      {"absent", "The copy is gone from " + instance + ":" + directory +
                     ". Make it anew: limactl mcp copy " + instance},
      {"interrupted", "The last copy was interrupted. Complete it: limactl mcp copy " + instance},
      {"damaged", "The copy's .git is gone or damaged; its files are still in " + instance + ":" +
                      directory + ". drop --force makes a new copy."},
      {"foreign", directory + " exists in " + instance +
                      " and is no copy of ours. Move it away, or --copy-dir DIR."},
      {"other", directory + " in " + instance +
                    " is the copy of another project: --copy-dir DIR names another directory."},
      {"directory", directory + " cannot be made in " + instance +
                        " (sudo wants a password): --copy-dir DIR names a directory that you can "
                        "write."},
      {"space", instance + " has no space left (" + detail + " MB needed)."},
      {"drop", directory + " cannot be deleted in " + instance + ": " + detail}};
  const auto found = texts.find(reason);
  return found == texts.end() ? "git failed in " + instance + ": " + detail : found->second;
}

/// What need not be sent: the commits of the side repository's facts; none if the user's gc has
/// deleted one.
std::vector<std::string> CommonCommits(const SideRepository& side) {
  const CopyFacts& facts = side.facts();
  std::vector<std::string> ids = {facts.sent, facts.base, facts.work, facts.taken, facts.applied};
  std::erase(ids, "");
  std::vector<std::string> common = Existing(side.git(), ids);
  if (common.size() < ids.size()) common.clear();
  return common;
}

std::string TextOf(const std::string& marker, const Target& target,
                   const std::vector<std::string>& common, const GuestProgram::Settings& settings,
                   std::string_view program) {
  const CopyFacts& facts = target.side.facts();
  GuestProgram::Settings all = {
      {"G", facts.directory},
      {"ID", target.side.place().id},
      {"SENT", facts.sent},
      {"BASE", facts.base},
      {"TAKEN", facts.taken.empty() ? facts.applied : facts.taken},
      {"DONE", support::Join({facts.sent, facts.base, facts.taken, facts.applied}, " ")},
      {"HAVE", support::Join(common, "\n")},
      {"BRANCH", facts.branch}};
  all.insert(all.end(), settings.begin(), settings.end());
  std::string text = "{ marker=" + marker + "\n";
  for (const auto& [name, value] : all) text += name + "=" + shell::ShellQuote(value) + "\n";
  // In braces: sh reads all of it before it runs any.
  return text.append(begin_program).append(work_program).append(program).append("exit; }");
}

}  // namespace

/// What the session's thread and the caller share.
class GuestProgram::Channel final : public shell::ProcessEvents {
 public:
  void OnOutput(shell::Stream stream, std::string_view bytes) override {
    constexpr std::size_t kKept = 4096;
    std::unique_lock lock(mutex);
    touched = Clock::now();
    if (stream == shell::Stream::kError) {
      message_bytes += bytes.size();
      message += bytes;
      message.erase(0, message.size() - std::min(message.size(), kKept));
      return;
    }
    output += bytes;
    changed.notify_all();
    changed.wait(lock, [this] { return output.size() <= kMaxWaiting || closed; });
  }

  void OnInputSent(std::size_t bytes) override {
    const std::scoped_lock lock(mutex);
    touched = Clock::now();
    unsent -= std::min(unsent, bytes);
    changed.notify_all();
  }

  void OnEnd(const shell::ProcessEnd& end) override {
    const std::scoped_lock lock(mutex);
    if (!end.problem.empty()) message += end.problem + '\n';
    ended = true;
    changed.notify_all();
  }

  const std::string marker = shell::MakeEndMarker();
  const Clock::time_point made = Clock::now();

  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::string output;
  std::string message;  ///< the end of the standard error
  std::uint64_t message_bytes = 0;
  std::size_t unsent = 0;
  bool ended = false;
  bool closed = false;  ///< by this host
  Clock::time_point touched;
};

std::string GuestState::Summary() const {
  std::vector<std::string> parts;
  if (commits > 0) parts.push_back(support::Count(commits, "commit"));
  if (files > 0) parts.push_back(support::Count(files, "file"));
  if (others > 0)
    parts.push_back(support::Count(others, "commit") + " on other branches or in stashes");
  return support::Join(parts);
}

GuestProgram::GuestProgram(const Target& target, Packs packs)
    : common(packs == Packs::kThin ? CommonCommits(target.side) : std::vector<std::string>()),
      target_(target),
      context_(target.context.WithTimeout(kTotal)),
      channel_(std::make_shared<Channel>()),
      process_(target.guest.Start(std::string(shell::kCommandLine), channel_)) {}

GuestProgram::GuestProgram(const Target& target, Packs packs, const Settings& settings,
                           std::string_view text)
    : GuestProgram(target, packs) {
  Answer(TextOf(channel_->marker, target, common, settings, text));
  for (auto report = NextReport(); report.front() != "decide"; report = NextReport()) {
    ReadState(std::move(report));
  }
  const bool is_known = !target.side.facts().sent.empty();
  if (state.directory == "foreign" && is_known) state.directory = "damaged";
  if (state.directory == "ours" && state.work.empty()) state.directory = "damaged";
}

GuestProgram::~GuestProgram() {
  if (shown_ != Clock::time_point()) std::cerr << "\x1b[K" << std::flush;
  const std::scoped_lock lock(channel_->mutex);
  channel_->closed = true;
  channel_->changed.notify_all();
}

void GuestProgram::ReadState(std::vector<std::string> words) {
  constexpr std::size_t kMaxLinks = 10;
  constexpr std::size_t kMaxName = 200;
  const std::string kind = words.front();
  words.erase(words.begin());
  const std::string rest = support::Join(words, " ");
  if (kind == "git" && !IsNewEnough(rest, 30)) throw CallError(Advice("git", "", target_.side));
  if (kind == "state") state.directory = rest;
  if (kind == "have" && std::find(common.begin(), common.end(), rest) != common.end()) {
    state.known.push_back(rest);
  }
  if (kind == "files") state.files = ToNumber(rest);
  if (kind == "work") {
    words.resize(4);
    // git takes a shorter id for the beginning of one.
    if (!IsObjectId(words[0]) || words[0].size() != target_.side.facts().sent.size()) {
      ThrowNonsense();
    }
    state.work = words[0];
    state.commits = ToNumber(words[1]);
    state.others = ToNumber(words[2]);
    state.lost = ToNumber(words[3]);
  }
  if (kind == "link" && state.links.size() < kMaxLinks) {
    state.links.push_back(support::Printable(rest.substr(0, kMaxName)));
  }
}

void GuestProgram::RequireOurs() const {
  if (state.directory != "ours") throw CallError(Advice(state.directory, "", target_.side));
}

std::vector<std::string> GuestProgram::NextReport() {
  while (true) {
    const std::size_t end = received_.find('\n', used_);
    if (end == std::string::npos) {
      received_.erase(0, std::exchange(used_, 0));
      if (ReadMore()) continue;
      throw CallError("The guest's part of this ended: " + LastMessage());
    }
    std::vector<std::string> words = Split(received_.substr(used_, end - used_), ' ');
    used_ = end + 1;
    // Other lines are what a profile prints.
    if (words.size() < 2 || words.front() != channel_->marker) continue;
    words.erase(words.begin());
    if (words.front() != "fail") return words;
    words.resize(3);
    const std::string detail =
        words[2].empty() ? LastMessage() : support::Printable(words[2].substr(0, kMaxMessage));
    throw Failure(Advice(words[1], detail, target_.side), words[1]);
  }
}

bool GuestProgram::Wait(const std::function<bool()>& ready, const char* pack) {
  const Clock::time_point began = Clock::now();
  std::unique_lock lock(channel_->mutex);
  while (true) {
    channel_->changed.wait_for(lock, kInterval, [&] { return ready() || channel_->ended; });
    const Clock::time_point now = Clock::now();
    if (channel_->message_bytes > kMaxReports) Stop("The guest reports too much.");
    if (context_.stop_reason() != support::StopReason::kNone) Stop("The guest took too long.");
    if (pack != nullptr) ShowProgress(pack);
    if (ready() || channel_->ended) return ready();
    if (pack != nullptr && now - std::max(began, channel_->touched) > kSilence) {
      Stop("no data for 60 s.");
    }
  }
}

bool GuestProgram::ReadMore(const char* pack) {
  const bool is_ready = Wait([this] { return !channel_->output.empty(); }, pack);
  const std::scoped_lock lock(channel_->mutex);
  if (pack == nullptr) reported_ += channel_->output.size();
  if (reported_ > kMaxReports) Stop("The guest reports too much.");
  received_ += std::exchange(channel_->output, "");
  channel_->changed.notify_all();
  return is_ready;
}

void GuestProgram::Send(std::string bytes) {
  {
    const std::scoped_lock lock(channel_->mutex);
    channel_->unsent += bytes.size();
  }
  process_->Send(std::move(bytes));
}

void GuestProgram::SendFile(const std::filesystem::path& path) {
  constexpr std::streamsize kPiece = 65536;
  std::ifstream file(path, std::ios::binary);
  std::string piece(kPiece, '\0');
  while (file.read(piece.data(), kPiece), file.gcount() > 0) {
    Send(piece.substr(0, static_cast<std::size_t>(file.gcount())));
    transferred_ += static_cast<std::uint64_t>(file.gcount());
    // If it has ended, its report says why.
    if (!Wait([this] { return channel_->unsent <= kMaxWaiting; }, "Sending")) return;
  }
}

void GuestProgram::Receive(std::uint64_t max_bytes,
                           const std::function<bool(std::string_view)>& on_bytes) {
  constexpr const char* kPack = "Receiving";
  received_.erase(0, std::exchange(used_, 0));
  while (!received_.empty() || ReadMore(kPack)) {
    transferred_ += received_.size();
    if (transferred_ > max_bytes) {
      Stop("More than " + support::FormatByteCount(max_bytes) + " (--max-size).");
    }
    if (!on_bytes(received_)) return;
    received_.clear();
  }
}

void GuestProgram::ShowProgress(const char* pack) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  constexpr std::chrono::seconds kQuiet{2};
  const auto now = Clock::now();
  if (now - channel_->made < kQuiet || now - shown_ < kInterval) return;
  if (::isatty(STDERR_FILENO) == 0) return;
  shown_ = now;
  // What is said next replaces it.
  std::cerr << pack << ": " << transferred_ / kMebibyte << " MiB\x1b[K\r" << std::flush;
}

std::string GuestProgram::LastMessage() const {
  const std::scoped_lock lock(channel_->mutex);
  const std::vector<std::string> lines = Split(channel_->message, '\n');
  return lines.empty() ? "no reason given"
                       : support::Printable(lines.back().substr(0, kMaxMessage));
}

}  // namespace copy

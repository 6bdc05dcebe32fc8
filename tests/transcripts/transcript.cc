#include "transcript.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace transcripts {
namespace {

using Kind = Line::Kind;

/// What the placeholders like `<TASK>` stand for.
using Bindings = std::map<std::string, std::string>;

Line ParseLine(const std::string& text, std::size_t number) {
  if (text.empty() || text.front() == '#') return {Kind::kText, "", text, number};
  constexpr std::pair<Kind, std::string_view> kPrefixes[] = {
      {Kind::kSend, "> "},
      {Kind::kSendEscaped, ">e "},
      {Kind::kExpect, "< "},
      {Kind::kExpectUnordered, "<~ "},
      {Kind::kExpectEventually, "<? "},
      {Kind::kEndOfInput, "! end of input"},
      {Kind::kExpectEnd, "! end of output"},
  };
  for (const auto& [kind, prefix] : kPrefixes) {
    if (text.starts_with(prefix)) {
      return {kind, std::string(prefix), text.substr(prefix.size()), number};
    }
  }
  throw std::runtime_error("line " + std::to_string(number) + " is invalid: " + text);
}

/// `\n`, `\r`, `\t`, `\\`, `\xHH`, and `\(COUNT*TEXT)` for TEXT that many times.
std::string Unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    const char escape = text.at(++i);
    if (escape == 'x') {
      bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else if (escape == '(') {
      const auto star = text.find('*', i);
      const auto end = text.find(')', star);
      const std::size_t count = std::stoul(std::string(text.substr(i + 1, star - i - 1)));
      const std::string repeated(text.substr(star + 1, end - star - 1));
      for (std::size_t n = repeated.size() == 1 ? count : 0; n < count; ++n) bytes += repeated;
      if (repeated.size() == 1) bytes.append(count, repeated.front());
      i = end;
    } else {
      bytes += escape == 'n' ? '\n' : escape == 'r' ? '\r' : escape == 't' ? '\t' : escape;
    }
  }
  return bytes;
}

/// The name in a placeholder `<NAME>` at the start of `text`; "*" for `<*>`.
std::optional<std::string> PlaceholderAt(std::string_view text) {
  if (text.starts_with("<*>")) return "*";
  if (!text.starts_with('<')) return std::nullopt;
  const auto end = text.find('>');
  if (end == std::string_view::npos || end == 1) return std::nullopt;
  const std::string_view name = text.substr(1, end - 1);
  const bool upper =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return upper ? std::optional(std::string(name)) : std::nullopt;
}

std::string Substitute(std::string text, const Bindings& bindings) {
  for (const auto& [name, value] : bindings) {
    const std::string placeholder = "<" + name + ">";
    for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder)) {
      text.replace(at, placeholder.size(), value);
    }
  }
  return text;
}

/// Whether `pattern` matches all of `line`. Binds new placeholders, also if it does not match.
bool MatchesFrom(std::string_view pattern, std::string_view line, Bindings& bindings) {
  while (!pattern.empty()) {
    const std::optional<std::string> name = PlaceholderAt(pattern);
    if (!name) {
      if (line.empty() || line.front() != pattern.front()) return false;
      pattern.remove_prefix(1);
      line.remove_prefix(1);
      continue;
    }
    pattern.remove_prefix(name->size() + 2);
    if (*name != "*") {
      const std::string_view value = line.substr(0, line.find('"'));
      const auto [binding, is_new] = bindings.try_emplace(*name, value);
      if (!is_new && binding->second != value) return false;
      line.remove_prefix(value.size());
      continue;
    }
    for (std::size_t skipped = 0; skipped <= line.size(); ++skipped) {
      Bindings attempt = bindings;
      if (!MatchesFrom(pattern, line.substr(skipped), attempt)) continue;
      bindings = std::move(attempt);
      return true;
    }
    return false;
  }
  return line.empty();
}

bool Matches(const std::string& pattern, const std::string& line, Bindings& bindings) {
  Bindings attempt = bindings;
  if (!MatchesFrom(pattern, line, attempt)) return false;
  bindings = std::move(attempt);
  return true;
}

/// Puts placeholders in place of what differs from run to run.
std::string Generalise(std::string line, const Bindings& bindings) {
  for (const auto& [name, value] : bindings) {
    for (auto at = line.find(value); at != std::string::npos; at = line.find(value, at)) {
      line.replace(at, value.size(), "<" + name + ">");
    }
  }
  static const std::regex kTaskId(R"("taskId":"[0-9a-f]{32}")");
  return std::regex_replace(line, kTaskId, R"("taskId":"<TASK>")");
}

class Player {
 public:
  Player(const std::vector<Line>& lines, Peer& peer) : lines_(lines), peer_(peer) {}

  Replay Run() {
    try {
      while (next_ < lines_.size()) Step();
    } catch (const std::runtime_error& error) {
      AddError(lines_[std::min(next_, lines_.size() - 1)], "an answer", error.what());
      for (; next_ < lines_.size(); ++next_) Keep(lines_[next_], lines_[next_].text);
    }
    return std::move(replay_);
  }

 private:
  void Step() {
    const Line& line = lines_[next_];
    switch (line.kind) {
      case Kind::kText:
        break;
      case Kind::kSend:
        last_sent_ = Substitute(line.text, bindings_) + "\n";
        peer_.Send(last_sent_);
        break;
      case Kind::kSendEscaped:
        peer_.Send(Unescape(line.text));
        break;
      case Kind::kEndOfInput:
        peer_.CloseInput();
        break;
      case Kind::kExpectEnd:
        if (const auto got = peer_.ReadLine()) AddError(line, "the end of output", *got);
        break;
      case Kind::kExpect:
      case Kind::kExpectUnordered:
      case Kind::kExpectEventually:
        ExpectGroup();
        return;
    }
    Keep(line, line.text);
    ++next_;
  }

  void Keep(const Line& line, const std::string& text) {
    replay_.rewritten += line.prefix + text + "\n";
  }

  void AddError(const Line& line, const std::string& expected, const std::string& got) {
    constexpr std::size_t kShown = 2000;
    replay_.errors.push_back("line " + std::to_string(line.number) + "\n  expected: " +
                             expected.substr(0, kShown) + "\n  got:      " + got.substr(0, kShown));
  }

  /// One line, or several unordered ones.
  void ExpectGroup() {
    std::vector<Line> expected = {lines_[next_++]};
    const Line first = expected.front();
    while (first.kind == Kind::kExpectUnordered && next_ < lines_.size() &&
           lines_[next_].kind == first.kind) {
      expected.push_back(lines_[next_++]);
    }
    while (!expected.empty()) {
      const auto got = peer_.ReadLine();
      const auto match = std::find_if(expected.begin(), expected.end(), [&](const Line& line) {
        return got && Matches(line.text, *got, bindings_);
      });
      if (match != expected.end()) {
        Keep(*match, match->text);
        expected.erase(match);
      } else if (got && first.kind == Kind::kExpectEventually && ++repeats_ < kMaxRepeats) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        peer_.Send(last_sent_);
      } else {
        AddError(first, expected.front().text, got.value_or("the end of output"));
        if (!got) return;
        const std::string text = Generalise(*got, bindings_);
        Matches(text, *got, bindings_);  // binds what is new
        Keep(first, text);
        expected.pop_back();
      }
    }
  }

  static constexpr int kMaxRepeats = 10'000;

  const std::vector<Line>& lines_;
  Peer& peer_;
  std::size_t next_ = 0;
  std::string last_sent_;
  int repeats_ = 0;
  Bindings bindings_;
  Replay replay_;
};

}  // namespace

std::vector<Line> ReadTranscript(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);)
    lines.push_back(ParseLine(text, lines.size() + 1));
  return lines;
}

Replay Play(const std::vector<Line>& lines, Peer& peer) {
  return Player(lines, peer).Run();
}

}  // namespace transcripts

#include "transcript.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string_view>

namespace transcripts {
namespace {

using Kind = Transcript::Kind;
using Line = Transcript::Line;

constexpr std::chrono::seconds kTimeout{60};

struct Prefix {
  Kind kind;
  std::string_view text;
};

constexpr Prefix kPrefixes[] = {
    {Kind::kSend, "> "},
    {Kind::kSendEscaped, ">e "},
    {Kind::kExpect, "< "},
    {Kind::kExpectUnordered, "<~ "},
    {Kind::kEndOfInput, "! end of input"},
    {Kind::kExpectEnd, "! end of output"},
    {Kind::kText, "#"},
};

std::string_view PrefixOf(Kind kind) {
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.kind == kind) return prefix.text;
  }
  return {};
}

Line ParseLine(const std::string& text, std::size_t number) {
  if (text.empty()) return {Kind::kText, text, number};
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    if (prefix.kind == Kind::kText) return {Kind::kText, text, number};
    return {prefix.kind, text.substr(prefix.text.size()), number};
  }
  throw std::runtime_error("line " + std::to_string(number) +
                           " is not part of a transcript: " + text);
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
      const int count = std::stoi(std::string(text.substr(i + 1, star - i - 1)));
      const std::string_view repeated = text.substr(star + 1, end - star - 1);
      if (repeated.size() == 1) {
        bytes.append(static_cast<std::size_t>(count), repeated.front());
      } else {
        for (int n = 0; n < count; ++n) bytes += repeated;
      }
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
  if (!upper) return std::nullopt;
  return std::string(name);
}

std::string Substitute(const std::string& text, const Bindings& bindings) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto name = PlaceholderAt(std::string_view(text).substr(i));
    const auto binding = name ? bindings.find(*name) : bindings.end();
    if (binding == bindings.end()) {
      result += text[i++];
    } else {
      result += binding->second;
      i += name->size() + 2;
    }
  }
  return result;
}

/// Whether `pattern` matches all of `line`; binds on the way, also on ways that lead nowhere.
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

/// What is not the same in any two runs becomes a placeholder again.
std::string Generalise(std::string line, const Bindings& bindings) {
  for (const auto& [name, value] : bindings) {
    for (auto at = line.find(value); at != std::string::npos; at = line.find(value, at)) {
      line.replace(at, value.size(), "<" + name + ">");
    }
  }
  static const std::regex kTaskId(R"("taskId":"[0-9a-f]{32}")");
  return std::regex_replace(line, kTaskId, R"("taskId":"<TASK>")");
}

std::string Excerpt(const std::string& line) {
  constexpr std::size_t kLongest = 2000;
  return line.size() <= kLongest ? line : line.substr(0, kLongest) + "…";
}

class Player {
 public:
  Player(const Transcript& transcript, Peer& peer) : lines_(transcript.lines), peer_(peer) {}

  Replay Run() {
    try {
      while (next_ < lines_.size()) Step();
    } catch (const std::runtime_error& error) {
      Flaw(lines_[std::min(next_, lines_.size() - 1)], "an answer", error.what());
      for (; next_ < lines_.size(); ++next_) Keep(lines_[next_], lines_[next_].text);
    }
    return std::move(replay_);
  }

 private:
  void Step() {
    const Line& line = lines_[next_];
    switch (line.kind) {
      case Kind::kText:
        Keep(line, line.text);
        break;
      case Kind::kSend:
        peer_.Send(Substitute(line.text, bindings_) + "\n");
        Keep(line, line.text);
        break;
      case Kind::kSendEscaped:
        peer_.Send(Unescape(line.text));
        Keep(line, line.text);
        break;
      case Kind::kEndOfInput:
        peer_.CloseInput();
        Keep(line, "");
        break;
      case Kind::kExpectEnd:
        ExpectEnd(line);
        break;
      case Kind::kExpect:
        Expect(line);
        break;
      case Kind::kExpectUnordered:
        ExpectGroup();
        return;
    }
    ++next_;
  }

  void Keep(const Line& line, const std::string& text) {
    if (line.kind != Kind::kText) replay_.rewritten += PrefixOf(line.kind);
    replay_.rewritten += text + "\n";
  }

  void Flaw(const Line& line, const std::string& expected, const std::string& got) {
    replay_.flaws.push_back("line " + std::to_string(line.number) +
                            "\n  expected: " + Excerpt(expected) + "\n  got:      " + Excerpt(got));
  }

  void ExpectEnd(const Line& line) {
    const auto got = peer_.ReadLine(kTimeout);
    if (got) {
      Flaw(line, "the end of output", *got);
      replay_.rewritten += "< " + Generalise(*got, bindings_) + "\n";
    }
    Keep(line, "");
  }

  void Expect(const Line& line) {
    const auto got = peer_.ReadLine(kTimeout);
    if (got && Matches(line.text, *got, bindings_)) {
      Keep(line, line.text);
      return;
    }
    Flaw(line, line.text, got.value_or("the end of output"));
    if (got) KeepAnswer(line, *got);
  }

  void KeepAnswer(const Line& line, const std::string& answer) {
    const std::string text = Generalise(answer, bindings_);
    Matches(text, answer, bindings_);  // binds what is new
    Keep(line, text);
  }

  void ExpectGroup() {
    std::vector<Line> expected;
    for (; next_ < lines_.size() && lines_[next_].kind == Kind::kExpectUnordered; ++next_) {
      expected.push_back(lines_[next_]);
    }
    const Line first = expected.front();
    for (std::size_t count = expected.size(); count > 0; --count) {
      const auto got = peer_.ReadLine(kTimeout);
      const auto match = std::find_if(expected.begin(), expected.end(), [&](const Line& line) {
        return got && Matches(line.text, *got, bindings_);
      });
      if (match == expected.end()) {
        Flaw(first, "one of the group", got.value_or("the end of output"));
        if (got) KeepAnswer(first, *got);
      } else {
        Keep(*match, match->text);
        expected.erase(match);
      }
    }
  }

  const std::vector<Line>& lines_;
  Peer& peer_;
  std::size_t next_ = 0;
  Bindings bindings_;
  Replay replay_;
};

}  // namespace

Transcript ReadTranscript(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  Transcript transcript;
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    transcript.lines.push_back(ParseLine(text, number));
    if (text == "# needs: fake tools") transcript.needs_fake_tools = true;
  }
  return transcript;
}

bool Matches(const std::string& pattern, const std::string& line, Bindings& bindings) {
  Bindings attempt = bindings;
  if (!MatchesFrom(pattern, line, attempt)) return false;
  bindings = std::move(attempt);
  return true;
}

Replay Play(const Transcript& transcript, Peer& peer) {
  return Player(transcript, peer).Run();
}

}  // namespace transcripts

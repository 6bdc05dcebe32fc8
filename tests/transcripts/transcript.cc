#include "transcript.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "suites/runner/suite.h"

namespace transcripts {
namespace {

using Kind = Line::Kind;
using suites::Matches;

Line ParseLine(const std::string& text, std::size_t number) {
  if (text.empty() || text.front() == '#') return {Kind::kText, "", text, number};
  constexpr std::pair<Kind, std::string_view> kPrefixes[] = {
      {Kind::kSend, "> "},
      {Kind::kSendEscaped, ">e "},
      {Kind::kExpect, "< "},
      {Kind::kExpectUnordered, "<~ "},
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
        peer_.Send(line.text + "\n");
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
        return got && Matches(line.text, *got);
      });
      if (match != expected.end()) {
        Keep(*match, match->text);
        expected.erase(match);
      } else {
        AddError(first, expected.front().text, got.value_or("the end of output"));
        if (!got) return;
        Keep(first, *got);
        expected.pop_back();
      }
    }
  }

  const std::vector<Line>& lines_;
  Peer& peer_;
  std::size_t next_ = 0;
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

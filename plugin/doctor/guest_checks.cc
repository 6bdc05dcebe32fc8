// SPDX-License-Identifier: Apache-2.0
#include "doctor/guest_checks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "copy/copy.h"
#include "copy/set_aside.h"
#include "doctor/programs.h"
#include "git/git.h"
#include "lima/sandbox.h"
#include "mcp/protocol.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using support::CommandError;
using support::Format;
using support::Join;

constexpr long kFewMegabytes = 1024;

std::string HostGit(const std::optional<fs::path>& git, const support::Context& context) {
  if (!git) return "";
  support::Child child({git->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  return child.Finish(context) == 0 ? version : "";
}

constexpr std::size_t kShownBytes = 200;  // of other programs' output

std::string Shorten(const std::string& text) {
  if (text.size() <= kShownBytes) return text;
  return std::string(support::CutText(text, kShownBytes)) + "...";
}

json RunCommand(ServerUnderTest& server, const json& words, const Mounts& mounts,
                const support::Context& context) {
  return server.CallTool("run_shell_command",
                         {{"command", words}, {"directory", mounts.front().location}}, context);
}

}  // namespace

std::string DescribeCopy(const lima::InstanceConfiguration& instance, const copy::CopyFacts& facts,
                         guest::Guest& guest, const support::Context& context) {
  std::error_code error_code;
  if (!fs::exists(facts.project, error_code)) {
    return Format(
        "{} (gone from this host. In the moved project: limactl mcp take {} --project {})",
        facts.project, instance.name, shell::ShellQuote(facts.project));
  }
  if (facts.sent.empty()) return Format("{} (incomplete)", facts.project);
  if (context.stop_reason() != support::StopReason::kNone)
    return Format("{} (not asked)", facts.project);
  try {
    copy::SideRepository side(copy::SidePlace(instance.directory(), facts.project));
    const copy::GuestState state = copy::QueryUntaken({side, guest, context});
    const std::string left = state.untaken.Summary();
    return Format("{} ({})", facts.project,
                  left.empty() ? "all taken" : Format("not taken: {}", left));
  } catch (const support::Error& error) {
    return Format("{} ({})", facts.project, error.what());
  }
}

CopyNeeds QueryCopyNeeds(guest::Guest& guest, const std::optional<fs::path>& git,
                         const support::Context& context) {
  std::istringstream answer(
      guest::CaptureScript(guest, {std::string(facts_program)}, context).output);
  CopyNeeds found{.host_git = HostGit(git, context)};
  std::string may_sudo;
  std::getline(answer, found.git);
  std::getline(answer, may_sudo);
  std::getline(answer, found.free_megabytes);
  found.may_sudo = may_sudo == "yes";
  std::string size;
  std::string name;
  while (std::getline(answer, size, '\t') && std::getline(answer, name))
    found.set_aside[name] = size;
  return found;
}

ClockReading ReadClock(guest::Guest& guest, const support::Context& context) {
  constexpr std::int64_t kLatest = 99'999'999'999;  // in the year 5138
  const auto now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())
        .time_since_epoch()
        .count();
  };
  ClockReading reading{.before = now()};
  const std::string printed = guest::CaptureScript(guest, {"date +%s"}, context).output;
  reading.after = now();
  const char* end = printed.data() + printed.size();
  const auto [rest, error] = std::from_chars(printed.data(), end, reading.guest);
  if (error == std::errc() && reading.guest >= 0 && reading.guest <= kLatest &&
      std::string_view(rest, end) == "\n") {
    return reading;
  }
  throw CommandError("`date +%s` prints no time in the guest, but \"{}\"", Shorten(printed));
}

Finding CheckClock(const lima::InstanceConfiguration& instance, const ClockReading& reading) {
  const std::chrono::seconds behind(reading.before - reading.guest);
  const std::chrono::seconds ahead(reading.guest - reading.after);
  const auto error = std::max(behind, ahead);
  if (error <= kClockTolerance) return Passed("right");
  const std::string restart = lima::RestartCommand(instance.name);
  const std::string set =
      Format("limactl shell {} sudo date -s \"@$(date +%s)\", or: ", instance.name);
  return Warning(Format("the guest's clock is about {} {}", support::FormatDuration(error),
                        ahead == error ? "ahead" : "behind"),
                 (instance.os == "Linux" ? set : "") + restart);
}

std::vector<std::string> DescribeSetAside(const lima::InstanceConfiguration& instance,
                                          const CopyNeeds& needs) {
  std::vector<std::string> lines;
  for (const copy::SetAside& each : copy::ListSetAside(instance.directory())) {
    const auto found = needs.set_aside.find(each.name);
    if (found == needs.set_aside.end()) continue;
    const long kilobytes = std::strtol(found->second.c_str(), nullptr, 10);
    lines.push_back(Format("{} ({} KB; limactl mcp drop {} --project {} --undo)",
                           each.facts.project, kilobytes, instance.name,
                           shell::ShellQuote(each.facts.project)));
  }
  return lines;
}

Finding CheckCopies(const std::vector<std::string>& copies, const std::vector<std::string>& aside,
                    const CopyNeeds& needs) {
  std::vector<std::string> problems;
  std::vector<std::string> advice;
  const auto warn = [&](const std::string& problem, const std::string& what_to_do) {
    problems.push_back(problem);
    advice.push_back(what_to_do);
  };
  if (!git::IsNewEnough(needs.host_git, 34)) {
    warn("no git 2.34 or newer on this host", "install git on this host");
  }
  if (!git::IsNewEnough(needs.git, 30)) {
    warn("no git 2.30 or newer in the guest", "in the guest: sudo apt-get install git");
  }
  if (!needs.may_sudo) {
    warn("sudo wants a password in the guest",
         "limactl mcp copy --copy-dir DIR, a directory that the guest's user can write");
  }
  if (std::strtol(needs.free_megabytes.c_str(), nullptr, 10) < kFewMegabytes) {
    warn("the guest has less than 1 GiB of disk space", "free some, or enlarge its disk");
  }
  std::string list = copies.empty() ? "none yet" : Format("copies of {}", Join(copies));
  if (!aside.empty()) list += Format("; set aside: {}", Join(aside));
  if (problems.empty()) return Passed(list);
  return Warning(Format("{}; {}", list, Join(problems, "; ")), Join(advice, "; "));
}

json ServerUnderTest::Request(const std::string& method, const json& params,
                              const support::Context& context) {
  const int id = next_id_++;
  const json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  child_.Write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  while (const std::optional<std::string> line = child_.ReadLine(context)) {
    const json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object())
      throw CommandError("it prints something that is not an MCP message: {}", Shorten(*line));
    if (message.value("id", json()) != json(id)) continue;  // a notification
    if (message.contains("result") && message["result"].is_object()) return message["result"];
    throw CommandError("{} returns: {}", method, Shorten(support::ToUtf8(*line)));
  }
  constexpr std::size_t kShown = 2048;
  const int exit_code = child_.Finish(context);
  const std::string& error = child_.error();
  throw CommandError("it exits with status {} during {}: {}", exit_code, method,
                     error.substr(error.size() - std::min(error.size(), kShown)));
}

json ServerUnderTest::CallTool(const std::string& name, const json& arguments,
                               const support::Context& context) {
  const json result = Request("tools/call", {{"name", name}, {"arguments", arguments}}, context);
  if (!result.value("isError", false)) return result.value("structuredContent", json::object());
  std::string text;
  for (const json& block : result.value("content", json::array())) text += block.value("text", "");
  throw CommandError("{}: {}", arguments.value("path", name), text);
}

Finding CheckServer(ServerUnderTest& server, const support::Context& context) {
  server.Request(
      "initialize",
      {{"protocolVersion", mcp::kNewestLegacyVersion},
       {"capabilities", json::object()},
       {"clientInfo", {{"name", "limactl-mcp-doctor"}, {"version", support::Version()}}}},
      context);
  const json tools = server.Request("tools/list", json::object(), context).value("tools", json());
  return Passed(Format("{} tools", tools.size()));
}

Finding CheckMounted(ServerUnderTest& server, const Mounts& mounts,
                     const support::Context& context) {
  if (mounts.empty()) return Skipped("there are no mounts");
  for (const lima::Mount& mount : mounts) {
    server.CallTool("list_directory", {{"path", mount.location}}, context);
  }
  return Passed(support::Count(mounts.size(), "mount"));
}

Finding CheckShell(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const std::string advice =
      "check the start-up files of the guest's user (~/.profile, ~/.bash_profile, ~/.bashrc)";
  const json result = RunCommand(server, {"true"}, mounts, context);
  const std::string printed = Shorten(result.value("stdout", "") + result.value("stderr", ""));
  const std::string error = result.value("error", "");
  if (!error.empty())
    return Failed(Format("`true` fails: {}; it prints: {}", error, printed), advice);
  if (printed.empty()) return Passed("runs commands");
  return Warning(Format("every command's output begins with text from startup files: {}", printed),
                 advice);
}

Finding CheckWrite(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  std::vector<std::string> written;
  for (const lima::Mount& mount : mounts) {
    if (!mount.writable) continue;
    const std::string file = mount.location + "/.limactl-mcp-doctor";
    server.CallTool("write_file", {{"path", file}, {"content", "limactl mcp doctor\n"}}, context);
    if (!std::filesystem::remove(file))
      throw CommandError("a file that the guest writes, {}, does not appear on the host", file);
    written.push_back(mount.location);
  }
  if (!written.empty()) return Passed(Join(written));
  return Warning("no mount is writable: the agent can only read",
                 "mount the project with `writable: true`");
}

Finding CheckFind(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const json result = RunCommand(server, {"find", ".", "-maxdepth", "0"}, mounts, context);
  if (result.value("exit_code", 1) == 0) return Passed("finds files");
  return Failed(Format("find fails: {}", Shorten(result.value("stderr", ""))),
                "install findutils in the guest");
}

Finding CheckGit(ServerUnderTest& server, const Mounts& mounts, const support::Context& context) {
  const json result = RunCommand(server, {"git", "--version"}, mounts, context);
  if (result.value("exit_code", 1) != 0) {
    return Warning("no git: search_file_content searches ignored files too",
                   "install git in the guest");
  }
  const std::string version = result.value("stdout", "");
  return Passed(version.substr(0, version.find('\n')));
}

}  // namespace doctor

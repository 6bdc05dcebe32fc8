// SPDX-License-Identifier: Apache-2.0
#include "doctor/guest_checks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "copy/set_aside.h"
#include "lima/sandbox.h"
#include "mcp/protocol.h"
#include "network/allow_list.h"
#include "shell/shell_quote.h"
#include "ssh/connection.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using support::Error;
using support::Format;
using support::Join;

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

/// The KB of each copy that is set aside in the guest, by SetAside::name.
std::map<std::string, std::string> QuerySizes(guest::Guest& guest,
                                              const support::Context& context) {
  std::istringstream answer(
      guest::CaptureScript(
          guest, {"cd ~/.cache/limactl-mcp/dropped 2>/dev/null && du -sk -- * 2>/dev/null; exit 0"},
          context)
          .output);
  std::map<std::string, std::string> sizes;
  std::string size;
  std::string name;
  while (std::getline(answer, size, '\t') && std::getline(answer, name)) sizes[name] = size;
  return sizes;
}

/// Of a command for the copy.
std::string Arguments(const fs::path& instance_directory, const copy::CopyFacts& facts) {
  return copy::SidePlace(instance_directory, facts.project, facts.name).arguments + " --project " +
         shell::ShellQuote(facts.project);
}

std::string DescribeCopy(const fs::path& instance_directory, const copy::CopyFacts& facts) {
  const std::string project = facts.project + (facts.name.empty() ? "" : " \"" + facts.name + "\"");
  std::error_code unknown;
  if (!fs::exists(facts.project, unknown)) {
    return Format("{} (gone from this host. In the moved project: limactl mcp take {})", project,
                  Arguments(instance_directory, facts));
  }
  return project + (facts.sent.empty() ? " (incomplete)" : "");
}

}  // namespace

Finding ListCopies(const lima::InstanceConfiguration& instance, guest::Guest* guest,
                   const support::Context& context) {
  std::vector<std::string> copies;
  for (const copy::CopyFacts& each : copy::ListFacts(instance.directory())) {
    copies.push_back(DescribeCopy(instance.directory(), each));
  }
  std::map<std::string, std::string> sizes;
  if (guest != nullptr) sizes = QuerySizes(*guest, context);
  std::vector<std::string> aside;
  for (const copy::SetAside& each : copy::ListSetAside(instance.directory())) {
    if (guest != nullptr && !sizes.contains(each.name)) continue;
    const long kilobytes = std::strtol(sizes[each.name].c_str(), nullptr, 10);
    aside.push_back(Format("{} ({}limactl mcp drop {} --undo)", each.facts.project,
                           guest == nullptr ? "" : Format("{} KB; ", kilobytes),
                           Arguments(instance.directory(), each.facts)));
  }
  std::string list = copies.empty() ? "none" : Format("copies of {}", Join(copies));
  if (!aside.empty()) list += Format("; set aside: {}", Join(aside));
  return Passed(list);
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
  throw Error("`date +%s` prints no time in the guest, but \"{}\"", Shorten(printed));
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
                 (instance.os == "Linux" && !instance.closed() ? set : "") + restart);
}

Finding CheckProxy(const lima::SshEndpoint& endpoint, const support::Context& context) {
  ssh::ConnectionOptions options;
  options.accept = [](support::FileDescriptor) {};  // closes it
  if (ssh::Connect(endpoint, options, context)->forwarded_port() != 0)
    return Passed("the guest's sshd forwards its port");
  return Warning("the guest's sshd refuses to forward its port, so no allowed site is reached",
                 "allow it in the guest's sshd_config: AllowTcpForwarding yes");
}

Finding CheckAllowed(const lima::InstanceConfiguration& instance) {
  const network::AllowList list = network::ReadAllowList(instance.directory());
  std::vector<std::string> sites;
  for (const network::Site& site : list.sites) sites.push_back(site.Text());
  const std::string text = sites.empty() ? "nothing" : Join(sites);
  if (list.invalid.empty()) return Passed(text);
  return Warning(Format("{}; lines that allow nothing: {}", text, Join(list.invalid)),
                 Format("limactl mcp allow {} NAME drops them", instance.name));
}

json ServerUnderTest::Request(const std::string& method, const json& params,
                              const support::Context& context) {
  const int id = next_id_++;
  const json request = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  child_.Write(request.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  while (const std::optional<std::string> line = child_.ReadLine(context)) {
    const json message = json::parse(*line, nullptr, /*allow_exceptions=*/false);
    if (!message.is_object())
      throw Error("it prints something that is not an MCP message: {}", Shorten(*line));
    if (message.value("id", json()) != json(id)) continue;  // a notification
    if (message.contains("result") && message["result"].is_object()) return message["result"];
    throw Error("{} returns: {}", method, Shorten(support::ToUtf8(*line)));
  }
  constexpr std::size_t kShown = 2048;
  const int exit_code = child_.Finish(context);
  const std::string& error = child_.error();
  throw Error("it exits with status {} during {}: {}", exit_code, method,
              error.substr(error.size() - std::min(error.size(), kShown)));
}

json ServerUnderTest::CallTool(const std::string& name, const json& arguments,
                               const support::Context& context) {
  const json result = Request("tools/call", {{"name", name}, {"arguments", arguments}}, context);
  if (!result.value("isError", false)) return result.value("structuredContent", json::object());
  std::string text;
  for (const json& block : result.value("content", json::array())) text += block.value("text", "");
  throw Error("{}: {}", arguments.value("path", name), text);
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
      throw Error("a file that the guest writes, {}, does not appear on the host", file);
    written.push_back(mount.location);
  }
  if (!written.empty()) return Passed(Join(written));
  return Warning("no mount is writable: the agent can only read",
                 "mount the project with `writable: true`");
}

}  // namespace doctor

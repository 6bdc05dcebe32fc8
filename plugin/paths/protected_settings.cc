#include "paths/protected_settings.h"

#include <algorithm>
#include <array>

#include "support/lower_case.h"

namespace paths {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kSettings = {".claude"sv,   ".codex"sv,    ".cursor"sv, ".gemini"sv,
                                  ".mcp.json"sv, ".opencode"sv, ".vscode"sv, ".zed"sv};
constexpr std::array kGitSettings = {"config"sv, "config.worktree"sv, "hooks"sv};

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool IsProtectedSetting(std::string_view path) {
  const std::string lower = support::LowerCase(path);
  std::string_view rest = lower;
  bool in_git = false;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (Contains(kSettings, name) || name.starts_with("opencode.json")) return true;
    if (in_git && Contains(kGitSettings, name)) return true;
    if (name == ".git") {
      if (rest.empty()) return true;  // it may name another git directory
      in_git = true;
    }
  }
  return false;
}

std::string ProtectedSettingText(const std::string& shown) {
  return shown +
         " is a settings file of an agent, an editor or git. Programs on the host may run commands "
         "from it, so the file tools do not write it. Ask the user to edit it on the host, or to "
         "start the server with --allow-settings.";
}

}  // namespace paths

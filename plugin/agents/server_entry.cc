#include "agents/server_entry.h"

#include <algorithm>

namespace agents {

std::string Path(const SettingsRequest& request, std::string_view project,
                 const std::string& user) {
  return request.user ? user : std::string(project);
}

std::vector<std::string> ServerCommand(const SettingsRequest& request, const char* root) {
  std::vector<std::string> command = request.launch;
  command.push_back(request.instance);
  command.insert(command.end(), request.options.begin(), request.options.end());
  const bool has_root =
      std::any_of(request.options.begin(), request.options.end(),
                  [](const std::string& option) { return option.starts_with("--root="); });
  if (!has_root) command.insert(command.end(), {"--root", root});
  return command;
}

Json CommandEntry(const std::vector<std::string>& command) {
  return {{"command", command.front()},
          {"args", std::vector<std::string>(command.begin() + 1, command.end())}};
}

Json CommandEntry(const SettingsRequest& request, const char* root) {
  Json entry = CommandEntry(ServerCommand(request, root));
  if (request.lima_home) entry["env"] = {{"LIMA_HOME", *request.lima_home}};
  return entry;
}

}  // namespace agents

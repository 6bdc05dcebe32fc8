#include "agents/server_entry.h"

namespace agents {

using configure::Json;

std::string Server() {
  return std::string(kServer);
}

std::string Path(const SettingsRequest& request, std::string_view project,
                 const std::string& user) {
  return request.user ? user : std::string(project);
}

Json ArgumentsFrom(const SettingsRequest& request, std::size_t first, std::string_view root) {
  Json arguments = Json::array();
  for (std::size_t i = first; i < request.launch.size(); ++i)
    arguments.push_back(request.launch[i]);
  arguments.push_back(request.instance);
  bool has_root = false;
  for (const std::string& option : request.options) {
    arguments.push_back(option);
    has_root |= option.starts_with("--root=");
  }
  if (!has_root) arguments.insert(arguments.end(), {"--root", root});
  return arguments;
}

void AddEnvironment(const SettingsRequest& request, const char* name, Json& entry) {
  if (request.lima_home) entry[name] = {{"LIMA_HOME", *request.lima_home}};
}

Json CommandEntry(const SettingsRequest& request, std::string_view root) {
  Json entry = {{"command", request.launch.front()}, {"args", ArgumentsFrom(request, 1, root)}};
  AddEnvironment(request, "env", entry);
  return entry;
}

}  // namespace agents

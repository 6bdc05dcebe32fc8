#include <algorithm>
#include <limits>

#include "lima/configuration.h"
#include "lima/yaml_document.h"

namespace lima {
namespace {

GuestUser ReadUser(const yaml::Mapping& user) {
  GuestUser result;
  result.name = user.String("name");
  result.home = user.String("home");
  result.home_where = user.Where("home");
  result.shell = user.String("shell");
  const auto uid = user.Number("uid", std::numeric_limits<std::uint32_t>::max());
  if (uid.has_value()) result.uid = static_cast<std::uint32_t>(*uid);
  return result;
}

std::map<std::string, Parameter, std::less<>> ReadParameters(const yaml::Mapping& param) {
  std::map<std::string, Parameter, std::less<>> result;
  for (const auto& [key, node] : param.entries()) {
    result[key] = {param.String(key).value_or(""), yaml::IsRewrittenByLima(*node)};
  }
  return result;
}

MountEntry ReadMount(const yaml::NodePointer& node, const std::string& file,
                     const std::string& what) {
  const yaml::Mapping mount(node, file, what);
  MountEntry entry;
  entry.where = file + ": " + what + " (line " + std::to_string(node->line) + ")";
  entry.location = mount.String("location").value_or("");
  entry.mount_point = mount.String("mountPoint");
  entry.writable = mount.Boolean("writable");
  entry.nine_p_cache = mount.Child("9p").String("cache");
  return entry;
}

std::vector<MountEntry> ReadMounts(const yaml::Mapping& top, const std::string& file) {
  std::vector<MountEntry> mounts;
  const yaml::NodePointer list = top.Sequence("mounts");
  if (list == nullptr) return mounts;
  if (list->items.size() > kMaximumMounts) {
    throw ConfigurationError(top.Where("mounts") + ": more than " + std::to_string(kMaximumMounts) +
                             " mounts");
  }
  for (const yaml::NodePointer& item : list->items) {
    mounts.push_back(ReadMount(item, file, "mounts[" + std::to_string(mounts.size()) + "]"));
  }
  return mounts;
}

bool NamesNineP(const yaml::NodePointer& mount_types) {
  return mount_types != nullptr && std::any_of(mount_types->items.begin(), mount_types->items.end(),
                                               [](const yaml::NodePointer& item) {
                                                 return item->kind == yaml::Kind::kScalar &&
                                                        item->text == "9p";
                                               });
}

}  // namespace

ConfigurationFile ParseConfiguration(std::string_view text, const std::string& file) {
  const yaml::Mapping top(yaml::Parse(text, file), file, "");
  ConfigurationFile result;
  result.plain = top.Boolean("plain");
  result.os = top.String("os");
  result.arch = top.String("arch");
  result.vm_type = top.String("vmType");
  result.mount_type = top.String("mountType");
  result.nine_p_is_unsupported = NamesNineP(top.Sequence("mountTypesUnsupported"));
  result.user = ReadUser(top.Child("user"));
  result.param = ReadParameters(top.Child("param"));
  result.mounts = ReadMounts(top, file);
  return result;
}

}  // namespace lima

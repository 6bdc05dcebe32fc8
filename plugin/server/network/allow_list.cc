// SPDX-License-Identifier: Apache-2.0
#include "network/allow_list.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "support/file_descriptor.h"
#include "support/files.h"
#include "support/words.h"

namespace network {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;

bool IsLetter(char c) {
  return c >= 'a' && c <= 'z';
}

bool IsLabel(std::string_view label) {
  const auto fits = [](char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' &&
         label.back() != '-' && std::all_of(label.begin(), label.end(), fits);
}

fs::path FileOf(const fs::path& instance_directory) {
  return instance_directory / "network.allow";
}

}  // namespace

std::string HostName(std::string_view text) {
  std::string name = support::LowerCase(text);
  if (name.ends_with('.')) name.pop_back();
  if (name.size() > kMaxName || name.ends_with('.')) return "";
  const std::vector<std::string> labels = support::Split(name, '.');
  // The system's resolver takes "1.0x2" for an address.
  const bool has_name = labels.size() > 1 && !labels.back().empty() && IsLetter(labels.back()[0]);
  return has_name && std::all_of(labels.begin(), labels.end(), IsLabel) ? name : "";
}

std::optional<Site> ParseSite(std::string_view text, std::uint16_t default_port) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  Site site{HostName(text.substr(0, colon)), default_port};
  const std::string_view port = text.substr(colon);
  if (!port.empty()) {
    const auto [end, error] =
        std::from_chars(port.data() + 1, port.data() + port.size(), site.port);
    if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  }
  return site.host.empty() || site.port == 0 ? std::nullopt : std::optional(site);
}

AllowList ReadAllowList(const fs::path& instance_directory) {
  const fs::path path = FileOf(instance_directory);
  const support::FileDescriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  AllowList list;
  if (!file.valid() && errno == ENOENT) return list;
  if (!file.valid()) {
    throw support::Error("cannot read {}: {}", path.string(),
                         errno == ELOOP ? "it is a link; remove it" : std::strerror(errno));
  }
  for (const std::string& line :
       support::Split(support::ReadFile(file, path, kMaxAllowList), '\n')) {
    if (const auto site = ParseSite(line)) {
      list.sites.insert(*site);
    } else if (!line.empty()) {
      list.invalid.push_back(line);
    }
  }
  return list;
}

void ChangeAllowList(const fs::path& instance_directory, const std::set<Site>& added,
                     const std::set<Site>& removed) {
  const support::FileDescriptor lock(
      ::open(instance_directory.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0)
    throw support::Error("cannot lock {}: {}", instance_directory.string(), std::strerror(errno));
  std::set<Site> sites = ReadAllowList(instance_directory).sites;
  sites.insert(added.begin(), added.end());
  for (const Site& site : removed) sites.erase(site);
  std::string text;
  for (const Site& site : sites) text += site.Text() + "\n";
  const fs::path path = FileOf(instance_directory);
  if (text.size() > kMaxAllowList)
    throw support::Error("{} would be too large: remove names from it", path.string());
  support::WriteText(path, text);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace network

// SPDX-License-Identifier: Apache-2.0
#include "exposure/links.h"

#include <cerrno>
#include <deque>
#include <filesystem>
#include <system_error>

#include "git/git.h"
#include "support/environment.h"
#include "support/paths.h"

namespace exposure {

namespace fs = std::filesystem;

void Walk(const std::string& directory, const std::string& names,
          const std::function<bool(const Step&)>& visit) {
  std::deque<std::string> rest;
  std::string reached = support::CleanPath(directory);
  const auto go = [&](const std::string& path) {
    if (path.starts_with('/')) reached = "/";
    const auto parts = git::Split(path, '/');
    rest.insert(rest.begin(), parts.begin(), parts.end());
  };
  int links = 0;
  Step step;
  for (go(names); !rest.empty();) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") reached = support::ParentPath(reached);
    if (name.empty() || name == "." || name == "..") continue;
    step.path = support::JoinPath(reached, name);
    step.error = ::lstat(step.path.c_str(), &step.status) == 0 ? 0 : errno;
    if (!visit(step)) return;
    if (!step.IsLink()) {
      reached = step.path;
      continue;
    }
    std::error_code error;
    const fs::path target = fs::read_symlink(step.path, error);
    if (error || ++links > support::kMaxLinks) return;
    go(target.string());
  }
  step.path = reached;
  step.error = ::lstat(reached.c_str(), &step.status) == 0 ? 0 : errno;
  step.is_end = true;
  visit(step);
}

std::vector<std::string> LinksIn(const std::string& directory) {
  std::vector<std::string> links;
  std::error_code error;
  for (fs::directory_iterator each(directory, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    std::error_code unknown;
    if (each->is_symlink(unknown)) links.push_back(each->path().string());
  }
  return links;
}

std::vector<std::pair<std::string, std::string>> WaysOfHost(const std::string& search_path) {
  std::vector<std::pair<std::string, std::string>> ways;
  for (const std::string& directory : git::Split(search_path, ':')) {
    ways.emplace_back(directory, kPathKey);
    if (!directory.starts_with('/')) continue;
    for (std::string& link : LinksIn(directory)) ways.emplace_back(std::move(link), kPathKey);
  }
  const std::string home = support::EnvironmentVariable("HOME");
  for (const std::string& directory : {home, home + "/.config"}) {
    if (home.empty()) continue;
    for (std::string& link : LinksIn(directory)) ways.emplace_back(std::move(link), kHomeKey);
  }
  return ways;
}

}  // namespace exposure

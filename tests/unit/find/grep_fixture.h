#pragma once

#include <optional>
#include <string>

#include "find/content_search.h"
#include "unit/find/search_fixture.h"

namespace find {

class Grep : public SearchFixture {
 protected:
  std::string Run(const std::string& pattern, const char* include = nullptr) {
    return RunIn("", pattern, include);
  }

  std::string RunIn(const std::string& directory, const std::string& pattern,
                    const char* include = nullptr, const std::string& file = "") {
    std::optional<IncludeFilter> filter;
    if (include != nullptr) filter.emplace(include);
    result_ = SearchContent(guest_,
                            {.directory = Path(directory).string(),
                             .file = file,
                             .pattern = pattern,
                             .include = filter ? &*filter : nullptr,
                             .maximum_output_bytes = maximum_output_bytes_},
                            context_);
    return result_.lines;
  }

  std::string ErrorOf(const std::string& pattern) {
    try {
      return "found: " + Run(pattern);
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  void PutFirst(const std::string& name, const std::string& script) {
    const auto path = Outside("programs") / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    guest_.setup = "PATH=" + Outside("programs").string() + ":$PATH; export PATH; ";
  }

  /// All that is used without git.
  void WithoutGit() {
    guest_.OfferOnly(Outside("few"), {{"sh", "/bin/sh"},
                                      {"find", FindProgram("find")},
                                      {"sort", FindProgram("sort")},
                                      {"xargs", FindProgram("xargs")},
                                      {"grep", FindProgram("grep")},
                                      {"cat", FindProgram("cat")}});
  }

  std::size_t maximum_output_bytes_ = std::size_t{1} << 20;
  SearchResult result_;
};

}  // namespace find

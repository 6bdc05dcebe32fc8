#include "find/include_filter.h"

#include <algorithm>
#include <utility>

namespace find {
namespace {

std::string Pathspec(const GlobAlternative& alternative) {
  std::string pathspec = ":(glob)";
  for (std::size_t i = 0; i < alternative.components.size(); ++i) {
    const GlobComponent& component = alternative.components[i];
    if (i > 0) pathspec += '/';
    pathspec += component.is_any_depth ? "**" : component.name_filter;
  }
  return pathspec;
}

}  // namespace

IncludeFilter::IncludeFilter(std::string_view include) {
  const GlobComponent any_depth = ParseGlob("**").front().components.front();
  std::vector<GlobAlternative> patterns;
  for (GlobAlternative& alternative : ParseGlob(include)) {
    if (alternative.absolute) {
      ThrowGlobError(include, 0,
                     "include is for names below the searched directory and cannot begin with '/': "
                     "give that directory as the path");
    }
    const bool slash_free = alternative.components.size() == 1 && !alternative.directories_only;
    const bool may_name_directory =
        alternative.directories_only || alternative.LiteralNames() == alternative.components.size();
    if (slash_free) {
      if (!alternative.components.front().is_any_depth) {
        alternative.components.insert(alternative.components.begin(), any_depth);
      }
    } else if (may_name_directory) {
      GlobAlternative below = alternative;
      below.components.push_back(any_depth);
      below.directories_only = false;
      patterns.push_back(std::move(below));
    }
    if (!alternative.directories_only) patterns.push_back(std::move(alternative));
  }
  for (const GlobAlternative& pattern : patterns) {
    std::string pathspec = Pathspec(pattern);
    if (std::find(pathspecs_.begin(), pathspecs_.end(), pathspec) == pathspecs_.end()) {
      pathspecs_.push_back(std::move(pathspec));
    }
  }
  name_filters_ = NameFilters(patterns);
  matcher_.emplace(std::move(patterns), true);
}

bool IncludeFilter::Matches(std::string_view path) const {
  return matcher_->Match(path, false) != GlobMatch::kNone;
}

}  // namespace find

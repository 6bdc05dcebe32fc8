#pragma once

#include <string>
#include <vector>

#include "find/find_listing.h"
#include "support/errors.h"
#include "unit/find/search_fixture.h"

namespace find {

/// Lists a directory tree of this machine.
class FindListing : public SearchFixture {
 protected:
  /// The names of all that ListTrees tells of, with the number of the request where there are more
  /// than one, and " ignored" behind what is; gaps_ has what could not be looked at.
  std::vector<std::string> Names(const std::vector<ListingRequest>& requests) {
    std::vector<std::string> names;
    const auto visit = [&](std::size_t request, const ListedName& name) {
      names.push_back((requests.size() > 1 ? std::to_string(request) + ":" : "") +
                      std::string(name.path) + (name.ignored_names > 0 ? " ignored" : ""));
    };
    gaps_ = ListTrees(guest_, requests, visit, context_);
    return names;
  }

  /// What ListTrees says when it is to list everything in `guest`.
  std::string ErrorOf(guest::Guest& guest) {
    try {
      ListTrees(
          guest, {Everything()}, [](std::size_t, const ListedName&) {}, context_);
      return "no error";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  /// All below the tree's top.
  ListingRequest Everything() {
    ListingRequest request;
    request.directory = Path("").string();
    request.wants_ignored = true;
    return request;
  }

  /// BusyBox's find and stat, and nothing else.
  bool OfferBusyBox() {
    const std::string busybox = FindProgram("busybox");
    if (busybox.empty()) return false;
    guest_.OfferOnly(Outside("programs"), {{"find", busybox},
                                           {"stat", busybox},
                                           {"sh", busybox},
                                           {"cat", busybox},
                                           {"git", FindProgram("git")}});
    return true;
  }

  ListingGaps gaps_;
};

}  // namespace find

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "integration/fixture.h"

namespace integration {

/// One directory, "root", and guests that differ in the programs that they have.
class SearchGuests : public IntegrationTest {
 protected:
  void SetUp() override { MakeDirectory("root"); }

  /// The git that guests have: this machine's, or the one in the directory that GUEST_GIT names.
  static std::string UsualPath();

  /// A directory with nothing but links to these programs.
  std::string PathWithOnly(const std::string& name, const std::vector<std::string>& programs);

  /// Starts a guest whose commands find programs on `path`, and a server for it.
  testing_support::McpClient& StartGuest(const std::string& name, const std::string& path);

  /// The lines that a search finds, or "error: " and the text of the error.
  std::string Search(testing_support::McpClient& client, nlohmann::json arguments);
  /// Paths relative to the root, sorted; an error likewise.
  std::vector<std::string> Find(testing_support::McpClient& client, nlohmann::json arguments);

  /// Runs git in `directory`, without the user's configuration.
  void RunGit(const std::string& directory, std::vector<std::string> arguments);

  const std::string root = Path("root").string();
};

}  // namespace integration

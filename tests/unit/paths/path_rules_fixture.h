#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "paths/path_rules.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace paths {

/// The roots are GUEST/work (writable, on the host /host/work) and GUEST/library (read-only, the
/// same name on the host). GUEST/outside is not a root.
class PathRulesTest : public ::testing::Test {
 protected:
  PathRulesTest() {
    for (const char* name : {"work", "library", "outside"}) {
      std::filesystem::create_directory(top / name);
    }
    WriteFile(top / "work/file", "text");
    WriteFile(top / "library/book", "text");
    WriteFile(top / "outside/secret", "secret");
    options.instance = "default";
    options.roots = {{.host = "/host/work", .guest = Guest("work"), .writable = true},
                     {.host = Guest("library"), .guest = Guest("library"), .writable = false}};
  }

  static void WriteFile(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path) << text;
  }

  [[nodiscard]] std::string Guest(const std::string& below) const { return (top / below).string(); }

  ResolvedPath Resolve(const std::string& path, Access access = Access::kRead) {
    return rules().Resolve(path, access, guest, {});
  }

  std::string Refusal(const std::string& path, Access access = Access::kRead) {
    try {
      const ResolvedPath resolved = Resolve(path, access);
      ADD_FAILURE() << path << " was not refused but resolved to " << resolved.guest;
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  PathRules& rules() {
    if (!rules_) rules_ = std::make_unique<PathRules>(options);
    return *rules_;
  }

  testing_support::TemporaryDirectory directory;
  std::filesystem::path top = directory.path();
  testing_support::LocalGuest guest;
  PathRules::Options options;

 private:
  std::unique_ptr<PathRules> rules_;
};

}  // namespace paths

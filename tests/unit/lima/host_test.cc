#include "lima/host.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>

#include "lima/configuration_error.h"

namespace {

/// If true, the user database is empty.
bool database_is_empty = false;

}  // namespace

// Replaces the system's function.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int getpwuid_r(uid_t uid, passwd* entry, char* room, std::size_t size, passwd** found) {
  *found = nullptr;
  if (database_is_empty) return 0;
  using Function = int(uid_t, passwd*, char*, std::size_t, passwd**);
  auto* const systems = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "getpwuid_r"));
  return systems(uid, entry, room, size, found);
}

namespace lima {
namespace {

/// Sets an environment variable until it is destroyed.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value, 1);
  }
  ~ScopedVariable() {
    if (old_.has_value()) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(HostFacts, ComeFromTheEnvironmentAndTheUserDatabase) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const ScopedVariable temp("TMPDIR", "/nowhere/tmp");
  const HostFacts facts = ReadHostFacts();
  EXPECT_EQ(facts.home, "/nowhere/me");
  EXPECT_EQ(facts.temp_dir, "/nowhere/tmp");
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_NE(facts.user, "");
  EXPECT_NE(facts.arch, "");
  EXPECT_NE(facts.arch, "arm64") << "Lima writes aarch64";
  const ScopedVariable no_temp("TMPDIR", "");
  EXPECT_EQ(ReadHostFacts().temp_dir, "/tmp");
}

TEST(HostFacts, RequireAnAbsoluteHome) {
  const ScopedVariable home("HOME", "me");
  EXPECT_THROW(ReadHostFacts(), ConfigurationError);
}

TEST(HostFacts, NameAnUnknownUserAfterTheEnvironment) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const ScopedVariable user("USER", "bob");
  database_is_empty = true;
  EXPECT_EQ(ReadHostFacts().user, "bob");
  const ScopedVariable nobody("USER", "");
  EXPECT_THROW(ReadHostFacts(), ConfigurationError);
  database_is_empty = false;
}

}  // namespace
}  // namespace lima

#include "lima/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "lima/configuration_error.h"

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

}  // namespace
}  // namespace lima

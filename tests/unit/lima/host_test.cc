#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lima/home.h"
#include "lima/text_file.h"
#include "support/environment.h"

namespace lima {
namespace {

/// Restores the variables that a test sets.
class HostFactsTest : public testing::Test {
 protected:
  ~HostFactsTest() override {
    Set("HOME", home_);
    Set("TMPDIR", temp_);
  }
  static void Set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

 private:
  const std::string home_ = support::EnvironmentVariable("HOME");
  const std::string temp_ = support::EnvironmentVariable("TMPDIR");
};

TEST_F(HostFactsTest, ComeFromTheEnvironmentAndTheUserDatabase) {
  Set("HOME", "/nowhere/me");
  Set("TMPDIR", "/nowhere/tmp");
  const HostFacts facts = ReadHostFacts();
  EXPECT_EQ(facts.home, "/nowhere/me");
  EXPECT_EQ(facts.temp_dir, "/nowhere/tmp");
  EXPECT_EQ(facts.uid, ::getuid());
  EXPECT_NE(facts.user, "");
  EXPECT_NE(facts.arch, "");
  EXPECT_NE(facts.arch, "arm64") << "Lima writes aarch64";
  Set("TMPDIR", "");
  EXPECT_EQ(ReadHostFacts().temp_dir, "/tmp");
  Set("HOME", "me");
  EXPECT_THROW(ReadHostFacts(), ConfigurationError) << "not absolute";
}

}  // namespace
}  // namespace lima

#include "lima/host.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>

#include "lima/configuration_error.h"

namespace {

// Stands for the user database for as long as it lives.
class FakeUserDatabase {
 public:
  // `name`: of every user; null: it knows nobody. An entry takes `entry_size` bytes.
  FakeUserDatabase(const char* name, std::size_t entry_size)
      : name_(name), entry_size_(entry_size) {
    Present() = this;
  }
  ~FakeUserDatabase() { Present() = nullptr; }
  FakeUserDatabase(const FakeUserDatabase&) = delete;
  FakeUserDatabase& operator=(const FakeUserDatabase&) = delete;

  int Find(passwd* entry, char* room, std::size_t size, passwd** found) const {
    *found = nullptr;
    if (name_ == nullptr) return 0;
    if (size < entry_size_) return ERANGE;
    entry->pw_name = room;
    std::string(name_).copy(room, size - 1);
    room[std::string(name_).size()] = '\0';
    *found = entry;
    return 0;
  }

  // Null where there is none.
  static const FakeUserDatabase*& Present() {
    static const FakeUserDatabase* present = nullptr;
    return present;
  }

 private:
  const char* name_;
  std::size_t entry_size_;
};

}  // namespace

// Takes the place of the system's, which it asks where there is no fake.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" int getpwuid_r(uid_t uid, passwd* entry, char* room, std::size_t size, passwd** found) {
  const FakeUserDatabase* fake = FakeUserDatabase::Present();
  if (fake != nullptr) return fake->Find(entry, room, size, found);
  using Function = int(uid_t, passwd*, char*, std::size_t, passwd**);
  auto* const systems = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "getpwuid_r"));
  return systems(uid, entry, room, size, found);
}

namespace lima {
namespace {

// Sets an environment variable for as long as it lives.
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
}

TEST(HostFacts, TempDirIsTmpByDefault) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const ScopedVariable temp("TMPDIR", "");
  EXPECT_EQ(ReadHostFacts().temp_dir, "/tmp");
}

TEST(HostFacts, WantAnAbsoluteHome) {
  const ScopedVariable home("HOME", "me");
  EXPECT_THROW(ReadHostFacts(), ConfigurationError);
}

TEST(HostFacts, LargeEntryOfTheUserDatabaseIsRead) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const FakeUserDatabase database("alice", 10'000);
  EXPECT_EQ(ReadHostFacts().user, "alice");
}

TEST(HostFacts, UserWhomTheDatabaseDoesNotKnowIsNamedByTheEnvironment) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const ScopedVariable user("USER", "bob");
  const FakeUserDatabase without_users(nullptr, 0);
  EXPECT_EQ(ReadHostFacts().user, "bob");
  const FakeUserDatabase endless("alice", std::size_t{1} << 30);
  EXPECT_EQ(ReadHostFacts().user, "bob");
}

TEST(HostFacts, UserWhomNobodyNamesIsAnError) {
  const ScopedVariable home("HOME", "/nowhere/me");
  const ScopedVariable user("USER", "");
  const FakeUserDatabase without_users(nullptr, 0);
  try {
    ReadHostFacts();
    FAIL();
  } catch (const ConfigurationError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("user " + std::to_string(::getuid()) +
                                                 " has no entry in the user database"));
  }
}

}  // namespace
}  // namespace lima

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing/child_process.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace find {

using testing_support::FindProgram;

/// A directory tree, and a guest that sees it.
class SearchFixture : public testing::Test {
 protected:
  SearchFixture() {
    std::filesystem::create_directories(Path(""));
    guest_.setup = "HOME='" + temporary_.path().string() + "'; ";
  }

  /// Below the searched tree, and beside it.
  [[nodiscard]] std::filesystem::path Path(const std::string& relative) const {
    return relative.empty() ? temporary_.path() / "tree" : temporary_.path() / "tree" / relative;
  }
  [[nodiscard]] std::filesystem::path Outside(const std::string& relative) const {
    return temporary_.path() / relative;
  }

  void Write(const std::string& relative, const std::string& content = "") const {
    std::filesystem::create_directories(Path(relative).parent_path());
    std::ofstream(Path(relative), std::ios::binary) << content;
  }

  /// `seconds` after the beginning of 2020.
  void SetTime(const std::string& relative, int seconds, int nanoseconds = 0) const {
    const timespec time{1577836800 + seconds, nanoseconds};
    const timespec times[2] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, Path(relative).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }

  /// Runs git in `relative`.
  void Git(const std::string& relative, const std::string& arguments) const {
    const std::string command = "cd '" + Path(relative).string() +
                                "' && git -c user.name=t -c user.email=t@t " + arguments +
                                " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  /// Makes the guest's commands run as an ordinary user. Returns false if that is not possible.
  bool ActAsOrdinaryUser() { return ActAsOrdinaryUser(guest_); }
  bool ActAsOrdinaryUser(testing_support::LocalGuest& guest) const {
    if (geteuid() != 0) return true;
    const std::string program = FindProgram("setpriv");
    if (program.empty()) return false;
    // Nothing after the semicolon runs.
    guest.setup += "exec " + program +
                   " --reuid=65534 --regid=65534 --clear-groups /bin/sh -c 'exec /bin/sh'; ";
    std::filesystem::permissions(temporary_.path(), std::filesystem::perms(0755));
    return true;
  }

  [[nodiscard]] int Runs() const { return guest_.runs(); }

  testing_support::TemporaryDirectory temporary_;
  testing_support::LocalGuest guest_;
  support::Context context_ = support::Context().WithTimeout(std::chrono::seconds(60));
};

}  // namespace find

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "integration/fixture.h"

/// A project, the loopback instance "agent" without mounts, and the project's copy in another
/// directory, since host and guest are one machine.
namespace integration {

/// Path -> "- TEXT", "x TEXT" (executable), "> TARGET" (link) or "?" (anything else).
using Files = std::map<std::string, std::string>;

/// The files below a directory, at any depth, but those of its own `.git`.
Files FilesOf(const fs::path& directory);

/// Path -> type, mode, time of the last change and content. Directories end in "/". git renews the
/// times of objects and of shared indexes that it uses, so these have none.
using Snapshot = std::map<std::string, std::string>;
Snapshot SnapshotOf(const fs::path& directory);

/// "new PATH", "gone PATH", "changed PATH".
std::vector<std::string> Changes(const Snapshot& before, const Snapshot& after);
/// All but what `take` may add to the user's repository: a pack, a branch below agent/, its reflog.
std::vector<std::string> ChangesButABranch(const Snapshot& before, const Snapshot& after);

/// Its seed is LIMACTL_MCP_SEED, or always the same; it is printed.
std::mt19937 SeededRandom();

class CopyTest : public IntegrationTest {
 protected:
  CopyTest();

  /// The guest's PATH begins with the directory "guest-bin", the program's with "host-bin".
  void StartAgent();

  /// Makes `name`/project with `script`, after kRepository; the copy will be `name`-copy.
  void MakeProject(const std::string& name, const std::string& script = "base project");

  /// Runs sh with a fixed identity, date and configuration of git. Returns its output; a failure
  /// fails the test.
  std::string Shell(const fs::path& directory, const std::string& script) const;
  std::string InProject(const std::string& script) const { return Shell(project, script); }
  std::string InCopy(const std::string& script) const { return Shell(copy, script); }

  [[nodiscard]] ChildProcess::Options CommandOptions(const Command& words) const;
  /// `limactl-mcp WORDS` in the project.
  [[nodiscard]] ProcessResult Run(const Command& words) const;
  /// One that must succeed; its two outputs.
  ProcessResult Succeed(const Command& words) const;
  /// One that must fail with one printable line, which it returns.
  std::string Fail(const Command& words) const;
  ProcessResult SendCopy() const { return Succeed({"copy", "--copy-dir", copy}); }

  /// The files of a commit that the project has, as a plain checkout has them.
  Files FilesOfCommit(const std::string& commit) const;

  /// The side repository; fails the test if there is not exactly one.
  [[nodiscard]] fs::path SideRepository() const;
  /// What a refused pack must not change: the side repository's objects and refs.
  [[nodiscard]] Snapshot Kept() const;

  /// Makes `trap`, a program that records in "ran-on-host" that limactl-mcp or its git started it,
  /// and in "ran-in-guest" that the guest's did.
  void MakeTrap();
  /// What the trap recorded.
  [[nodiscard]] std::string Ran(const std::string& where) const;

  fs::path project;
  fs::path copy;
};

/// Functions for the scripts of MakeProject.
extern const char kRepository[];

}  // namespace integration

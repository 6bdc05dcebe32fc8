// SPDX-License-Identifier: Apache-2.0
#include "exposure/git_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace exposure {
namespace {

struct Setting {
  std::string key;
  std::string value;
  std::vector<std::string> names;     ///< files in the project that it names
  std::vector<std::string> others{};  ///< files that it does not name
};

const std::vector<Setting> kSettings = {
    {"filter.lfs.clean", "git-lfs clean -- %f", {"git-lfs"}, {"clean", "%f", "--"}},
    {"filter.lfs.smudge", "git-lfs smudge -- %f", {}, {"smudge"}},
    {"filter.lfs.process", "git-lfs filter-process", {}, {"filter-process"}},
    {"filter.x.clean", "clean", {"clean"}},
    {"filter.x.clean", "./clean %f", {"clean"}},
    {"filter.x.clean", "sh ./clean.sh", {"clean.sh"}},
    {"filter.x.clean", "sed s.a.b.", {"sed"}, {"s.a.b."}},
    {"filter.x.smudge", "python3 tools/smudge --mode fast", {"tools/smudge"}, {"fast", "mode"}},
    {"alias.x", "log --oneline", {}, {"oneline"}},
    {"alias.x", "!make check", {}, {"check"}},
    {"alias.x", "!f() { git add -A; lib/run src; }; f", {"lib/run"}, {"add", "src"}},
    {"core.editor", "code --wait", {}, {"wait"}},
    {"core.pager", "less -R", {}, {"R"}},
    {"core.sshCommand", "ssh -i keys/id -Fkeys/config", {"keys/id", "keys/config"}, {"i"}},
    {"core.fsmonitor", "watch main", {"watch"}, {"main"}},
    {"diff.external", "difft --color always", {"difft"}, {"always"}},
    {"diff.x.textconv", "pandoc -t plain", {}, {"plain", "t"}},
    {"merge.x.driver", "merge-tool %O %A %B", {}, {"%A"}},
    {"mergetool.x.cmd", "meld \"$LOCAL\" \"$MERGED\"", {}, {"$LOCAL"}},
    {"credential.helper", "store --file creds/all", {"creds/all"}, {"file"}},
    {"credential.helper", "cache --timeout 900", {}, {"timeout", "900"}},
    {"gpg.program", "my gpg", {"my gpg", "my"}, {"gpg"}},
    {"core.attributesfile", "my attributes", {"my attributes"}, {"attributes"}},
    {"core.hookspath", "hooks", {"hooks"}},
};

TEST(GitSettings, NameTheProgramAndArgumentsThatCanBeFiles) {
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.key + " = " + setting.value);
    const std::vector<std::string> named = NamedPaths(setting.key, setting.value, "/project");
    for (const std::string& name : setting.names) {
      EXPECT_THAT(named, testing::Contains("/project/" + name));
    }
    for (const std::string& name : setting.others) {
      EXPECT_THAT(named, testing::Not(testing::Contains("/project/" + name)));
    }
  }
}

}  // namespace
}  // namespace exposure

// SPDX-License-Identifier: Apache-2.0
// A copy whose owner, the guest, lies to `diff` and `take`.

#include <sys/resource.h>

#include <cstdint>
#include <string_view>

#include "integration/copy_fixture.h"
#include "support/sha256.h"

namespace integration {
namespace {

using ::testing::ContainsRegex;

/// For scripts in the copy. $bin is the first directory of the guest's PATH, $trap must not run.
const char kGuest[] = R"sh(
# The guest's git runs standard input as a script when WORD is among its arguments.
fake() { { printf '#!/bin/sh\n'; cat; } > "$bin/fake-$1"; chmod +x "$bin/fake-$1"; }
blob=$(echo x | git hash-object -w --stdin)
entry() { printf '%s blob %s\t%s\n' "$1" "$blob" "$2"; }            # MODE NAME
file() { blob=$(git hash-object -w --stdin); entry 100644 "$1" | git mktree; }  # NAME, content
within() { printf '040000 tree %s\t%s\n' "$1" "$2" | git mktree; }  # TREE NAME
raw() { git hash-object -t "${1:-tree}" -w --literally --stdin; }
tip() { git update-ref HEAD "$(git commit-tree -p HEAD -m x "$1")"; }
work() { tip "$1"; echo "echo $1" | fake write-tree; for word in diff-index diff-tree; do fake $word < /dev/null; done; }
echo work >> file.txt
)sh";

struct Lie {
  std::string name;
  std::string script;       ///< in the copy, after kGuest
  std::string answer = {};  ///< a regular expression for what `take` says; empty: it succeeds
  Command options = {};
};

const char kUnsound[] = "What the guest sent is not sound.*Nothing was changed";
const char kTooLarge[] = "has more than 1MiB; raise --max-size. Nothing was changed";
const char kDamaged[] = "\\.git is (gone|damaged)";

std::vector<Lie> NamesThatNoTreeMayHave() {
  std::vector<Lie> lies;
  for (const char* name : {".git", ".GIT", ".gIt", ".git ", ".git.", ".git...", "git~1", "GIT~1",
                           ".git::$INDEX_ALLOCATION", ".g\\342\\200\\214it", "..", "."}) {
    lies.push_back(
        {name, "tip \"$(entry 100644 \"$(printf '" + std::string(name) + "')\" | git mktree)\"",
         kUnsound});
  }
  return lies;
}

const std::vector<Lie> kUnsoundObjects = {
    {"name with a slash",
     "tip \"$(git cat-file tree \"$(entry 100644 'a#b' | git mktree)\" | tr '#' / | raw)\"",
     kUnsound},
    {"empty name",
     "tip \"$(git cat-file tree \"$(entry 100644 '#' | git mktree)\" | tr -d '#' | raw)\"",
     kUnsound},
    {".git far below", "tip \"$(within \"$(within \"$(entry 100644 .git | git mktree)\" a)\" b)\"",
     kUnsound},
    {"one name twice", "tip \"$({ entry 100644 a; entry 100755 a; } | git mktree)\"", kUnsound},
    {"wrong order", R"sh(
      a=$(entry 100644 a | git mktree); b=$(entry 100644 b | git mktree)
      tip "$({ git cat-file tree "$b"; git cat-file tree "$a"; } | raw)")sh",
     kUnsound},
    {".gitmodules that is a link", "tip \"$(entry 120000 .gitmodules | git mktree)\"", kUnsound},
    {"submodule whose URL is an option", R"sh(
      tip "$(printf '[submodule "x"]\npath = x\nurl = --upload-pack=x\n' | file .gitmodules)")sh",
     kUnsound},
    {"submodule whose path is an option", R"sh(
      tip "$(printf '[submodule "x"]\npath = -x\nurl = /x\n' | file .gitmodules)")sh",
     kUnsound},
    {"submodule whose name leads out", R"sh(
      tip "$(printf '[submodule "../../x"]\npath = x\nurl = /x\n' | file .gitmodules)")sh",
     kUnsound},
    {"commit without an author",
     "git update-ref HEAD \"$(git cat-file commit HEAD | sed /^author/d | raw commit)\"", kUnsound},
    {"blob as the commit", "echo \"echo $blob\" | fake commit-tree", kUnsound},
    {"tree as the commit", "echo \"echo $(git rev-parse HEAD:)\" | fake commit-tree", kUnsound},
    {"missing blob", R"sh(
      git commit -qam x; printf '%s\n' "$(git rev-parse HEAD)" "$(git rev-parse HEAD:)" > ../ids
      echo "cat >/dev/null; git pack-objects --stdout < $PWD/../ids" | fake --revs)sh",
     kUnsound},
    {"missing commit", "echo 'cat >/dev/null; git pack-objects --stdout </dev/null' | fake --revs",
     kUnsound},
};

const std::vector<Lie> kStreams = {
    {"nothing", "echo 'cat >/dev/null' | fake pack-objects", kUnsound},
    {"garbage", "echo 'head -c 100000 /dev/urandom' | fake pack-objects", kUnsound},
    {"half a pack", "echo 'git \"$@\" | head -c 100' | fake --revs", kUnsound},
    {"pack without an end",
     R"sh(
      printf '\060\170\234\003\000\000\000\000\001' > ../empty-blob
      i=0; while [ $i -lt 12 ]; do cat ../empty-blob ../empty-blob > ../two; mv ../two ../empty-blob; i=$((i+1)); done
      printf '%s\n' "printf 'PACK\0\0\0\2\0\377\377\377'; while cat $PWD/../empty-blob; do :; done" | fake pack-objects)sh",
     kTooLarge,
     {"--max-size", "1MiB"}},
    {"too large", "head -c 3000000 /dev/urandom > large", kTooLarge, {"--max-size", "1MiB"}},
    {"object of a terabyte", R"sh(
      printf '%s\n' 'printf "PACK\0\0\0\2\0\0\0\1\257\377\377\377\377\377\17"; cat /dev/zero' | fake pack-objects)sh",
     kUnsound},
};

const std::vector<Lie> kAnswers = {
    {"errors without an end", R"sh(
      printf '%s\n' 'yes "$(printf "\033]0;x\007error")" | head -c 50000000 >&2; exit 1' | fake pack-objects)sh",
     "reports too much"},
    {"reports that are too long", "echo 'head -c 5000000 /dev/zero | tr -c y y' | fake commit-tree",
     "reports too much"},
    {"branches without an end", R"sh(
      echo "seq -f %040.0f 2000" | fake rev-list
      echo "seq -f '%040.0f refs/heads/x' 2000" | fake for-each-ref)sh",
     "reports too much"},
    {"id that is a command", "echo 'echo \"\\$(touch x);x\"' | fake commit-tree",
     "invalid reply.*Nothing was changed.*limactl mcp doctor"},
    {"id that is an escape", "printf '%s\\n' \"printf '\\033]0;x\\007\\n'\" | fake commit-tree",
     "invalid reply.*Nothing was changed.*limactl mcp doctor"},
    {"no answer", "echo 'exit 1' | fake write-tree", "agent"},
    {"a milliard paths", R"sh(
      tree=$(entry 100644 a | git mktree)
      for level in 1 2 3 4 5 6 7 8 9; do
        tree=$(for name in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' "$tree" $name; done | git mktree)
      done
      work "$tree")sh",
     "more than 1,000,000 files.*Nothing was changed"},
    {"a path of 5,000 bytes", R"sh(
      tree=$(entry 100644 a | git mktree); name=$(printf %0250d 0); i=0
      while [ $i -lt 20 ]; do tree=$(within "$tree" "$name"); i=$((i+1)); done
      work "$tree")sh",
     "above 4,096 bytes.*Nothing was changed"},
};

const std::vector<Lie> kPlanted = {
    {"hooks", R"sh(
      mkdir -p .git/hooks; for hook in pre-commit post-checkout post-index-change post-rewrite \
        reference-transaction pre-auto-gc post-commit; do ln -s "$trap" .git/hooks/$hook; done)sh"},
    {"programs in the configuration", R"sh(
      for key in core.fsmonitor core.pager core.editor core.sshCommand core.alternateRefsCommand \
        core.gitProxy diff.external diff.x.textconv diff.x.command gpg.program credential.helper \
        uploadpack.packObjectsHook filter.x.smudge; do git config $key "$trap"; done
      git config core.hooksPath "$(dirname "$trap")"; git config commit.gpgSign true
      mkdir -p .git/info; echo '*.txt diff=x' > .git/info/attributes)sh"},
    {"attributes", "printf '* -diff\\n*.txt diff=x filter=x\\n' > .gitattributes"},
    {"another working tree", "git config core.worktree /tmp; git config core.bare true"},
    {"no working tree", "git config core.bare true"},
    {"objects of others",
     "mkdir -p .git/objects/info; echo /nowhere > .git/objects/info/alternates"},
    {"another common directory", R"sh(
      cp -R .git ../evil; git --git-dir=../evil config core.fsmonitor "$trap"; echo ../../evil > .git/commondir)sh"},
    {"damaged index", "echo x > .git/index"},
    {"no index", "rm .git/index"},
    {"replaced and grafted", R"sh(
      git commit -qam x; git replace HEAD HEAD~; git rev-parse HEAD > .git/shallow)sh"},
    {"no HEAD", "echo ref: refs/heads/none > .git/HEAD"},
    {"no git", "rm -rf .git", kDamaged},
    {"git is a file", "mv .git ../moved; echo 'gitdir: ../moved' > .git", kDamaged},
    {"unknown extension", "git config core.repositoryFormatVersion 1; git config extensions.x y",
     kDamaged},
};

/// Writes packs that git would not. The objects have SHA-256 ids, and are stored uncompressed.
class PackWriter {
 public:
  /// Returns the object's id.
  std::string Add(char type, const std::string& name, const std::string& content) {
    Begin(type, content.size());
    objects_ += Zlib(content);
    return IdOf(name, content);
  }

  /// A blob that a small delta makes out of the object that was added before.
  void AddGrown(std::size_t base_size, std::size_t size) {
    // One byte copies 64 KiB.
    const std::string delta = Varint(base_size) + Varint(size) + std::string(size / 65536, '\x80');
    const std::size_t distance = objects_.size() - last_;
    Begin(6, delta.size());
    std::string backwards(1, static_cast<char>(distance & 0x7fU));
    for (std::size_t rest = distance >> 7U; rest != 0; rest >>= 7U) {
      --rest;
      backwards.insert(0, 1, static_cast<char>(0x80U | (rest & 0x7fU)));
    }
    objects_ += backwards + Zlib(delta);
  }

  /// A blob that is another one, which need not be in the pack, and an "x". Returns its id.
  std::string AddLonger(const std::string& id, const std::string& content) {
    const std::string delta = Varint(content.size()) + Varint(content.size() + 1) + '\x90' +
                              static_cast<char>(content.size()) + "\1x";
    Begin(7, delta.size());
    objects_ += Raw(id) + Zlib(delta);
    return IdOf("blob", content + "x");
  }

  /// Returns the id of a commit of a tree with one file `a`.
  std::string AddCommitOf(const std::string& blob) {
    const std::string tree = Add(2, "tree", "100644 a" + std::string(1, '\0') + Raw(blob));
    return AddCommit(tree);
  }

  std::string AddCommit(const std::string& tree) {
    const std::string by = " A <a@example.org> 1 +0000\n";
    return Add(1, "commit", "tree " + tree + "\nauthor" + by + "committer" + by + "\nx\n");
  }

  [[nodiscard]] std::string Finish() const {
    const std::string pack = "PACK" + BigEndian(2) + BigEndian(count_) + objects_;
    return pack + Raw(support::Sha256(pack));
  }

  /// The bytes that a hexadecimal number stands for.
  static std::string Raw(const std::string& hexadecimal) {
    std::string bytes;
    for (std::size_t i = 0; i < hexadecimal.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    }
    return bytes;
  }

 private:
  static std::string IdOf(const std::string& name, const std::string& content) {
    return support::Sha256(name + " " + std::to_string(content.size()) + std::string(1, '\0') +
                           content);
  }

  static std::string BigEndian(std::uint32_t number) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(number >> shift);
    return bytes;
  }

  static std::string Varint(std::size_t number) {
    std::string bytes;
    for (; number > 0x7f; number >>= 7U) bytes += static_cast<char>(0x80U | (number & 0x7fU));
    return bytes + static_cast<char>(number);
  }

  static std::string Zlib(std::string_view content) {
    std::string stream = "\x78\x01";
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : content) {
      a = (a + static_cast<unsigned char>(c)) % 65521;
      b = (b + a) % 65521;
    }
    do {
      const std::string_view block = content.substr(0, 65535);
      content.remove_prefix(block.size());
      const auto size = static_cast<std::uint16_t>(block.size());
      stream += content.empty() ? '\1' : '\0';
      for (const unsigned half : {unsigned{size}, ~unsigned{size}}) {
        stream += static_cast<char>(half);
        stream += static_cast<char>(half >> 8U);
      }
      stream += block;
    } while (!content.empty());
    return stream + BigEndian(b << 16U | a);
  }

  void Begin(char type, std::size_t size) {
    last_ = objects_.size();
    ++count_;
    const auto first = static_cast<char>(static_cast<unsigned>(type) << 4U | (size & 0xfU));
    if (size < 16) {
      objects_ += first;
    } else {
      objects_ += static_cast<char>(first | '\x80');
      objects_ += Varint(size >> 4U);
    }
  }

  std::string objects_;
  std::size_t last_ = 0;
  std::uint32_t count_ = 0;
};

class Hostile : public CopyTest {
 protected:
  void SetUp() override {
    StartAgent();
    MakeTrap();
    MakeProgram("guest-bin/git", R"sh(ulimit -t 20
for word; do
  [ ! -x "${0%/*}/fake-$word" ] || { fake="${0%/*}/fake-$word"; PATH=${PATH#*:}; exec "$fake" "$@"; }
done
PATH=${PATH#*:}; exec git "$@"
)sh");
  }

  void Send(const std::string& script = "base project") {
    MakeProject("p", script);
    SendCopy();
    Shell(Path(), "cp -a p-copy sound");
    sound_ = SnapshotOf(project);
    kept_ = Kept();
  }

  /// The copy as it was sent, with what `script` does to it.
  void Plant(const std::string& script) {
    Shell(Path(), "rm -rf p-copy evil moved guest-bin/fake-*; cp -a sound p-copy");
    InCopy("bin=" + Path("guest-bin").string() + " trap=" + Path("trap").string() + "\n" + kGuest +
           script);
  }

  Command Take(const Lie& lie) const {
    Command words = {"take"};
    words.insert(words.end(), lie.options.begin(), lie.options.end());
    return words;
  }

  void IsRefused(const Lie& lie, bool twice = true) {
    EXPECT_THAT(Fail(Take(lie)), ContainsRegex(lie.answer));
    EXPECT_THAT(Changes(kept_, Kept()), IsEmpty())
        << "something of it stayed in the side repository";
    if (twice) {
      EXPECT_THAT(Fail(Take(lie)), ContainsRegex(lie.answer)) << "the second time";
    }
    EXPECT_THAT(Changes(sound_, SnapshotOf(project)), IsEmpty());
  }

  void AreRefused(const std::vector<Lie>& lies, bool twice = true) {
    Send();
    for (const Lie& lie : lies) {
      SCOPED_TRACE(lie.name);
      Plant(lie.script);
      IsRefused(lie, twice);
    }
    EXPECT_EQ(Ran("on-host"), "");
    Plant("");
    Succeed({"take"});
    EXPECT_EQ(FilesOfCommit("agent/main"), FilesOf(copy)) << "an honest one after all of them";
  }

  Snapshot sound_;
  Snapshot kept_;
};

TEST_F(Hostile, NamesAreRefused) {
  AreRefused(NamesThatNoTreeMayHave(), false);
}

TEST_F(Hostile, UnsoundObjectsAreRefused) {
  AreRefused(kUnsoundObjects);
}

TEST_F(Hostile, StreamsAreRefused) {
  AreRefused(kStreams);
}

TEST_F(Hostile, AnswersAreRefused) {
  AreRefused(kAnswers);
}

TEST_F(Hostile, ObjectsOfTheHostAloneAreRefused) {
  Send("base project; git switch -qc private; seq 3000 > secret; commit; git switch -q main");
  const std::string blob = InProject("git rev-parse private:secret");
  // The guest may know ids from elsewhere; here it has the objects themselves, but does not send
  // them.
  const std::string begin = "git fetch -q " + project.string() + " private\nsecret=" + blob + R"sh(
    send() { printf '%s\n' "$@" > ../ids; echo "cat >/dev/null; git pack-objects --stdout < $PWD/../ids" | fake --revs; }
    commit() { git add -A; git commit -qm x; head="$(git rev-parse HEAD HEAD: HEAD:file.txt)"; }
  )sh";
  const std::vector<Lie> lies = {
      {"file", begin + "git cat-file blob $secret > secret; commit; send $head", kUnsound},
      {"commit", begin + "git reset -q --hard FETCH_HEAD; send $blob", kUnsound},
  };
  for (const Lie& lie : lies) {
    SCOPED_TRACE(lie.name);
    Plant(lie.script);
    IsRefused(lie);
  }
}

TEST_F(Hostile, ADeltaOfAnObjectOfTheHostIsRefused) {
  Send("base project --object-format=sha256; echo secret | git hash-object -w --stdin");
  PackWriter pack;
  const std::string base = InProject("echo secret | git hash-object --stdin");
  const std::string id = pack.AddCommitOf(pack.AddLonger(base, "secret\n"));
  testing_support::WriteFile(Path("pack"), pack.Finish());
  Plant("echo \"cat >/dev/null; cat $PWD/../pack\" | fake pack-objects; echo 'echo " + id +
        "' | fake commit-tree");
  IsRefused({"", "", "unresolved delta"});
}

TEST_F(Hostile, NamesOfBranchesArePrintedReadably) {
  Send();
  Plant(R"sh(
    git switch -qc other; git commit -qam x; echo "printf '$(git rev-parse HEAD) refs/heads/a\033]0;x\007\n'" |
      fake for-each-ref; git switch -q main)sh");
  const std::string name = "branch a\\x1b]0;x\\x07";
  EXPECT_THAT(Fail({"drop"}), HasSubstr(name));
  EXPECT_THAT(Succeed({"diff", "--stat"}).error, HasSubstr("Not taken: " + name + "\n"));
  EXPECT_EQ(Succeed({"take"}).output, "Branch agent/a-0-x-: 1 commit, 1 file changed.\n");
}

TEST_F(Hostile, BombsAreRefused) {
  Send("base project --object-format=sha256");
  const Lie sent{"", "echo \"cat >/dev/null; cat $PWD/../pack\" | fake pack-objects", kUnsound};
  {
    SCOPED_TRACE("2 GiB out of 32 KiB");
    PackWriter pack;
    pack.Add(3, "blob", std::string(65536, 'x'));
    pack.AddGrown(65536, std::size_t{1} << 31U);
    testing_support::WriteFile(Path("pack"), pack.Finish());
    Plant(sent.script);
    IsRefused(sent);
  }
  {
    SCOPED_TRACE("100,000 directories in each other");
    PackWriter pack;
    std::string mode = "100644 a";
    std::string id = pack.Add(3, "blob", "x");
    for (int level = 0; level < 100'000; ++level) {
      id = pack.Add(2, "tree", mode + std::string(1, '\0') + PackWriter::Raw(id));
      mode = "40000 a";
    }
    id = pack.AddCommit(id);
    testing_support::WriteFile(Path("pack"), pack.Finish());
    Plant(sent.script + "\necho 'echo " + id + "' | fake commit-tree");
    IsRefused({"", "", "Nothing was"});
  }
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
#ifdef __APPLE__
  constexpr long kUnit = 1;
#else
  constexpr long kUnit = 1024;
#endif
  EXPECT_LT(used.ru_maxrss, 1'500'000'000 / kUnit);
}

TEST_F(Hostile, NothingPlantedRuns) {
  Send();
  for (const Lie& lie : kPlanted) {
    SCOPED_TRACE(lie.name);
    Plant(lie.script);
    if (!lie.answer.empty()) {
      IsRefused(lie);
      continue;
    }
    EXPECT_THAT(Succeed({"diff"}).output, HasSubstr("\n+work\n"));
    Succeed({"take"});
    EXPECT_THAT(ChangesButABranch(sound_, SnapshotOf(project)), IsEmpty());
    const std::string branch = InProject("git branch --list 'agent/*' --format='%(refname:short)'");
    EXPECT_EQ(FilesOfCommit(branch), FilesOf(copy));
    InProject("git branch -qD " + branch);
    sound_ = SnapshotOf(project);
    kept_ = Kept();
  }
  EXPECT_EQ(Ran("on-host"), "");
  EXPECT_EQ(Ran("in-guest"), "");
}

}  // namespace
}  // namespace integration

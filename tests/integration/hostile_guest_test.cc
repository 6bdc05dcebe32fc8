// SPDX-License-Identifier: Apache-2.0
// A hostile guest against the whole program: the agent gets JSON, bounded and in time, and the
// program keeps running.

#include <iostream>

#include "integration/fixture.h"

namespace integration {
namespace {

/// Far below what the guest sends, and enough for a build with a sanitizer.
constexpr long kMaxKilobytes = 800'000;

/// Bytes of one answer, which has its content twice.
constexpr std::size_t kMaxReply = std::size_t{512} << 20;
constexpr std::size_t kMaxError = std::size_t{16} << 10;

class HostileGuest : public IntegrationTest {
 protected:
  /// Expects a bounded answer that contains `expected`.
  void Ask(const std::string& tool, const json& arguments, const std::string& expected) {
    const json result = client().CallTool(tool, arguments, std::chrono::seconds(120));
    const bool failed = result.value("isError", false);
    const std::string text = (failed ? "refused: " : "") + TextOf(result);
    EXPECT_LE(result.dump().size(), failed ? kMaxError : kMaxReply) << tool;
    EXPECT_NE(text.find(expected), std::string::npos)
        << tool << ", expected: " << expected << ", got: " << text.substr(0, kMaxError);
    client().Request("ping");
  }
  void ExpectAlive() {
    const long most = StatusOf(client().process().pid(), "VmHWM");
    EXPECT_LE(most, kMaxKilobytes);
    std::cout << "resident at most " << most << " kB\n";
    EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
    EXPECT_EQ(client().log().find('\x1b'), std::string::npos) << "the log drives no terminal";
  }
};

/// Lies of hostile-sftp-server, and texts of the responses.
struct Lie {
  const char* name;
  std::string listed;
  std::string read;
};
void PrintTo(const Lie& lie, std::ostream* out) {
  *out << lie.name;
}

class HostileSftp : public HostileGuest, public ::testing::WithParamInterface<Lie> {};

TEST_P(HostileSftp, IsAnsweredInBounds) {
  // A link, because sshd does not support spaces in the path.
  const std::string server = MakeLink("sftp-server", LIMACTL_MCP_HOSTILE_SFTP_SERVER);
  StartGuest({"Subsystem sftp " + server + " " + GetParam().name});
  Ask("list_directory", {{"path", root}}, GetParam().listed);
  Ask("read_file", {{"path", root + "/file"}}, GetParam().read);
  Ask("write_file", {{"path", root + "/new"}, {"content", "x"}}, "refused: ");
  ExpectAlive();
}

constexpr const char* kBreaks = "SFTP server violates the protocol";
constexpr const char* kInvalid = "an invalid";
constexpr const char* kEntries = R"({"entries":[{)";
constexpr const char* kContent = R"({"content":"0123456789"})";

INSTANTIATE_TEST_SUITE_P(
    Lies, HostileSftp,
    ::testing::Values(
        Lie{"flood", "SFTP must begin", "SFTP must begin"}, Lie{"late-flood", kBreaks, kBreaks},
        Lie{"unrequested-reply", kBreaks, kBreaks}, Lie{"cut-limits", kBreaks, kBreaks},
        Lie{"wrong-id", kBreaks, kBreaks}, Lie{"two-replies", kBreaks, kBreaks},
        Lie{"unknown-kind", kBreaks, kBreaks},
        Lie{"wrong-kind", "unexpected kind", "unexpected kind"},
        Lie{"endless-packet", kBreaks, kBreaks}, Lie{"cut-packet", kBreaks, kBreaks},
        Lie{"long-words", R"((\x1b[2Jwww)", R"((\x1b[2Jwww)"},
        Lie{"endless-names", "more than 1000000 entries", kContent},
        Lie{"endless-long-names", "64 MiB of names", kContent},
        Lie{"count-of-names", kBreaks, kContent}, Lie{"name-above", kInvalid, kContent},
        Lie{"name-with-nul", kInvalid, kContent}, Lie{"empty-name", kInvalid, kContent},
        Lie{"odd-name", "\\u001b[2J\u202E\uFFFD\\n\\\"", kContent},
        Lie{"real-path-above", kInvalid, kInvalid}, Lie{"real-path-relative", kInvalid, kInvalid},
        Lie{"real-path-with-nul", kInvalid, kInvalid},
        Lie{"real-path-elsewhere", kEntries, "is a directory"},
        Lie{"huge-size", kEntries, R"({"content":"0123456789"})"},
        Lie{"small-size", kEntries, "a wrong amount of data"},
        Lie{"too-much-data", kEntries, "a wrong amount of data"},
        Lie{"endless-file", kEntries, "has more than the limit of 32MiB"},
        Lie{"no-data", kEntries, "a wrong amount of data"}),
    [](const auto& lie) {
      std::string name = lie.param.name;
      std::erase(name, '-');
      return name;
    });

TEST_F(HostileGuest, AnOpenThatHangsHoldsUpOtherFilesOnlyUntilTheServerIsGivenUp) {
  const std::string server = MakeLink("sftp-server", LIMACTL_MCP_HOSTILE_SFTP_SERVER);
  StartGuest({"Subsystem sftp " + server + " hanging-open"});
  const auto read = [this](const std::string& path) {
    return client().BeginCall("read_file", {{"path", root + path}});
  };
  Ask("read_file", {{"path", root + "/file"}}, kContent);
  const std::int64_t hung = read("/hang/file");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {  // the first ones are behind it, or soon are
    EXPECT_EQ(TextOf(client().EndCall(read("/file"), 40s)), kContent);
    Ask("list_directory", {{"path", root}}, kEntries);
  }
  // Only the first ones wait the twenty seconds until the server is given up.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_THAT(TextOf(client().EndCall(hung, 5s)), HasSubstr("SFTP server does not answer"));
}

/// What the guest prints instead of a script's output, and texts of the responses.
struct Print {
  const char* name;
  const char* commands;  ///< of the shell
  const char* globbed;
  const char* searched;
};
void PrintTo(const Print& print, std::ostream* out) {
  *out << print.name;
}

class HostileShell : public HostileGuest {
 protected:
  void SetUp() override {
    if (!fs::exists("/proc/sys/kernel/random/boot_id")) {
      GTEST_SKIP() << Skipping("without /proc the guest is asked for its mounts, and lies");
    }
  }

  /// SFTP is honest. Instead of the requests, resident shells run `scripts`, or `commands` if they
  /// are login shells, in a subshell that has the end marker.
  void StartLiar(const std::string& scripts, const std::string& commands) {
    StartFake(R"sh(
is_login=
while IFS= read -r line && [ "$line" != 'exit; }' ]; do
  case $line in *limactl-mcp-*) mark=${line#*limactl-mcp-} ;; esac
  case $line in *' -l -c '*) is_login=1 ;; esac
done
mark=limactl-mcp-${mark%%[!0-9a-f]*}
echo "$mark" >&2
echo "$mark ready"
while read -r word line; do
  [ "$word" != define ] || continue
  [ -z "$is_login" ] || { read -r word; read -r line; }
  if [ "$is_login" ]; then (
)sh" + commands +
              "\n) else (\n" + scripts + R"sh(
) fi
  echo "$mark $?"
  echo "$mark" >&2
  echo "$mark free"
done
)sh");
  }

  /// SFTP is honest; `fake` runs in place of other programs.
  void StartFake(const std::string& fake) {
    MakeFile("shell",
             "case $SSH_ORIGINAL_COMMAND in *sftp*) exec $SSH_ORIGINAL_COMMAND ;; esac\n" + fake);
    StartGuest({"ForceCommand exec /bin/sh " + Path("shell").string()},
               {"--command-timeout", command_timeout});
  }

  std::string command_timeout = "1m";
};

constexpr const char* kNoMatch = R"({"matches":[]})";
constexpr const char* kTooMany = "too many names";

class HostileScript : public HostileShell, public ::testing::WithParamInterface<Print> {};

TEST_P(HostileScript, IsAnsweredInBounds) {
  StartLiar(GetParam().commands, "exit 1");
  Ask("glob", {{"pattern", "**"}, {"path", root}}, GetParam().globbed);
  if (GetParam().searched != nullptr) {
    Ask("search_file_content", {{"pattern", "x"}, {"path", root}}, GetParam().searched);
  }
  ExpectAlive();
}

INSTANTIATE_TEST_SUITE_P(
    Prints, HostileScript,
    ::testing::Values(
        Print{"NameAbove", R"(printf 'walk//\n1 f ./../../etc/passwd//\n')", kInvalid, nullptr},
        Print{"NameWithNul", R"(printf 'walk//\n1 f ./a\0b//\n')", kInvalid, nullptr},
        Print{"WalkTooMany", R"(printf 'walk//\nwalk//\nfailed find: ./x: Permission denied//\n')",
              kNoMatch, nullptr},
        Print{"CutComplaint", R"(printf 'walk//\nfailed find: : Permission denied//\n')", kNoMatch,
              nullptr},
        Print{"OddName", R"(printf 'walk//\n1 f ./\033[2J\342\200\256\377\n"//\n')",
              "\\u001b[2J\u202E\uFFFD\\n\\\"", nullptr},
        Print{"EndlessNames", "yes '1 f ./name//'", kTooMany, nullptr},
        Print{"EndlessName", "yes '1 f ./name' | tr -d '\\n'", kTooMany, nullptr},
        Print{"EndlessIgnoredNames", "yes >&2", kTooMany, nullptr},
        Print{"ManyMatches", "echo walk//; seq 20000 | sed 's|.*|1 f ./&//|'", "20000 names match",
              nullptr},
        Print{"ManyLines",
              R"sh(yes "a.cc 1 $(printf %0100d 0)" | head -c 90000000 | tr ' ' '\000')sh", kTooMany,
              "[Only the first"},
        Print{"LongLine",
              R"(printf 'a.cc\0001\000'; head -c 90000000 /dev/zero | tr '\000' x; echo)", kTooMany,
              "bytes left out; "},
        Print{"LongWordsOfGit", "yes | head -c 90000000 >&2; exit 128", kTooMany,
              "git grep failed in the guest (exit status 128): y\ny"},
        Print{"Killed", "kill -9 $$", "by signal KILL", "by signal KILL"}),
    [](const auto& print) { return std::string(print.param.name); });

TEST_F(HostileShell, AFloodInsteadOfACommandIsCapped) {
  StartLiar("exit 1", "yes | head -c 90000000; exit 3");
  Ask("run_shell_command", Arguments({"true"}), R"("exit_code":3)");
  Ask("run_shell_command", Arguments({"true"}), " bytes left out");
  ExpectAlive();
}

TEST_F(HostileShell, AFloodInsteadOfAShellIsGivenUp) {
  StartFake("exec yes");
  Ask("run_shell_command", Arguments({"true"}), "refused: ");
  Ask("run_shell_command", Arguments({"true"}), "prints without end");
  Ask("glob", {{"pattern", "**"}, {"path", root}}, "prints without end");
  Write(root + "/file", "honest");
  Ask("read_file", {{"path", root + "/file"}}, "honest");
  ExpectAlive();
}

TEST_F(HostileShell, InvalidReportsDoNotBlock) {
  const std::string lie =
      "printf \"$mark $(cat " + Path("report").string() + ")\\n\"; echo \"$mark\" >&2; exit 5";
  StartLiar(lie, lie);
  for (const char* report : {"99999999999", "0x", "stuck", "left", "free", "left x", "ended x",
                             "ended 99999999999", "ready", "\\033[2J", ""}) {
    SCOPED_TRACE(report);
    MakeFile("report", report);
    for (int i = 0; i < 2; ++i) {
      Ask("run_shell_command", Arguments({"true"}), "");
      Ask("glob", {{"pattern", "**"}, {"path", root}}, "");
    }
  }
  ExpectAlive();
}

TEST_F(HostileShell, AnEndlessFloodInsteadOfACommandTimesOut) {
  command_timeout = "1s";
  // Floods the program until it ends the command's input, and again from two seconds before it
  // gives up: a flood of eleven seconds keeps two processors busy.
  StartLiar("exit 1", "yes & cat >/dev/null; kill $!; sleep 8; exec yes");
  Ask("run_shell_command", Arguments({"true"}), "the guest has not confirmed");
  ExpectAlive();
}

}  // namespace
}  // namespace integration

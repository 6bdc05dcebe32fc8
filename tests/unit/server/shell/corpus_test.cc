// SPDX-License-Identifier: Apache-2.0
// Commands in a resident shell and in a new login shell: same environment, output and exit code.

#include "support/regex.h"
#include "unit/server/shell/shells_fixture.h"

namespace shell {
namespace {

Words Eval(const std::string& script) {
  return {"eval", script};
}
Words Bash(const std::string& script) {
  return {"bash", "-c", script};
}
Words Sh(const std::string& script) {
  return {"sh", "-c", script};
}

const std::vector<Words> kCorpus = {
    // The environment and the variables of the shell.
    {"sort", "-z", "/proc/self/environ"},
    {"A=1 2", "B=$x", "sort", "-z", "/proc/self/environ"},
    {"A+=1", "FROM_PROFILE+=c", "sort", "-z", "/proc/self/environ"},
    Bash("env | sort"),
    Sh("env | sort"),
    {"HOME=/", "TZ=UTC", "sh", "-c", "echo $HOME $TZ; date +%Z"},
    {"PATH=/nonexistent", "ls"},
    {"IFS=x", "sh", "-c", "echo a"},
    {"A=1"},
    {"A=$(id)", "sh", "-c", "echo $A"},
    {"1A=1"},
    Eval("echo $0 $# $- \"$*\""),
    Eval("echo \"$BASH_EXECUTION_STRING\"; echo \"$PWD $OLDPWD\"; pwd -P; dirs"),
    Eval("compgen -v | grep -vxE '_|BASH_.*|BASHPID|COLUMNS|FUNCNAME|LINES|PIPESTATUS|SHLVL'"),
    Eval("declare -f; declare -F; alias; complete; set -o; shopt; trap -p; jobs; enable"),
    Eval("echo $NOT_EXPORTED $FROM_PROFILE; NEW=1; cd /; umask 0"),
    // Directory, permissions, limits, streams, signals, processes.
    {"pwd"},
    {"/bin/pwd"},
    {"cd", "/"},
    {"umask"},
    Sh("umask; touch made; stat -c %a made; rm made; ulimit -a"),
    {"ulimit", "-a"},
    {"ls", "/proc/self/fd"},
    Eval("for f in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$BASHPID/fd/$f ] && echo $f; done"),
    {"readlink", "/proc/self/fd/0"},
    {"cat"},
    {"read", "x"},
    {"grep", "-E", "^(Sig(B|I|C)|Umask|Uid|Gid|Groups|Cap|NoNewPrivs)", "/proc/self/status"},
    Sh("exec grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"),
    {"nice"},
    {"tty"},
    {"nohup", "echo", "x"},
    Bash("yes | head -3; echo ${PIPESTATUS[@]}"),
    // Exit codes, signals.
    {"true"},
    {"false"},
    Sh("echo out; echo err >&2; exit 3"),
    {"exit", "5"},
    Eval("exit 7"),
    Eval("(exit 9)"),
    Bash("echo before; kill -KILL $$"),
    Bash("kill -TERM $$; sleep 1"),
    Sh("kill -SEGV $$"),
    Eval("sh -c 'kill -KILL $$'; echo after"),
    Eval("echo a; kill -KILL $$; sleep 5"),
    Bash("echo a; kill 0; sleep 5"),
    Eval("echo a; kill 0; sleep 5"),
    Eval("kill -KILL 0"),
    // Commands and other words.
    {"nosuch"},
    {"./nosuch"},
    {"/nosuch/x"},
    {"nosuch", "two words"},
    {"echo \"a\" | wc"},
    {""},
    {"/tmp"},
    {"./plain"},
    {"./no-shebang", "x y", ""},
    {"./script", "x y", "*"},
    {"source", "./library", "a b"},
    {"[", "a", "=", "a", "]"},
    {"!", "true"},
    {"exec", "sh", "-c", "exit 4"},
    {"exec", "nosuch"},
    {"command", "-v", "ls"},
    {"type", "cd", "if", "greet", "ll"},
    {"greet", "you"},
    {"ll"},
    {"tool-of-profile", "x"},
    {"exported"},
    Bash("exported"),
    {"history"},
    {"wait"},
    {"fg"},
    {"local", "x"},
    // Quoting, bytes, length.
    {"printf", "%s|", "a b", "", "it's", "$(id)", "\n", "\\", "\"", "`id`"},
    {"printf", "%s|", "a\nb\n\n", "\t", "\x01\x02\x7f", "\xff\xfe\x81\x88", "\xc3\xa9", "!!", "\n"},
    {"echo", "~", "*", "{a,b}", "$HOME", "?", "[a]", "a=b", "&", ";", "|", "<", ">"},
    {"V=\n'\xff", "sh", "-c", "printf %s \"$V\" | od -c"},
    {"echo", std::string(2000, '\'')},
    {"echo", std::string(120'000, 'y')},
    Sh("seq 20000; seq 20000 >&2; head -c 300000 /dev/zero | tr '\\0' x"),
    // Features of the shell.
    Eval("trap 'echo bye' EXIT; echo x"),
    Eval("trap 'echo debug' DEBUG; echo x"),
    Eval("set -e; false; echo no"),
    Eval("set -o pipefail; false | true; echo $?"),
    Eval("echo one\nnosuch2\necho three"),
    Eval("echo (("),
    Eval("sleep 0 & wait $!; echo $?; jobs"),
    // Whether bash reports that the job is done depends on time.
    Eval("exec 2>/dev/null; set -m; sleep 0 & wait; echo done"),
    Eval("exec 3>&1; echo x >&3; exec 3>&-"),
    Eval("exec >/dev/null; echo hidden"),
    Eval("exec 2>&1; echo both >&2"),
    Eval("unset PATH; ls"),
    Eval("cat <<< here; cat <(echo there)"),
};

class CommandCorpus : public ShellsTest {
 protected:
  /// Without the intended differences.
  static Result Comparable(Result result) {
    for (std::string* text : {&result.output, &result.error}) {
      support::Regex("(line [0-9]+: *)[0-9]+ ").ReplaceAll(*text, "\\1PID ");
      support::Regex("(^|[\n\\x00])(_|SHLVL)=[^\n\\x00]*[\n\\x00]").ReplaceAll(*text, "\\1");
    }
    return result;
  }

  void Compare() {
    Write(work_ + "/plain", "not executable\n");
    Write(work_ + "/no-shebang", "echo \"$0\" $# \"$1\"; exit 6\n", true);
    Write(work_ + "/script", "#!/bin/bash\necho \"$0\" \"$@\" $-; exit 8\n", true);
    Write(work_ + "/library", "echo \"$0\" $# \"$1\" ${BASH_SOURCE[0]}; return 3\n");
    std::filesystem::create_directories(home_.path() / "bin");
    Write(home_.path() / "bin/tool-of-profile", "echo tool \"$@\"\n", true);
    for (const Words& words : kCorpus) {
      const std::string command = ShellCommand(words);
      EXPECT_EQ(Comparable(Run(words)), Comparable(Plainly("/bin/bash", command)))
          << command.substr(0, 200);
    }
  }
};

TEST_F(CommandCorpus, IsTheSameWithoutAProfile) {
  Compare();
}

TEST_F(CommandCorpus, IsTheSameWithAProfile) {
  WriteProfile(
      "export FROM_PROFILE='a b'; NOT_EXPORTED=1; umask 027; ulimit -n 512\n"
      "greet() { echo \"hello $1 $FUNCNAME $#\"; }; exported() { echo exported; }\n"
      "export -f exported; alias ll='ls -l'; shopt -s extglob globstar nullglob\n"
      "PATH=$HOME/bin:$PATH; set -o pipefail; IFS=$' \\t\\n:'\n"
      "cat; sleep 0 & wait; false last\n");
  Compare();
}

}  // namespace
}  // namespace shell

// Commands in a resident shell and in a new login shell: same environment, output and exit code.

#include <regex>

#include "unit/shell/shells_fixture.h"

namespace shell {
namespace {

std::vector<Words> Corpus() {
  const auto eval = [](const std::string& script) { return Words{"eval", script}; };
  const auto bash = [](const std::string& script) { return Words{"bash", "-c", script}; };
  const auto sh = [](const std::string& script) { return Words{"sh", "-c", script}; };
  return {
      // The environment and the variables of the shell.
      {"sort", "-z", "/proc/self/environ"},
      {"A=1 2", "B=$x", "sort", "-z", "/proc/self/environ"},
      {"A+=1", "FROM_PROFILE+=c", "sort", "-z", "/proc/self/environ"},
      bash("env | sort"),
      sh("env | sort"),
      {"HOME=/", "TZ=UTC", "sh", "-c", "echo $HOME $TZ; date +%Z"},
      {"PATH=/nonexistent", "ls"},
      {"IFS=x", "sh", "-c", "echo a"},
      {"A=1"},
      {"A=$(id)", "sh", "-c", "echo $A"},
      {"1A=1"},
      eval("echo $0 $# $- \"$*\""),
      eval("echo \"$BASH_EXECUTION_STRING\"; echo \"$PWD $OLDPWD\"; pwd -P; dirs"),
      eval("compgen -v | grep -vxE '_|BASH_.*|BASHPID|COLUMNS|FUNCNAME|LINES|PIPESTATUS|SHLVL'"),
      eval("declare -f; declare -F; alias; complete; set -o; shopt; trap -p; jobs; enable"),
      eval("echo $NOT_EXPORTED $FROM_PROFILE; NEW=1; cd /; umask 0"),
      // Directory, permissions, limits, streams, signals, processes.
      {"pwd"},
      {"/bin/pwd"},
      {"cd", "/"},
      {"umask"},
      sh("umask; touch made; stat -c %a made; rm made; ulimit -a"),
      {"ulimit", "-a"},
      {"ls", "/proc/self/fd"},
      eval("for f in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$BASHPID/fd/$f ] && echo $f; done"),
      {"readlink", "/proc/self/fd/0"},
      {"cat"},
      {"read", "x"},
      {"grep", "-E", "^(Sig(B|I|C)|Umask|Uid|Gid|Groups|Cap|NoNewPrivs)", "/proc/self/status"},
      sh("exec grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"),
      {"nice"},
      {"tty"},
      {"nohup", "echo", "x"},
      bash("yes | head -3; echo ${PIPESTATUS[@]}"),
      // Exit codes, signals.
      {"true"},
      {"false"},
      sh("echo out; echo err >&2; exit 3"),
      {"exit", "5"},
      eval("exit 7"),
      eval("(exit 9)"),
      bash("echo before; kill -KILL $$"),
      bash("kill -TERM $$; sleep 1"),
      sh("kill -SEGV $$"),
      eval("sh -c 'kill -KILL $$'; echo after"),
      eval("echo a; kill -TERM $$; sleep 5"),
      bash("echo a; kill 0; sleep 5"),
      eval("echo a; kill 0; sleep 5"),
      eval("kill -KILL 0"),
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
      bash("exported"),
      {"history"},
      {"wait"},
      {"fg"},
      {"local", "x"},
      // Quoting, bytes, length.
      {"printf", "%s|", "a b", "", "it's", "$(id)", "\n", "\\", "\"", "`id`"},
      {"printf", "%s|", "a\nb\n\n", "\t", "\x01\x02\x7f", "\xff\xfe\x81\x88", "\xc3\xa9", "!!",
       "\n"},
      {"echo", "~", "*", "{a,b}", "$HOME", "?", "[a]", "a=b", "&", ";", "|", "<", ">"},
      {"V=\n'\xff", "sh", "-c", "printf %s \"$V\" | od -c"},
      {"echo", std::string(2000, '\'')},
      {"echo", std::string(120'000, 'y')},
      sh("seq 20000; seq 20000 >&2; head -c 300000 /dev/zero | tr '\\0' x"),
      // Features of the shell.
      eval("trap 'echo bye' EXIT; echo x"),
      eval("trap 'echo debug' DEBUG; echo x"),
      eval("set -e; false; echo no"),
      eval("set -o pipefail; false | true; echo $?"),
      eval("echo one\nnosuch2\necho three"),
      eval("echo (("),
      eval("sleep 0 & wait $!; echo $?; jobs"),
      eval("set -m; sleep 0 & wait; echo done"),
      eval("exec 3>&1; echo x >&3; exec 3>&-"),
      eval("exec >/dev/null; echo hidden"),
      eval("exec 2>&1; echo both >&2"),
      eval("unset PATH; ls"),
      eval("cat <<< here; cat <(echo there)"),
  };
}

class CommandCorpus : public ShellsTest {
 protected:
  /// Without the intended differences.
  static Result Comparable(Result result) {
    for (std::string* text : {&result.output, &result.error}) {
      *text = std::regex_replace(*text, std::regex("(line [0-9]+: *)[0-9]+ "), "$1PID ");
      *text = std::regex_replace(*text, std::regex("(^|[\n\\0])(_|SHLVL)=[^\n\\0]*[\n\\0]"), "$1");
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
    for (const Words& words : Corpus()) {
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

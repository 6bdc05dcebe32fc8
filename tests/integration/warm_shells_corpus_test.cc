// Everything that a command can tell of where it runs, both ways: with a shell that was started
// ahead of it and without.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/warm_shells_fixture.h"
#include "tools/warm_shell_script.h"

namespace warm_shells {
namespace {

constexpr const char* kLeader =
    "set -- $$ $(ps -o pgid=,sid=,tty= -p $$); [ $1 = $2 ] && [ $2 = $3 ] && echo leader $4";

/// Commands that show what a command can see of where it runs, and all ways in which one ends.
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
      {"/usr/bin/sort", "-z", "/proc/self/environ"},
      {"HOME=/", "TZ=UTC", "sh", "-c", "echo $HOME $TZ; date +%Z"},
      {"LC_ALL=C", "sh", "-c", "echo $LC_ALL"},
      {"PATH=/nonexistent", "ls"},
      {"IFS=x", "sh", "-c", "echo a"},
      {"A=1"},
      {"A=1", "B=2"},
      {"A=1", "eval", "echo $A"},
      {"A=$(id)", "sh", "-c", "echo $A"},
      {"1A=1"},
      eval("echo $0 $# $- $_ $? $BASH_SUBSHELL $SHLVL"),
      eval("echo \"$_\""),
      eval("echo \"$?\""),
      eval("echo \"$BASH_EXECUTION_STRING\"; echo \"$BASH_COMMAND\""),
      eval("echo $((SECONDS < 5)) $PWD $OLDPWD; pwd -P; dirs"),
      eval("echo ${BASH_SOURCE[@]} ${FUNCNAME[@]} ${BASH_LINENO[@]} $LINENO\necho $LINENO"),
      eval("declare -p | grep -vE "
           "'^declare -[a-zA-Z-]+ "
           "(RANDOM|SRANDOM|EPOCHREALTIME|EPOCHSECONDS|BASHPID|PPID|SECONDS|PIPESTATUS)(=|$)'"),
      eval("declare -f; declare -F; alias; hash; complete"),
      eval("set -o; shopt; trap -p; jobs; enable"),
      eval("[ $$ = $BASHPID ] && echo same; echo ${!:+some}; [ $PPID -gt 1 ] && echo parent"),
      {"set", "--", "a"},
      {"NOT_EXPORTED=2"},
      eval("echo $NOT_EXPORTED $FROM_PROFILE"),
      // Directory, permissions, limits, streams, signals, processes.
      {"pwd"},
      {"/bin/pwd"},
      {"cd", "/"},
      eval("cd /; pwd; echo $OLDPWD; cd -"),
      {"umask"},
      sh("umask; touch made; stat -c %a made; rm made"),
      {"ulimit", "-a"},
      sh("ulimit -a"),
      {"ls", "/proc/self/fd"},
      eval("for f in 0 1 2 3 4 5 6 7 8 9 10 11; do [ -e /proc/$$/fd/$f ] && echo $f; done"),
      {"readlink", "/proc/self/fd/0"},
      {"cat"},
      {"head", "-c", "3"},
      {"read", "x"},
      eval("read x; echo $?"),
      {"grep", "-E", "^(Sig(B|I|C)|Umask|Uid|Gid|Groups|Cap|NoNewPrivs)", "/proc/self/status"},
      // By the shell itself: while it starts a process it blocks more for a moment.
      eval("while read -r line; do case $line in SigBlk*|SigIgn*) echo \"$line\" ;; esac; "
           "done </proc/$$/status"),
      sh("exec grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"),
      {"nice"},
      {"tty"},
      {"test", "-t", "1"},
      {"id"},
      eval(kLeader),
      bash(kLeader),
      sh(kLeader),
      sh("ps -o args= -p $PPID"),
      eval("ps -o args= -p $PPID"),
      eval("sh -c 'ps -o comm= -p $PPID'"),
      {"nohup", "echo", "x"},
      bash("yes | head -3; echo ${PIPESTATUS[@]}"),
      // Exit codes, signals.
      {"true"},
      {"false"},
      sh("echo out; echo err >&2; exit 3"),
      {"exit", "5"},
      {"exit"},
      eval("exit 7"),
      eval("(exit 9)"),
      bash("exit 137"),
      {"logout"},
      {"return"},
      {"break"},
      {"suspend"},
      eval("echo before; kill -KILL $$"),
      bash("echo before; kill -KILL $$"),
      bash("kill -TERM $$; sleep 1"),
      sh("kill -HUP $$"),
      sh("kill -SEGV $$"),
      eval("kill -INT $$; echo after"),
      eval("kill -PIPE $$; echo after"),
      eval("sh -c 'kill -KILL $$'"),
      eval("echo a; kill 0; sleep 5"),
      bash("echo a; kill 0; sleep 5"),
      eval("kill -KILL 0"),
      // What is a command, and what is not.
      {"nosuch"},
      {"./nosuch"},
      {"/nosuch/x"},
      {"nosuch", "two words"},
      {"echo \"a\" | wc"},
      {""},
      {"/tmp"},
      {"."},
      {"./plain"},
      {"./no-shebang", "x y", ""},
      {"./bad-interpreter"},
      {"./script", "x y", "*"},
      {"./binary"},
      {"source", "./library", "a b"},
      {"test", "1", "-eq", "2"},
      {"[", "a", "=", "a", "]"},
      {"if", "x"},
      {"then"},
      {"!", "true"},
      {"{", "echo", "}"},
      {"exec", "sh", "-c", "exit 4"},
      {"exec", "nosuch"},
      {"exec"},
      {"command", "echo", "x"},
      {"command", "-v", "ls"},
      {"builtin", "echo", "x"},
      {"type", "ls", "cd", "if", "greet", "ll"},
      {"%1"},
      {"-n"},
      {"--", "ls"},
      {"hash", "-t", "ls"},
      {"greet", "you"},
      {"ll"},
      {"tool-of-profile"},
      {"exported"},
      bash("exported"),
      {"history"},
      {"caller"},
      {"shift"},
      {"wait"},
      {"jobs"},
      {"fg"},
      {"trap"},
      {"local", "x"},
      // Quoting, bytes, length.
      {"printf", "%s|", "a b", "", "it's", "$(id)", "\n", "\\", "\"", "`id`"},
      {"printf", "%s|", "a\nb\n\n", "\t", "\x01\x02\x7f", "\xff\xfe", "\xc3\xa9", "!!", "#"},
      {"echo", "~", "*", "{a,b}", "$HOME", "?", "[a]", "a=b", "&", ";", "|", "<", ">"},
      {"echo", "-e", "a\\tb\\0101"},
      {"LIMACTL_MCP=1", "sh", "-c", "echo $LIMACTL_MCP"},
      {"V=\n'\xff", "sh", "-c", "printf %s \"$V\" | od -c"},
      {"echo", std::string(3000, 'x')},
      {"echo", std::string(2000, '\'')},
      {"echo", std::string(100'000, 'y')},
      sh("seq 20000; seq 20000 >&2"),
      sh("head -c 300000 /dev/zero | tr '\\0' x"),
      // What a shell does by and by.
      eval("trap 'echo bye' EXIT; echo x"),
      eval("trap 'echo got' TERM; kill -TERM $$; echo after"),
      eval("trap 'echo debug' DEBUG; echo x"),
      eval("set -e; false; echo no"),
      eval("set -u; echo $NOT_DEFINED"),
      eval("set -x; echo x"),
      eval("set -o pipefail; false | true; echo $?"),
      eval("echo one\nnosuch2\necho three"),
      eval("if"),
      eval("echo (("),
      eval("sleep 0 & wait $!; echo $?; jobs"),
      eval("set -m; sleep 0 & wait; echo done"),
      eval("(sleep 1; echo late) & echo early"),
      eval("coproc cat; echo started"),
      eval("exec 3>&1; echo x >&3; exec 3>&-"),
      eval("exec >/dev/null; echo hidden"),
      eval("exec 2>&1; echo both >&2"),
      eval("exec sh -c 'exit 4'"),
      eval("unset PATH; ls"),
      eval("shopt login_shell; ulimit -c 0; umask 0; echo $(umask)"),
      eval("cat <<< here; cat <(echo there)"),
      eval("TIMEFORMAT=timed; time true 2>/dev/null; echo $?"),
  };
}

class WarmShellsCorpus : public WarmShells {
 protected:
  void Compare();
};

void WarmShellsCorpus::Compare() {
  Write(work_ + "/plain", "not executable\n");
  Write(work_ + "/no-shebang", "echo \"$0\" $# \"$1\"; shopt -p expand_aliases 2>&1; exit 6\n",
        true);
  Write(work_ + "/bad-interpreter", "#!/nosuch/interpreter\n", true);
  Write(work_ + "/script", "#!/bin/bash\necho \"$0\" \"$@\" $-; exit 8\n", true);
  Write(work_ + "/binary",
        std::string("\x7f"
                    "ELF\0\0\0\0",
                    8),
        true);
  Write(work_ + "/library", "echo \"$0\" $# \"$1\" ${BASH_SOURCE[0]}; return 3\n");
  std::filesystem::create_directories(Home() / "bin");
  Write(Home() / "bin/tool-of-profile", "#!/bin/sh\necho tool\n", true);
  Warm({"true"});  // leaves the first shell
  const std::vector<Words> corpus = Corpus();
  ASSERT_GE(corpus.size(), 60U);
  const auto needs_new_shell = [&](const Words& words) {
    return !tools::WarmShellInput(words, work_, "refusal");
  };
  const auto new_shells = std::count_if(corpus.begin(), corpus.end(), needs_new_shell);
  EXPECT_LT(new_shells, 30);
  const int cold_starts = ColdStarts([&] {
    for (const Words& words : corpus) WarmShells::Compare(words);
  });
  // A machine under load may now and then not have the next shell's channel: that costs only time.
  const auto without_warm_shells = static_cast<int>(corpus.size() + corpus.size());
  const auto expected = static_cast<int>(corpus.size()) + static_cast<int>(new_shells);
  EXPECT_GE(cold_starts, expected);
  EXPECT_LE(cold_starts, expected + (without_warm_shells - expected) / 10);
}

TEST_F(WarmShellsCorpus, IsLikeOthersWithoutAProfile) {
  Compare();
}

TEST_F(WarmShellsCorpus, IsLikeOthersWithAProfile) {
  WriteProfile(
      "echo from the profile; echo error of the profile >&2; printf 'no line end'\n"
      "export FROM_PROFILE='a b'; NOT_EXPORTED=1; umask 027; ulimit -n 512\n"
      "greet() { echo \"hello $1 $FUNCNAME $#\"; }; exported() { echo exported; }\n"
      "export -f exported; alias ll='ls -l'; shopt -s extglob globstar nullglob failglob\n"
      "PATH=$HOME/bin:$PATH; set -o pipefail; set +o pipefail; IFS=$' \\t\\n:'\n"
      "cat; sleep 0 & wait; false last\n");
  Compare();
}

}  // namespace
}  // namespace warm_shells

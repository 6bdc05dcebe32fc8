#pragma once

#include <string>

/// How git is called in the guest. Neither the user's configuration, nor the environment, nor a
/// repository's configuration can change what it prints or make it run another program.
namespace find {

/// Lines of POSIX shell that set the environment for the calls that follow. The locale is UTF-8 if
/// the guest has C.UTF-8; error texts are English.
std::string GitEnvironment();

/// `git` with the `-c` options that win over a repository's configuration; a subcommand follows.
std::string GitCommand();

}  // namespace find

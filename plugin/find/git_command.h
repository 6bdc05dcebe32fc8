#pragma once

#include <string>

/// How git is called in the guest: so that neither the user's configuration nor the environment nor
/// a repository's own configuration changes what it prints or makes it run another program.
namespace find {

/// Lines of POSIX shell that set the environment for the calls that follow. The locale is UTF-8
/// where the guest has C.UTF-8, and error texts are English.
std::string GitEnvironment();

/// `git` with the `-c` options that win over a repository's configuration; a subcommand follows.
std::string GitCommand();

}  // namespace find

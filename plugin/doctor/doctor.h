#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/examination.h"
#include "doctor/finding.h"

namespace doctor {

struct Options {
  std::string instance;
  std::string path;  ///< where programs are looked for: the value of $PATH
};

/// Looks at everything between an agent and the guest of an instance, in this order:
///   limactl        is on PATH, and new enough
///   plugin         `limactl mcp` runs this very program, and not another one
///   name           is one that Lima takes for an instance
///   instance       exists
///   configuration  its lima.yaml and those of Lima's home can be read
///   status         it runs
///   mounts         are there, on the host, and none is one with old contents
///   ssh.config     can be read
///   port           is the one that the host agent knows
///   key            is there, is a key, and is nobody else's
///   connect        sshd answers and lets us in
///   sftp           works
///   shell          the login shell runs a command, in silence and soon
///   git, find      are there
///   mounted        the mounts are there in the guest
///   write          each writable mount can be written to
///   round trip     a server is started as an agent does it, and used
///
/// All of it ends within five minutes, whatever does not answer; with a sound instance it takes
/// less than a second. Changes nothing but for a file in each writable mount, which it removes
/// again. Other errors than findings are not thrown. `on_result` is called after each check.
/// SIGPIPE must be ignored.
std::vector<Result> Examine(const Options& options, const Examination::Observer& on_result);

}  // namespace doctor

#include "testing/limactl.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "testing/throw_errno.h"

namespace testing_support {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

void ChangeOwner(const fs::path& path, uid_t user) {
  if (::lchown(path.c_str(), user, user) != 0) {
    ThrowErrno("lchown " + path.string());
  }
}

}  // namespace

Limactl::Limactl()
    : program_(FindProgram("limactl")), user_id_(::geteuid() == 0 ? kNobody : ::geteuid()) {
  if (program_.empty()) program_ = LIMACTL_MCP_REFERENCE_LIMACTL;
  if (!fs::exists(program_)) {
    throw std::runtime_error("no limactl: neither on PATH nor unpacked at " + program_.string());
  }
  if (::geteuid() == 0 && FindProgram("setpriv").empty()) {
    throw std::runtime_error(
        "limactl refuses root, and there is no setpriv to become another user");
  }
  ProcessResult result = TryVersion();
  if (result.exit_code != 0 && ::geteuid() == 0) {
    copy_ = std::make_shared<const TemporaryDirectory>();
    fs::copy_file(program_, copy_->path() / "limactl");
    program_ = copy_->path() / "limactl";
    GiveAway(copy_->path());
    result = TryVersion();
  }
  if (result.exit_code != 0) {
    throw std::runtime_error(program_.string() + " --version fails: " + result.error);
  }
}

void Limactl::GiveAway(const fs::path& directory) const {
  if (::geteuid() != 0) return;
  ChangeOwner(directory, user_id_);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    ChangeOwner(entry.path(), user_id_);
  }
}

ChildProcess::Options Limactl::Command(
    const std::vector<std::string>& arguments, const fs::path& home, const fs::path& lima_home,
    std::map<std::string, std::optional<std::string>> environment) const {
  ChildProcess::Options options;
  if (::geteuid() == 0) {
    const std::string id = std::to_string(user_id_);
    options.arguments = {"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups"};
  }
  options.arguments.push_back(program_);
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = std::move(environment);
  options.environment["HOME"] = home;
  options.environment["LIMA_HOME"] = lima_home;
  options.working_directory = "/";
  return options;
}

ProcessResult Limactl::Run(const std::vector<std::string>& arguments, const fs::path& home,
                           const fs::path& lima_home) const {
  return RunProcess(Command(arguments, home, lima_home));
}

ProcessResult Limactl::TryVersion() const {
  return Run({"--version"}, "/nonexistent", "/nonexistent");
}

}  // namespace testing_support

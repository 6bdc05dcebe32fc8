#include "bench/reference.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): macOS declares it nowhere

namespace bench {

double TimeProgram(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions = {};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);

  const auto start = std::chrono::steady_clock::now();
  pid_t process = 0;
  const int failure =
      ::posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::system_error(failure, std::generic_category(), words[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (status != 0) {
    throw std::runtime_error(words[0] + " ended with wait status " + std::to_string(status));
  }
  return time.count();
}

Reference::Reference(std::string ssh_config, std::string host, const std::string& directory,
                     bool guest_is_here)
    : ssh_config_(std::move(ssh_config)),
      host_(std::move(host)),
      control_path_(directory + "/shared"),
      batch_file_(directory + "/batch"),
      guest_is_here_(guest_is_here) {
  std::vector<std::string> master = Ssh(true);
  master.insert(master.begin() + 1, {"-o", "ControlMaster=yes", "-f", "-N"});
  TimeProgram(master);
}

Reference::~Reference() {
  try {
    std::vector<std::string> end = Ssh(true);
    end.insert(end.begin() + 1, {"-q", "-O", "exit"});
    TimeProgram(end);
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << '\n';
  }
}

std::vector<std::string> Reference::Ssh(bool shared) const {
  return {"ssh",
          "-F",
          ssh_config_,
          "-o",
          "ControlPath=" + (shared ? control_path_ : std::string("none")),
          "-o",
          "LogLevel=ERROR",
          host_};
}

double Reference::LoginShell(const std::string& command) const {
  std::vector<std::string> words = Ssh(true);
  words.push_back("exec \"$SHELL\" -l -c '" + command + "'");
  return TimeProgram(words);
}

double Reference::Connect(const std::string& command) const {
  std::vector<std::string> words = Ssh(false);
  words.push_back(command);
  return TimeProgram(words);
}

double Reference::InGuest(const std::string& command) const {
  if (guest_is_here_) return TimeProgram({"sh", "-c", command});
  std::vector<std::string> words = Ssh(true);
  words.push_back(command);
  return TimeProgram(words);
}

double Reference::Sftp(const std::string& command) const {
  std::ofstream(batch_file_) << command << '\n';
  return TimeProgram({"sftp", "-q", "-F", ssh_config_, "-o", "ControlPath=" + control_path_, "-o",
                      "LogLevel=ERROR", "-b", batch_file_, host_});
}

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
#include "testing/loopback_instance.h"

#include <libssh/libssh.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "testing/eventually.h"
#include "testing/files.h"
#include "testing/sockets.h"

namespace testing_support {
namespace {

namespace fs = std::filesystem;

constexpr int kPortTries = 20;
constexpr auto kStartTimeout = std::chrono::seconds(20);

std::string CurrentUser() {
  const passwd* entry = ::getpwuid(::getuid());  // NOLINT(concurrency-mt-unsafe)
  if (entry == nullptr) {
    throw std::runtime_error("user id " + std::to_string(::getuid()) +
                             " has no entry in the password database; sshd needs one");
  }
  return entry->pw_name;
}

std::string SftpServer() {
  for (const char* path : {"/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server",
                           "/usr/libexec/sftp-server", "/usr/lib/ssh/sftp-server"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return "internal-sftp";
}

std::string SshdProgram() {
  // sshd starts itself again for each connection and therefore wants its absolute path.
  for (const char* path : {"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/opt/homebrew/sbin/sshd"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  throw std::runtime_error("no sshd found (Debian: apt-get install openssh-server)");
}

/// Hundreds of instances start in a run of all tests, and ssh-keygen takes longer than sshd.
void MakeKey(const fs::path& path) {
  ssh_key key = nullptr;
  int status = ::ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key);
  const std::unique_ptr<ssh_key_struct, decltype(&::ssh_key_free)> owner(key, ::ssh_key_free);
  if (status == SSH_OK) {
    status = ::ssh_pki_export_privkey_file(key, nullptr, nullptr, nullptr, path.c_str());
  }
  if (status == SSH_OK) {
    status = ::ssh_pki_export_pubkey_file(key, (path.string() + ".pub").c_str());
  }
  if (status != SSH_OK) throw std::runtime_error("libssh makes no key " + path.string());
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

std::uint16_t FreePort() {
  std::uint16_t port = 0;
  ListenOnLoopback(port);
  return port;
}

/// The children that are sshd too (since OpenSSH 9.8: sshd-session), oldest first.
std::vector<pid_t> SshdChildren(pid_t parent) {
  // Linux's /proc/PID/task/PID/children may leave some out while others end.
  const ProcessResult children =
      RunProcess({.arguments = {"pgrep", "-P", std::to_string(parent), "^sshd"}});
  std::vector<pid_t> pids;
  std::istringstream lines(children.output);
  for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
  return pids;
}

/// Whether its child serves the login: for an ordinary user, and since OpenSSH 10 for root. Else a
/// child of it belongs to the login.
bool IsMonitor(pid_t pid) {
  if (::getuid() != 0) return true;
  std::string title;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/cmdline"), title);
  return title.find("[priv]") != std::string::npos;
}

}  // namespace

LoopbackInstance::Options LoopbackInstance::Parse(fs::path lima_home,
                                                  const std::vector<std::string>& words) {
  Options options;
  options.lima_home = std::move(lima_home);
  options.name = words.at(0);
  for (std::string word : std::vector<std::string>(words.begin() + 1, words.end())) {
    if (word.starts_with("yaml=")) {
      options.lima_yaml += word.substr(5) + "\n";
    } else if (word.starts_with("sshd=")) {
      options.sshd_options.push_back(word.substr(5));
    } else {
      const bool is_writable = word.ends_with(":w");
      if (is_writable) word.resize(word.size() - 2);
      const std::size_t colon = std::min(word.find(':'), word.size());
      options.mounts.push_back({.location = word.substr(0, colon),
                                .mount_point = word.substr(std::min(colon + 1, word.size())),
                                .writable = is_writable});
    }
  }
  return options;
}

LoopbackInstance::LoopbackInstance(Options options)
    : options_(std::move(options)), user_(CurrentUser()) {
  WriteStaticFiles();
  Start();
}

LoopbackInstance::~LoopbackInstance() {
  Stop();
}

fs::path LoopbackInstance::directory() const {
  return options_.lima_home / options_.name;
}

std::string LoopbackInstance::identity_file() const {
  return options_.lima_home / "_config" / "user";
}

void LoopbackInstance::WriteStaticFiles() {
  fs::create_directories(options_.lima_home / "_config");
  options_.lima_home = fs::canonical(options_.lima_home);
  fs::create_directories(directory());
  if (!fs::exists(identity_file())) MakeKey(identity_file());

  std::ostringstream yaml;
  yaml << "vmType: qemu\narch: " << (sizeof(void*) == 8 ? "x86_64" : "armv7l")
       << "\nimages:\n- location: /nonexistent.img\nportForwards:\n- {guestIP: 0.0.0.0, "
       << "guestIPMustBeZero: false, proto: any, ignore: true}\n"
       << options_.lima_yaml << "\nmounts:\n";
  for (const Mount& mount : options_.mounts) {
    yaml << "- location: \"" << mount.location << "\"\n";
    if (!mount.mount_point.empty()) yaml << "  mountPoint: \"" << mount.mount_point << "\"\n";
    yaml << "  writable: " << (mount.writable ? "true" : "false") << "\n";
  }
  if (options_.mounts.empty()) yaml << "  []\n";
  WriteFile(directory() / "lima.yaml", yaml.str());
  WriteFile(directory() / "lima-version", "2.2.0");
}

void LoopbackInstance::WriteRunningFiles() const {
  std::string host = options_.name;
  std::replace_if(
      host.begin(), host.end(), [](char c) { return c == '.' || c == '_'; }, '-');
  std::ostringstream config;
  config << "# Written like limactl writes it\nHost lima-" << host << "\n"
         << "  IdentityFile \"" << identity_file() << "\"\n"
         << "  StrictHostKeyChecking yes\n  UserKnownHostsFile \""
         << (directory() / "ssh_known_hosts").string() << "\"\n  HostKeyAlias lima-" << host << "\n"
         << "  NoHostAuthenticationForLocalhost yes\n  PreferredAuthentications publickey\n"
         << "  Compression no\n  BatchMode yes\n  IdentitiesOnly yes\n"
         << "  GSSAPIAuthentication no\n"
         << "  Ciphers \"^aes128-gcm@openssh.com,aes256-gcm@openssh.com\"\n"
         << "  User " << user_ << "\n  ControlMaster auto\n"
         << "  ControlPath \"" << (directory() / "ssh.sock").string() << "\"\n"
         << "  ControlPersist yes\n  Hostname 127.0.0.1\n  Port " << port_ << "\n";
  WriteFile(directory() / "ssh.config", config.str());
  WriteFile(directory() / "ssh_known_hosts",
            "lima-" + host + " " + ReadFile(directory() / "ssh_host_key.pub"));
  WriteFile(directory() / "ha.pid", std::to_string(::getpid()) + "\n");
  WriteFile(directory() / "qemu.pid", std::to_string(sshd_->pid()) + "\n");
}

void LoopbackInstance::WritePort(std::uint16_t port) {
  const fs::path config = directory() / "ssh.config";
  std::string changed = ReadFile(config);
  const std::size_t begin = changed.find("Port ");
  changed.replace(begin, changed.find('\n', begin) - begin, "Port " + std::to_string(port));
  WriteFile(config.string() + ".new", changed);
  StartHostAgent(0);  // the agent does not know it yet
  fs::rename(config.string() + ".new", config);
  StartHostAgent(port);
}

void LoopbackInstance::StartHostAgent(std::uint16_t port) {
  const std::string body = R"({"sshLocalPort":)" + std::to_string(port) + "}";
  const std::string answer =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  if (host_agent_) return host_agent_->SetAnswer(answer);
  fs::remove(directory() / "ha.sock");
  host_agent_ = std::make_unique<FakeHostAgent>(directory() / "ha.sock", answer);
}

bool LoopbackInstance::TryStartSshd(std::uint16_t port) {
  const fs::path config = directory() / "sshd_config";
  std::ostringstream text;
  constexpr std::string_view kHooks = "Subsystem sftp hooks ";
  // Of several such lines, sshd takes the first.
  constexpr std::string_view kSetEnv = "SetEnv GIT_CONFIG_NOSYSTEM=1";
  for (std::string line : options_.sshd_options) {
    if (line.starts_with("SetEnv ")) line.replace(0, std::strlen("SetEnv"), kSetEnv);
    if (!line.starts_with(kHooks)) text << line << "\n";
    if (line.starts_with(kHooks)) {
      text << "Subsystem sftp exec " SFTP_HOOKS " " << SftpServer() << " "
           << line.substr(kHooks.size()) << "\n";
    }
  }
  // A home of its own, without the real user's profile.
  const fs::path home = directory() / "guest-home";
  fs::create_directories(home);
  text << kSetEnv << " HOME=" << home.string();
#ifdef __APPLE__
  // Homebrew's git has Perl-compatible expressions, Apple's does not.
  text << " PATH=/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
#endif
  text << "\n";
  text << "Port " << port << "\nListenAddress 127.0.0.1\n"
       << "HostKey " << (directory() / "ssh_host_key").string() << "\n"
       << "AuthorizedKeysFile " << identity_file() << ".pub\n"
       << "AuthenticationMethods publickey\nUsePAM no\nStrictModes no\nPidFile none\n"
       << "PermitRootLogin prohibit-password\nPrintMotd no\nPrintLastLog no\n";
  // sshd refuses a second line for the same subsystem.
  const bool own_subsystem =
      std::any_of(options_.sshd_options.begin(), options_.sshd_options.end(),
                  [](const std::string& line) { return line.starts_with("Subsystem "); });
  if (!own_subsystem) text << "Subsystem sftp " << SftpServer() << "\n";
  WriteFile(config, text.str());
  const fs::path log = directory() / "sshd.log";
  const std::uintmax_t old_size = fs::exists(log) ? fs::file_size(log) : 0;
  sshd_ = std::make_unique<ChildProcess>(
      ChildProcess::Options{.arguments = {SshdProgram(), "-D", "-E", log, "-f", config}});
  std::string logged;
  bool listens = false;
  Eventually(
      [&] {
        std::ifstream file(log);
        file.seekg(static_cast<std::streamoff>(old_size));
        logged.assign(std::istreambuf_iterator<char>(file), {});
        listens = logged.find("Server listening on 127.0.0.1") != std::string::npos;
        return listens || sshd_->Wait(std::chrono::milliseconds(0));
      },
      kStartTimeout);
  if (listens) return true;
  sshd_.reset();
  if (logged.find("Address already in use") != std::string::npos) return false;
  throw std::runtime_error("sshd did not come up: " + logged);
}

void LoopbackInstance::Start() {
  if (::getuid() == 0) fs::create_directories("/run/sshd");  // Debian's sshd wants it as root
  MakeKey(directory() / "ssh_host_key");
  bool started = false;
  for (int tries = 0; tries < kPortTries && !started; ++tries) {
    port_ = FreePort();
    started = TryStartSshd(port_);
  }
  if (!started) throw std::runtime_error("found no free port for sshd");

  StartHostAgent(port_);
  WriteRunningFiles();
}

std::vector<pid_t> LoopbackInstance::SessionPids() const {
  std::vector<pid_t> serving;
  for (const pid_t child : SshdChildren(sshd_->pid())) {
    const std::vector<pid_t> grandchildren =
        IsMonitor(child) ? SshdChildren(child) : std::vector<pid_t>();
    if (grandchildren.empty()) serving.push_back(child);
    serving.insert(serving.end(), grandchildren.begin(), grandchildren.end());
  }
  return serving;
}

void LoopbackInstance::Stop() {
  if (!sshd_) return;
  // Stopped first, so that no session starts after they are listed.
  sshd_->Signal(SIGSTOP);
  siginfo_t stopped{};
  // WNOWAIT leaves its exit status to sshd_.
  ::waitid(P_PID, static_cast<id_t>(sshd_->pid()), &stopped, WSTOPPED | WEXITED | WNOWAIT);
  for (const pid_t pid : SessionPids()) ::kill(pid, SIGKILL);
  sshd_->Signal(SIGTERM);
  sshd_->Signal(SIGCONT);
  sshd_.reset();
  host_agent_.reset();
  for (const char* name : {"ha.pid", "qemu.pid", "ha.sock"}) fs::remove(directory() / name);
}

}  // namespace testing_support

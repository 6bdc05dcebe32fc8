// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "shell/shells.h"
#include "ssh/connection.h"
#include "support/context.h"
#include "testing/child_process.h"
#include "testing/eventually.h"
#include "testing/files.h"
#include "testing/loopback_instance.h"
#include "testing/recorded_process.h"
#include "testing/temporary_directory.h"

/// ssh::Connect against a real sshd on a loopback port.
namespace ssh_guest {

using namespace std::chrono_literals;
using testing_support::CollectedOutput;
using testing_support::Eventually;
using testing_support::ReadFile;
using testing_support::RecordedProcess;

class Stopwatch {
 public:
  [[nodiscard]] auto elapsed() const { return support::Clock::now() - start_; }

 private:
  support::Clock::time_point start_ = support::Clock::now();
};

template <typename Exception, typename Call>
Exception Thrown(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    throw;
  }
  ADD_FAILURE() << "nothing was thrown";
  throw std::logic_error("nothing was thrown");
}

/// Bytes without a short period, so that a piece in the wrong place is seen.
inline std::string Pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return bytes;
}

/// Sends one request.
inline void Execute(guest::Guest& guest, const guest::Request& request,
                    const support::Context& context) {
  guest.Execute(request, context).RequireSuccess();
}

/// Up to `length` bytes from the beginning of the file.
inline std::string ReadAll(guest::OpenFile& file, std::size_t length,
                           const support::Context& context) {
  std::string bytes;
  while (bytes.size() < length) {
    const std::string some = file.ReadSome(bytes.size(), length - bytes.size(), context);
    if (some.empty()) break;
    bytes += some;
  }
  return bytes;
}

/// An instance with a real sshd on a loopback port, in a temporary directory, and connections made
/// from its ssh.config as the program makes them.
class SshGuest : public ::testing::Test {
 protected:
  /// Replaces the previous instance, if there is one.
  void StartInstance(std::vector<std::string> sshd_options = {}) {
    instance_.reset();
    testing_support::LoopbackInstance::Options options;
    options.lima_home = directory_.path() / "lima";
    options.sshd_options = std::move(sshd_options);
    instance_ = std::make_unique<testing_support::LoopbackInstance>(std::move(options));
  }

  [[nodiscard]] ssh::Endpoint Endpoint() const {
    return {"127.0.0.1",
            instance_->port(),
            instance_->user(),
            {instance_->identity_file()},
            "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"};
  }

  /// Starts an instance first if there is none.
  [[nodiscard]] std::shared_ptr<guest::Guest> Connect(const ssh::ConnectionOptions& options = {}) {
    if (!instance_) StartInstance();
    return ssh::Connect(Endpoint(), options, support::Context());
  }

  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }

  shell::RunEnd Command(guest::Guest& guest, const std::string& line, shell::OutputSink& sink,
                        const support::Context& context) const {
    return guest.shells().RunCommand({line, "", directory_.path().string(), "/bin/bash"}, sink,
                                     context);
  }

  /// The oldest process of the session without children: the server of the first channel.
  [[nodiscard]] pid_t FirstServer() const {
    pid_t pid = instance_->SessionPids().front();
    while (true) {
      const auto children =
          testing_support::RunProcess({.arguments = {"pgrep", "-P", std::to_string(pid)}});
      std::istringstream lines(children.output);
      if (!(lines >> pid)) return pid;
    }
  }

  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
  const support::Context minute_ = support::Context().WithTimeout(60s);
};

}  // namespace ssh_guest

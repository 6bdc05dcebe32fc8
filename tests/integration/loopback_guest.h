#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ssh/connection.h"
#include "testing/loopback_instance.h"
#include "testing/temporary_directory.h"

namespace integration {

/// For tests of ssh::Connect with a real sshd on a loopback port: an instance in a temporary
/// directory, and connections made from its ssh.config as the program makes them.
class LoopbackGuest : public ::testing::Test {
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

  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
};

}  // namespace integration

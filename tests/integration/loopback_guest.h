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

/// Tests of what goes over ssh::Connection to a real sshd on a loopback port: an instance in a
/// temporary directory, and connections to it as the program makes them of the instance's
/// ssh.config.
class LoopbackGuest : public ::testing::Test {
 protected:
  /// Takes the place of the instance before, if there is one.
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

  [[nodiscard]] std::shared_ptr<ssh::Connection> Connect(
      const ssh::ConnectionOptions& options = {}) const {
    return ssh::Connection::Open(Endpoint(), options, support::Context());
  }

  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory_.path() / name).string();
  }

  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
};

}  // namespace integration

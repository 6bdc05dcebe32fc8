// ssh::Connection against a real sshd on a loopback port.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "ssh/connection.h"
#include "testing/loopback_instance.h"
#include "testing/temporary_directory.h"

namespace {

using namespace std::chrono_literals;
using guest::FileErrorCode;
using guest::OpenMode;
using ::testing::HasSubstr;

class CollectedOutput : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    (stream == guest::OutputStream::kStandardOutput ? output : error) += bytes;
    return true;
  }
  std::string output;
  std::string error;
};

class SshGuest : public ::testing::Test {
 protected:
  void StartInstance(std::vector<std::string> sshd_options = {}) {
    testing_support::LoopbackInstance::Options options;
    options.lima_home = directory_.path() / "lima";
    options.sshd_options = std::move(sshd_options);
    instance_ = std::make_unique<testing_support::LoopbackInstance>(std::move(options));
  }

  ssh::Endpoint Endpoint() const {
    return {"127.0.0.1",
            instance_->port(),
            instance_->user(),
            {instance_->identity_file()},
            "\"^aes128-gcm@openssh.com,aes256-gcm@openssh.com\""};
  }

  std::shared_ptr<ssh::Connection> Connect(const ssh::ConnectionOptions& options = {}) const {
    return ssh::Connection::Open(Endpoint(), options, support::Context());
  }

  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }

  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static guest::CommandResult Run(guest::Guest& guest, const std::string& line,
                                  guest::OutputSink& sink, const support::Context& context = {}) {
    guest::Command command;
    command.command_line = line;
    return guest.Run(command, sink, context);
  }

  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
  const support::Context minute_ = support::Context().WithTimeout(60s);
};

TEST_F(SshGuest, RunsACommand) {
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  const auto result = Run(*guest, "echo out; echo err >&2; exit 7", sink, minute_);
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_EQ(result.exit_signal, std::nullopt);
  EXPECT_EQ(sink.output, "out\n");
  EXPECT_EQ(sink.error, "err\n");
}

TEST_F(SshGuest, StatsReadsAndWrites) {
  StartInstance();
  const auto guest = Connect();
  WriteFile("file", "hello");
  const auto attributes = guest->Stat(Path("file"), minute_);
  EXPECT_EQ(attributes.type, guest::FileType::kRegular);
  EXPECT_EQ(attributes.size, 5U);
  EXPECT_EQ(guest->Open(Path("file"), OpenMode::kRead, 0, minute_)->Read(1, 100, minute_), "ello");

  const auto file = guest->Open(Path("new"), OpenMode::kCreateExclusive, 0600, minute_);
  file->Write(0, "written", minute_);
  EXPECT_TRUE(file->Sync(minute_));
  file->Close(minute_);
  EXPECT_EQ(Contents(Path("new")), "written");
}

}  // namespace

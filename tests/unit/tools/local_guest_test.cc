#include "testing/local_guest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "testing/temporary_directory.h"

// What the tests of the tools rely on: the guest over local files answers as OpenSSH's server does.
namespace testing_support {
namespace {

namespace fs = std::filesystem;

class Collector : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    (stream == guest::OutputStream::kStandardOutput ? output : error) += bytes;
    return wants_more;
  }
  std::string output;
  std::string error;
  bool wants_more = true;
};

class LocalGuestTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory.path() / name).string();
  }
  guest::FileErrorCode RealPathError(const std::string& name) {
    try {
      ADD_FAILURE() << guest.RealPath(Path(name), {});
    } catch (const guest::FileError& error) {
      return error.code();
    }
    return guest::FileErrorCode::kFailure;
  }

  TemporaryDirectory directory;
  LocalGuest guest;
  Collector sink;
};

TEST_F(LocalGuestTest, RealPathAllowsOnlyTheLastNameToBeMissing) {
  EXPECT_EQ(guest.RealPath(Path("missing"), {}), Path("missing"));
  EXPECT_EQ(RealPathError("missing/below"), guest::FileErrorCode::kNotFound);
}

TEST_F(LocalGuestTest, RealPathCallsLoopsAndFilesUsedAsDirectoriesAbsent) {
  fs::create_symlink("loop", Path("loop"));
  std::ofstream(Path("file")) << "";
  EXPECT_EQ(RealPathError("loop"), guest::FileErrorCode::kNotFound);
  EXPECT_EQ(RealPathError("file/below"), guest::FileErrorCode::kNotFound);
}

TEST_F(LocalGuestTest, CommandTakesInputAndGivesBothOutputsAndItsStatus) {
  const auto result =
      guest.Run({.command_line = "cat; echo oops >&2; exit 3", .standard_input = "text"}, sink, {});
  EXPECT_EQ(sink.output, "text");
  EXPECT_EQ(sink.error, "oops\n");
  EXPECT_EQ(result.exit_status, 3);
}

TEST_F(LocalGuestTest, CommandThatASignalEndedNamesIt) {
  const auto result = guest.Run({.command_line = "kill -TERM $$", .standard_input = ""}, sink, {});
  EXPECT_EQ(result.exit_signal, "TERM");
}

TEST_F(LocalGuestTest, StandardInputStaysOpenWhereItIsHeld) {
  const guest::Command command{.command_line = "read line; echo end of input: $?; exit 0",
                               .standard_input = "line\n",
                               .hold_standard_input_open = true};
  EXPECT_EQ(guest.Run(command, sink, {}).exit_status, 0);
  EXPECT_EQ(sink.output, "end of input: 0\n");
}

TEST_F(LocalGuestTest, SinkThatHasEnoughEndsTheRun) {
  sink.wants_more = false;
  const auto result = guest.Run({.command_line = "yes", .standard_input = ""}, sink, {});
  EXPECT_FALSE(result.exit_status);
  EXPECT_FALSE(result.exit_signal);
}

TEST_F(LocalGuestTest, StoppedContextEndsTheCommand) {
  support::StopSource source;
  const guest::Command command{.command_line = "echo started; exec sleep 1000",
                               .standard_input = ""};
  std::thread stopper([&] { source.Stop(support::StopReason::kCancelled); });
  EXPECT_THROW(guest.Run(command, sink, source.context()), support::Stopped);
  stopper.join();
}

TEST_F(LocalGuestTest, DeadlineEndsTheCommand) {
  const auto context = support::Context().WithTimeout(std::chrono::milliseconds(20));
  EXPECT_THROW(guest.Run({.command_line = "sleep 1000", .standard_input = ""}, sink, context),
               support::Stopped);
}

TEST_F(LocalGuestTest, OpeningAFifoActsAsADeadlineThatPassed) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(guest.Open(Path("fifo"), guest::OpenMode::kRead, 0, {}), support::Stopped);
}

TEST_F(LocalGuestTest, OperationsAreCountedAndMayBeMadeToFail) {
  guest.set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kStat) {
      throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "stat", path, "");
    }
  });
  EXPECT_THROW(guest.Stat("/", {}), guest::FileError);
  (void)guest.LStat("/", {});
  EXPECT_EQ(guest.counts(), "Stat 1, LStat 1");
  EXPECT_EQ(guest.total(), 2);
}

}  // namespace
}  // namespace testing_support

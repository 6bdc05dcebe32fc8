// SPDX-License-Identifier: Apache-2.0
// Processes, commands and files over ssh::Connect. tests/suites has what users see of them.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <filesystem>
#include <set>
#include <thread>

#include "integration/ssh_guest_fixture.h"
#include "testing/guest_processes.h"

namespace ssh_guest {
namespace {

using guest::OpenMode;
using guest::Request;
using testing_support::EndsSoon;

TEST_F(SshGuest, AProcessNeedNotReadItsInput) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("head -c 1; exit 3", recorded);
  process->Send(Pattern(20'000'000));
  EXPECT_EQ(recorded->End().exit_status, 3);
}

TEST_F(SshGuest, InputThatIsNotReadCostsNoTime) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("echo; exec sleep 100", recorded);
  process->Send(Pattern(20'000'000));
  ASSERT_TRUE(Eventually([&] { return !recorded->output().empty(); }));
  CollectedOutput sink;
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  guest->shells().RunScript({"true"}, sink, minute_);
  const auto before = used();
  guest->shells().RunScript({"sleep 2"}, sink, minute_);
  EXPECT_LT(used() - before, 500ms);
}

TEST_F(SshGuest, TakesLongScriptsAndCommands) {
  const auto guest = Connect();
  const std::string line = "x=" + std::string(300'000, 'x') + "; echo ${#x}";
  CollectedOutput sink;
  EXPECT_EQ(guest->shells().RunScript({line}, sink, minute_).exit_status, 0);
  EXPECT_EQ(Command(*guest, line, sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "300000\n300000\n");
}

TEST_F(SshGuest, EndsWhenTheSinkWantsNoMore) {
  const auto guest = Connect();
  for (const bool is_script : {true, false}) {
    int pieces = 0;
    shell::FunctionSink sink([&](shell::Stream, std::string_view) { return ++pieces < 1; });
    const std::string line = "echo $$ >" + Path("pid") + "; exec yes";
    const shell::RunEnd end = is_script ? guest->shells().RunScript({line}, sink, minute_)
                                        : Command(*guest, line, sink, minute_);
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(end.exit_status, std::nullopt);
    EXPECT_TRUE(EndsSoon(Path("pid")));
  }
}

TEST_F(SshGuest, ConcurrentListingsGetTheirOwnNames) {
  const auto guest = Connect();
  const std::string top = guest->RealPath(directory_.path().string(), {});
  constexpr int kThreads = 4;
  constexpr int kNames = 250;  // three replies of OpenSSH's server
  const auto directory = [&](int thread) { return top + "/d" + std::to_string(thread); };
  const auto name = [](int thread, int i) {
    return std::to_string(thread) + "-" + std::to_string(i);
  };
  for (int thread = 0; thread < kThreads; ++thread) {
    std::filesystem::create_directory(directory(thread));
    for (int i = 0; i < kNames; ++i) {
      std::ofstream(directory(thread) + "/" + name(thread, i)) << name(thread, i);
    }
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::set<std::string> expected;
      for (int i = 0; i < kNames; ++i) expected.insert(name(thread, i));
      for (int round = 0; round < kNames; ++round) {
        std::set<std::string> found;
        guest::Reply reply = guest->Execute(Request::OpenDirectory(directory(thread)), minute_);
        const auto entries = ReadNames(guest::OpenFile(*guest, reply.As<guest::Handle>()), minute_);
        for (const auto& entry : entries) found.insert(entry.name);
        EXPECT_EQ(found, expected);
        // Some listings begin while a file is open, and some do not.
        const std::string file = directory(thread) + "/" + name(thread, round);
        if (round % 4 == thread) {
          EXPECT_EQ(guest->Open(file, OpenMode::kRead, 0, minute_)->ReadSome(0, 100, minute_),
                    name(thread, round));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

#ifdef __linux__
TEST_F(SshGuest, AStoppedCallStillClosesItsFiles) {
  const auto guest = Connect();
  WriteFile("file", "");
  const auto open = Request::Open(Path("file"));
  const auto handle = guest->RoundTrip({open}, minute_).front().As<guest::Handle>();
  // Linux grants a write lease only on a file that nobody else has open.
  const auto is_open = [&] {
    const support::FileDescriptor file(::open(Path("file").c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_TRUE(file.valid());
    return ::fcntl(file.get(), F_SETLEASE, F_WRLCK) != 0;
  };
  EXPECT_TRUE(is_open());
  support::StopSource source;
  source.Stop(support::StopReason::kCancelled);
  EXPECT_THROW(guest->RoundTrip({Request::Close(handle)}, source.context()), support::Stopped);
  guest->LStat("/", minute_);
  EXPECT_FALSE(is_open());
}
#endif

TEST_F(SshGuest, ManyThreadsUseOneConnection) {
  const auto guest = Connect();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string path = Path("file" + std::to_string(i));
      const std::string bytes = Pattern(300'000 + static_cast<std::size_t>(i));
      guest->Open(path, OpenMode::kCreateExclusive, 0600, minute_)
          ->WriteAndClose(bytes, {}, minute_);
      const auto again = guest->Open(path, OpenMode::kRead, 0, minute_);
      EXPECT_TRUE(ReadAll(*again, bytes.size(), minute_) == bytes);
      // Requests that time out at any stage.
      for (int delay = 0; delay < 20; ++delay) {
        try {
          guest->LStat(path, minute_.WithTimeout(std::chrono::microseconds(delay * 20)));
        } catch (const support::Stopped&) {
        }
      }
      Execute(*guest, Request::Unlink(path), minute_);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ssh_guest

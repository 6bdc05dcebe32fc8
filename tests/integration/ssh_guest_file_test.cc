// Files over ssh::Connect.

#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <thread>

#include "integration/ssh_guest_fixture.h"

namespace ssh_guest {
namespace {

using guest::FileErrorCode;
using guest::OpenMode;
using guest::Request;

TEST_F(SshGuest, StatsReadsAndWrites) {
  const auto guest = Connect();
  WriteFile("file", "hello");
  const auto attributes = guest->LStat(Path("file"), minute_);
  EXPECT_EQ(attributes.type, guest::FileType::kRegular);
  EXPECT_EQ(attributes.size, 5U);
  EXPECT_EQ(guest->Open(Path("file"), OpenMode::kRead, 0, minute_)->ReadSome(1, 100, minute_),
            "ello");

  const auto file = guest->Open(Path("new"), OpenMode::kCreateExclusive, 0600, minute_);
  file->Write(0, "written", minute_);
  Execute(*guest, Request::SetAttributes(file->handle(), {.permissions = 0640, .size = {}}),
          minute_);
  const auto changed =
      ValueOf<guest::FileAttributes>(*guest, Request::StatOpen(file->handle()), minute_);
  EXPECT_EQ(changed.permissions, 0640U);
  file->WriteAndClose("", {}, minute_);
  EXPECT_EQ(ReadFile(Path("new")), "written");
  guest->Open(Path("new"), OpenMode::kWrite, 0, minute_)->Write(2, "XX", minute_);
  EXPECT_EQ(ReadFile(Path("new")), "wrXXten");
}

TEST_F(SshGuest, DoesTheOtherFileOperations) {
  const auto guest = Connect();
  WriteFile("a", "a");
  WriteFile("b", "b");
  Execute(*guest, Request::Rename(Path("a"), Path("b")), minute_);
  EXPECT_EQ(ReadFile(Path("b")), "a");
  Execute(*guest, Request::MakeDirectory(Path("dir"), 0700), minute_);
  std::filesystem::create_symlink("../b", Path("dir/link"));
  EXPECT_EQ(guest->ReadLink(Path("dir/link"), minute_), "../b");
  EXPECT_EQ(guest->RealPath(Path("dir/link"), minute_), Path("b"));
  EXPECT_EQ(guest->LStat(Path("dir/link"), minute_).type, guest::FileType::kSymlink);
  Execute(*guest, Request::Unlink(Path("b")), minute_);
  EXPECT_FALSE(std::filesystem::exists(Path("b")));
  const auto status =
      ValueOf<guest::FileSystemStatus>(*guest, Request::StatFileSystem(Path("dir")), minute_);
  EXPECT_GT(status.free_bytes, 0U);
  EXPECT_FALSE(status.read_only);
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
        for (const auto& entry : List(*guest, directory(thread), minute_)) found.insert(entry.name);
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

TEST_F(SshGuest, ReportsWhatIsWrongWithAFile) {
  const auto guest = Connect();
  WriteFile("file", "");
  const auto code = [](auto call) { return Thrown<guest::FileError>(call).code(); };
  EXPECT_EQ(code([&] { guest->LStat(Path("none"), minute_); }), FileErrorCode::kNotFound);
  EXPECT_EQ(code([&] { List(*guest, Path("none"), minute_); }), FileErrorCode::kNotFound);
  EXPECT_EQ(code([&] { guest->ReadLink(Path("file"), minute_); }), FileErrorCode::kFailure);
  EXPECT_EQ(code([&] { guest->Open(Path("file"), OpenMode::kCreateExclusive, 0600, minute_); }),
            FileErrorCode::kFailure);
  EXPECT_EQ(code([&] { Execute(*guest, Request::MakeDirectory(Path("file"), 0700), minute_); }),
            FileErrorCode::kFailure);
}

TEST_F(SshGuest, ListsADirectoryOfAnySize) {
  const auto guest = Connect();
  EXPECT_THAT(List(*guest, directory_.path() / "lima" / "_config", minute_), ::testing::SizeIs(2));
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(List(*guest, Path("empty"), minute_), ::testing::IsEmpty());
  std::filesystem::create_directory(Path("many"));
  for (int i = 0; i < 2500; ++i) WriteFile("many/" + std::to_string(i), "");
  auto entries = List(*guest, Path("many"), minute_);
  EXPECT_EQ(entries.size(), 2500U);
  EXPECT_EQ(entries.front().attributes.type, guest::FileType::kRegular);
}

TEST_F(SshGuest, ReadsAndWritesSixteenMebibytes) {
  const auto guest = Connect();
  const std::string bytes = Pattern(16 * 1024 * 1024);
  const auto file = guest->Open(Path("big"), OpenMode::kCreateExclusive, 0600, minute_);
  file->WriteAndClose(bytes, {}, minute_);
  EXPECT_TRUE(ReadFile(Path("big")) == bytes);
  const auto again = guest->Open(Path("big"), OpenMode::kRead, 0, minute_);
  EXPECT_TRUE(ReadAll(*again, bytes.size(), minute_) == bytes);
  EXPECT_TRUE(ReadAll(*again, static_cast<std::size_t>(-1), minute_) == bytes);
  EXPECT_EQ(again->ReadSome(bytes.size(), 10, minute_), "");
  EXPECT_EQ(again->ReadSome(0, 0, minute_), "");
}

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

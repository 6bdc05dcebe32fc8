// Plays every transcript against a server with fake tools in this process.
//
//   --rewrite          writes what the server answered into the files; review the difference
//   --server COMMAND…  plays those that need no fake tools against that server instead

#include "transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace transcripts {
namespace {

namespace fs = std::filesystem;

struct Options {
  bool rewrite = false;
  std::vector<std::string> server;
};

using Start = std::function<std::unique_ptr<Peer>()>;

class TranscriptTest : public ::testing::Test {
 public:
  TranscriptTest(fs::path file, Start start, bool rewrite)
      : file_(std::move(file)), start_(std::move(start)), rewrite_(rewrite) {}

  void TestBody() override {
    const Replay replay = Play(ReadTranscript(file_), *start_());
    for (const std::string& error : replay.errors) ADD_FAILURE() << file_.string() << ", " << error;
    if (rewrite_ && !replay.errors.empty()) std::ofstream(file_) << replay.rewritten;
  }

 private:
  const fs::path file_;
  const Start start_;
  const bool rewrite_;
};

/// "1.06_ids_are_echoed" to a name that gtest accepts.
std::string TestName(const fs::path& file) {
  std::string name = file.stem().string();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

void Register(const std::string& suite, const Start& start, bool has_fake_tools, bool rewrite) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(TRANSCRIPT_DIRECTORY)) {
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (!has_fake_tools && ReadTranscript(file).needs_fake_tools) continue;
    ::testing::RegisterTest(
        suite.c_str(), TestName(file).c_str(), nullptr, nullptr, file.c_str(), 1,
        [=]() -> ::testing::Test* { return new TranscriptTest(file, start, rewrite); });
  }
}

Options ParseOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--rewrite") {
      options.rewrite = true;
    } else if (argument == "--server") {
      options.server.assign(argv + i + 1, argv + argc);
      break;
    }
  }
  return options;
}

}  // namespace
}  // namespace transcripts

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // a server that has gone is an error of write()
  const auto options = transcripts::ParseOptions(argc, argv);
  if (!options.server.empty()) {
    transcripts::Register(
        "Server", [&options] { return transcripts::StartOverPipes(options.server); }, false, false);
  } else {
    transcripts::Register("Transcript", transcripts::StartInProcess, true, options.rewrite);
  }
  return RUN_ALL_TESTS();
}

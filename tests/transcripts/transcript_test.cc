// Plays every transcript. --rewrite writes what the server answered into the files.

#include "transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace transcripts {
namespace {

namespace fs = std::filesystem;

class TranscriptTest : public ::testing::Test {
 public:
  TranscriptTest(fs::path file, bool rewrite) : file_(std::move(file)), rewrite_(rewrite) {}

  void TestBody() override {
    Peer peer;
    const Replay replay = Play(ReadTranscript(file_), peer);
    for (const std::string& error : replay.errors) ADD_FAILURE() << file_.string() << ", " << error;
    if (rewrite_ && !replay.errors.empty()) std::ofstream(file_) << replay.rewritten;
  }

 private:
  const fs::path file_;
  const bool rewrite_;
};

void RegisterAll(bool rewrite) {
  for (const auto& entry : fs::directory_iterator(TRANSCRIPT_DIRECTORY)) {
    const fs::path& file = entry.path();
    std::string name = file.stem().string();
    if (std::isdigit(name.front()) == 0) continue;  // transcripts begin with the number of a rule
    std::replace(name.begin(), name.end(), '.', '_');  // as gtest needs it
    ::testing::RegisterTest(
        "Transcript", name.c_str(), nullptr, nullptr, file.c_str(), 1,
        [=]() -> ::testing::Test* { return new TranscriptTest(file, rewrite); });
  }
}

}  // namespace
}  // namespace transcripts

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  transcripts::RegisterAll(argc > 1 && std::string_view(argv[1]) == "--rewrite");
  return RUN_ALL_TESTS();
}

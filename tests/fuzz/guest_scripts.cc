// SPDX-License-Identifier: Apache-2.0
// What the guest's programs print for our scripts: listings and search output. The exit status and
// the output are made up.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find/content_search.h"
#include "find/find_listing.h"
#include "fuzz/input.h"
#include "support/errors.h"
#include "testing/local_guest.h"

namespace {

bool Print(shell::OutputSink& sink, shell::Stream stream, std::string_view bytes,
           std::size_t piece) {
  while (!bytes.empty()) {
    if (!sink.OnOutput(stream, bytes.substr(0, piece))) return false;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return true;
}

/// Prints the rest of `input` for each script.
void Fake(testing_support::LocalGuest& guest, fuzz::Input& input) {
  const int status = input.Byte();
  const std::size_t piece = 1 + input.Byte();
  const std::string_view complaints = input.Until('\x1e');
  const std::string_view answer = input.Rest();
  guest.set_run([=](const shell::Script&, shell::OutputSink& sink, const support::Context&) {
    shell::RunEnd end;
    if (Print(sink, shell::Stream::kError, complaints, piece) &&
        Print(sink, shell::Stream::kOutput, answer, piece)) {
      end.exit_status = status;
    }
    return end;
  });
}

bool IsNameBelow(std::string_view path) {
  return !path.empty() && path.find('\0') == std::string_view::npos &&
         ("/" + std::string(path) + "/").find("//") == std::string::npos &&
         ("/" + std::string(path) + "/").find("/./") == std::string::npos &&
         ("/" + std::string(path) + "/").find("/../") == std::string::npos;
}

void List(guest::Guest& guest) {
  std::vector<find::ListingRequest> requests(2);
  requests[0].directory = "/mnt/w";
  requests[0].wants_ignored = true;
  requests[1].directory = "/";
  const auto visit = [&](std::size_t request, const find::ListedName& name) {
    fuzz::Require(request < requests.size(), "a name belongs to a request");
    fuzz::Require(IsNameBelow(name.path), "a listed name lies in its directory");
  };
  const std::string warnings = find::ListTrees(guest, requests, {"/mnt"}, visit, {});
  fuzz::Require(warnings.size() <= find::kMaxWarnings, "warnings are bounded");
}

void Search(guest::Guest& guest) {
  constexpr std::size_t kMaxOutput = 256;
  constexpr std::size_t kLastLine = 256;
  const find::SearchRequest request = {
      .directory = "/mnt/w", .pattern = "a", .maximum_output_bytes = kMaxOutput};
  const find::SearchResult result = find::SearchContent(guest, request, {});
  fuzz::Require(result.warnings.size() <= find::kMaxWarnings, "warnings are bounded");
  fuzz::Require(result.lines.size() <= kMaxOutput + kLastLine, "what is found is bounded");
  fuzz::Require(result.lines.empty() || result.lines.back() == '\n',
                "what is found is whole lines");
}

void Try(fuzz::Input& input) {
  testing_support::LocalGuest guest;
  const std::size_t question = input.Below(2);
  Fake(guest, input);
  if (question == 0) List(guest);
  if (question == 1) Search(guest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  try {
    Try(input);
  } catch (const support::Error& error) {
    fuzz::Require(error.what()[0] != '\0', "an error says what is wrong");
  }
  return 0;
}

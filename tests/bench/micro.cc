// SPDX-License-Identifier: Apache-2.0
// What the parts in memory cost: messages, results, patterns, path rules. Nothing here contacts a
// guest.

#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>

#include "find/glob.h"
#include "mcp/message.h"
#include "mcp/outcome.h"
#include "paths/path_rules.h"
#include "testing/local_guest.h"
#include "tools/results.h"

namespace {

using nlohmann::json;

/// Lines with quotes and tabs, as in source code.
std::string SampleText(std::size_t bytes) {
  const std::string line = "\tint function_number(const char* name) { return name == \"x\"; }\n";
  std::string text;
  while (text.size() < bytes) text += line;
  text.resize(bytes);
  return text;
}

std::string CallLine(const json& arguments) {
  return json{{"jsonrpc", "2.0"},
              {"id", 1},
              {"method", "tools/call"},
              {"params", {{"name", "write_file"}, {"arguments", arguments}}}}
      .dump();
}

void SetBytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void ParseACall(benchmark::State& state) {
  const std::string line =
      CallLine({{"path", "/work/file.txt"},
                {"content", SampleText(static_cast<std::size_t>(state.range(0)))}});
  for ([[maybe_unused]] const auto& round : state) {
    benchmark::DoNotOptimize(mcp::ParseMessage(line));
  }
  SetBytes(state, line.size());
}
BENCHMARK(ParseACall)->RangeMultiplier(64)->Range(64, 1 << 24U);

void WriteATextResult(benchmark::State& state) {
  const std::string text = SampleText(static_cast<std::size_t>(state.range(0)));
  std::size_t bytes = 0;
  for ([[maybe_unused]] const auto& round : state) {
    const mcp::ToolResult result = tools::Render(tools::FileContent{.text = text}, {});
    bytes = mcp::ToolResultText(result, mcp::Era::kLegacy, {}).size();
  }
  SetBytes(state, bytes);
}
BENCHMARK(WriteATextResult)->RangeMultiplier(64)->Range(64, 1 << 24U);

void WriteAListing(benchmark::State& state) {
  tools::Entries listing;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    listing.entries.push_back({.name = "file" + std::to_string(i) + ".txt",
                               .attributes = {.type = guest::FileType::kRegular,
                                              .permissions = 0644,
                                              .size = static_cast<std::uint64_t>(i),
                                              .modified = 1'767'225'600}});
  }
  for ([[maybe_unused]] const auto& round : state) {
    const mcp::ToolResult result = tools::Render(listing, {});
    benchmark::DoNotOptimize(mcp::ToolResultText(result, mcp::Era::kLegacy, {}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(WriteAListing)->RangeMultiplier(10)->Range(10, 10'000);

void ParseAPattern(benchmark::State& state) {
  for ([[maybe_unused]] const auto& round : state) {
    benchmark::DoNotOptimize(find::ParseGlob("src/**/[a-z]*.{cc,h,{test,bench}.cc}"));
  }
}
BENCHMARK(ParseAPattern);

void MatchAName(benchmark::State& state, const char* pattern) {
  const find::GlobMatcher matcher(find::ParseGlob(pattern), true);
  const std::string name = "src/deep/directory/of/files/some_file_name.cc";
  for ([[maybe_unused]] const auto& round : state) {
    benchmark::DoNotOptimize(matcher.Matches(name, false));
  }
}
BENCHMARK_CAPTURE(MatchAName, any_depth, "**/*.cc");
BENCHMARK_CAPTURE(MatchAName, braces, "src/**/[a-z]*.{cc,h,{test,bench}.cc}");
BENCHMARK_CAPTURE(MatchAName, nothing, "lib/*.py");

void ResolveAPath(benchmark::State& state) {
  paths::PathRules::Options options;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string name = "/mount" + std::to_string(i);
    options.roots.push_back(
        {.host = "/Users/me" + name, .guest = "/mnt" + name, .writable = i % 2 == 0});
  }
  const paths::PathRules rules(options);
  testing_support::LocalGuest guest;  // without links
  guest.set_reply([](const guest::Request& request, const support::Context&) -> guest::Reply {
    if (request.operation == guest::Operation::kRealPath) return {request.path, {}};
    return {guest::FileAttributes(), {}};
  });
  for ([[maybe_unused]] const auto& round : state) {
    benchmark::DoNotOptimize(
        rules.Resolve("/Users/me/mount0/src/./a/../file.txt", paths::Access::kWrite, guest, {}));
  }
}
BENCHMARK(ResolveAPath)->Arg(1)->Arg(100);

}  // namespace

BENCHMARK_MAIN();

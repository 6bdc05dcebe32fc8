#include "integration/fault_matrix.h"

#include <algorithm>
#include <sstream>
#include <thread>

namespace integration {
namespace {

using Clock = std::chrono::steady_clock;
using testing_support::GuestProcess;

/// For calls that need no guest.
constexpr std::chrono::seconds kAtOnce{5};

/// Processes exit within three seconds on a quiet machine.
constexpr std::chrono::seconds kOrphanTimeout{10};

std::string Describe(const std::vector<GuestProcess>& processes) {
  std::string text;
  for (const GuestProcess& process : processes) {
    text += "\n  " + std::to_string(process.pid) + " " + process.command.substr(0, 200);
  }
  return text;
}

template <typename Find>
auto LeftAfterAWhile(Find find) {
  const auto deadline = Clock::now() + kOrphanTimeout;
  while (true) {
    auto left = find();
    if (left.empty() || Clock::now() > deadline) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // between two polls
  }
}

}  // namespace

bool IsAllowed(const Ending& ending, const std::string& allowed) {
  std::istringstream words(allowed);
  for (std::string word; std::getline(words, word, '|');) {
    if (word == "ok" ? ending.well : !ending.well && ending.text.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<Cell> FaultMatrix::MakeCell(State state, const Fault& fault) {
  std::string name(Name(state));
  std::replace(name.begin(), name.end(), ' ', '-');
  fault.prepare(MakeDirectory("root/" + name));
  LoopbackInstance::Options options;
  options.name = name;
  options.mounts = {{Path("root/" + name).string(), "", true}};
  // One channel for files, one for commands: a second command waits.
  if (state == State::kQueued) options.sshd_options.emplace_back("MaxSessions 2");
  auto cell = std::make_unique<Cell>(state, StartInstance(options), Path("root/" + name),
                                     MakeDirectory("control/" + name));
  ServeOptions serve;
  serve.arguments = {name};
  cell->Attach(Serve(serve));
  return cell;
}

void FaultMatrix::CheckEnding(Cell& cell, const Fault& fault) {
  const Ending ending = cell.End(fault.limit);
  const std::string& allowed = fault.endings.at(cell.state());
  EXPECT_TRUE(IsAllowed(ending, allowed)) << "expected: " << allowed << ", got: " << ending.text;
  if (cell.QueuedCommandRan()) {
    EXPECT_THAT(ending.text, Not(HasSubstr("not run")));
  }
}

void FaultMatrix::CheckNextCalls(Cell& cell) {
  Ending next = cell.ReadSmallFile();
  EXPECT_TRUE(next.well) << "the next read: " << next.text;
  next = cell.WriteSmallFile();
  EXPECT_TRUE(next.well) << "the next write: " << next.text;
  EXPECT_EQ(ReadFile(cell.root() / "after.txt"), "after\n");
  next = cell.RunEcho();
  EXPECT_TRUE(next.well) << "the next command: " << next.text;
  EXPECT_THAT(next.text, HasSubstr("alive"));
}

void FaultMatrix::CheckFiles(Cell& cell, const Fault& fault) {
  EXPECT_EQ(cell.WhatIsWrongWithTheFile(), "");
  const auto left = LeftAfterAWhile([&] {
    if (fault.may_leave_temporary_file) {
      MakeOld(Leftovers(cell.root()));
      cell.WriteSmallFile();
    }
    return Leftovers(cell.root());
  });
  EXPECT_THAT(left, IsEmpty());
}

void FaultMatrix::RunCell(Cell& cell, const Fault& fault) {
  // Not earlier: a held connection is a silent guest.
  cell.Enter(fault.calls);
  cell.DialSshd();
  const auto before = GuestProcesses(cell.instance());
  fault.occur(cell);
  cell.GoOn();
  cell.client().Request("ping", json::object(), kAtOnce);
  const bool waits = fault.end_after_fix.count(cell.state()) > 0;
  if (!waits) CheckEnding(cell, fault);
  fault.fix(cell);
  if (waits) CheckEnding(cell, fault);
  CheckNextCalls(cell);
  CheckFiles(cell, fault);
  if (fault.ends_sessions) {
    const auto orphans = LeftAfterAWhile([&] { return testing_support::StillAlive(before); });
    EXPECT_EQ(orphans.size(), 0U) << "orphans in the guest:" << Describe(orphans);
  }
  EXPECT_EQ(cell.client().CloseAndWait(), 0) << cell.client().log();
  const auto left = LeftAfterAWhile([&] { return GuestProcesses(cell.instance()); });
  EXPECT_EQ(left.size(), 0U) << "left in the guest:" << Describe(left);
}

void FaultMatrix::Run(const Fault& fault) {
  std::vector<std::unique_ptr<Cell>> cells;
  for (const State state : kStates) cells.push_back(MakeCell(state, fault));
  std::vector<std::thread> threads;
  for (const auto& cell : cells) {
    threads.emplace_back([&] {
      SCOPED_TRACE(fault.name + ", " + std::string(Name(cell->state())));
      try {
        RunCell(*cell, fault);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace integration

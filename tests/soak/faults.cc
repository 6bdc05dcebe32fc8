#include "soak/faults.h"

#include <chrono>
#include <csignal>
#include <thread>

#include "testing/guest_processes.h"

namespace soak {

std::string DoFault(testing_support::LoopbackInstance& instance, int number) {
  constexpr int kKinds = 4;
  switch (number % kKinds) {
    case 0: {
      const auto sessions = instance.SessionPids();
      if (!sessions.empty()) ::kill(sessions.front(), SIGKILL);
      return "one session killed";
    }
    case 1:
      for (const pid_t session : instance.SessionPids()) ::kill(session, SIGKILL);
      return "all sessions killed";
    case 2:
      testing_support::Freeze(instance);
      std::this_thread::sleep_for(std::chrono::seconds(1));  // the length of the fault
      testing_support::Thaw(instance);
      return "frozen for a second";
    default:
      instance.Stop();
      instance.Start();
      return "restarted on another port with a new key";
  }
}

}  // namespace soak

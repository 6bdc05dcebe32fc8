#include "mcp/transport.h"

#include <poll.h>

#include <array>
#include <csignal>

namespace mcp {
namespace {

/// How often a full output is checked; nothing wakes poll() when there is room.
constexpr int kRoomCheckMilliseconds = 20;

}  // namespace

Transport::Transport(int input_fd, int output_fd)
    : input_fd_(input_fd),
      output_fd_(output_fd),
      reader_(input_fd),
      writer_(output_fd, output_closed_) {
  (void)std::signal(SIGPIPE, SIG_IGN);
}

Transport::Received Transport::Receive(std::string& line) {
  while (true) {
    const bool has_room = writer_.HasRoom();
    const auto next = has_room ? reader_.Next(line) : LineReader::Result::kNeedMore;
    if (next == LineReader::Result::kEndOfInput) return Received::kEndOfInput;

    // While the output is full the input is not polled: its data would wake macOS's poll() even
    // when only POLLHUP is requested.
    std::array<pollfd, 4> fds = {
        {{.fd = interrupted_.fd(), .events = POLLIN, .revents = 0},
         {.fd = output_closed_.fd(), .events = POLLIN, .revents = 0},
         {.fd = output_fd_, .events = POLLHUP, .revents = 0},
         {.fd = has_room ? input_fd_ : -1, .events = POLLIN, .revents = 0}}};
    const int wait_for_room = has_room ? -1 : kRoomCheckMilliseconds;
    ::poll(fds.data(), fds.size(), next == LineReader::Result::kNeedMore ? wait_for_room : 0);
    if (fds[0].revents != 0) return Received::kInterrupted;
    if (fds[1].revents != 0 || (fds[2].revents & (POLLERR | POLLHUP)) != 0) {
      return Received::kOutputClosed;
    }
    if (next == LineReader::Result::kLine) return Received::kLine;
    if (next == LineReader::Result::kTooLong) return Received::kLineTooLong;
    if (fds[3].revents != 0) reader_.Fill();
  }
}

void Transport::Interrupt() {
  writer_.Hurry();
  interrupted_.Wake();
}

}  // namespace mcp

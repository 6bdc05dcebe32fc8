#include "mcp/stdio_transport.h"

#include <poll.h>

#include <array>
#include <csignal>

namespace mcp {
namespace {

/// How often a full output is looked at again; nothing wakes poll() when there is room.
constexpr int kRoomCheckMilliseconds = 20;

#ifdef POLLRDHUP
// Linux tells of a socket's closed sending side only when asked.
constexpr short kHangUp = POLLRDHUP;
#else
constexpr short kHangUp = 0;
#endif

}  // namespace

StdioTransport::StdioTransport(int input_fd, int output_fd)
    : input_fd_(input_fd),
      output_fd_(output_fd),
      reader_(input_fd),
      writer_(output_fd, output_closed_) {
  std::signal(SIGPIPE, SIG_IGN);
}

Transport::Received StdioTransport::Receive(std::string& line) {
  while (true) {
    const bool has_room = writer_.HasRoom();
    const auto next = has_room ? reader_.Next(line) : LineReader::Result::kNeedMore;
    if (next == LineReader::Result::kEndOfInput) return Received::kEndOfInput;

    // No events are asked of the output: that its reader has gone is told unasked.
    std::array<pollfd, 4> fds = {
        {{.fd = interrupted_.fd(), .events = POLLIN, .revents = 0},
         {.fd = output_closed_.fd(), .events = POLLIN, .revents = 0},
         {.fd = output_fd_, .events = 0, .revents = 0},
         {.fd = input_fd_, .events = has_room ? short{POLLIN} : kHangUp, .revents = 0}}};
    const int wait_for_room = has_room ? -1 : kRoomCheckMilliseconds;
    ::poll(fds.data(), fds.size(), next == LineReader::Result::kNeedMore ? wait_for_room : 0);
    if (fds[0].revents != 0) return Received::kInterrupted;
    if (fds[1].revents != 0 || (fds[2].revents & (POLLERR | POLLHUP)) != 0) {
      return Received::kOutputClosed;
    }
    if (next == LineReader::Result::kLine) return Received::kLine;
    if (next == LineReader::Result::kTooLong) return Received::kLineTooLong;
    if (fds[3].revents == 0) continue;
    // A client that neither reads nor writes any more: the rest of its lines is not read.
    if (!has_room) return Received::kEndOfInput;
    reader_.Fill();
  }
}

}  // namespace mcp

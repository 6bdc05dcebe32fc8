// SPDX-License-Identifier: Apache-2.0
#include "ssh/channel.h"

#include <algorithm>
#include <stdexcept>

namespace ssh {

Channel::Channel(ssh_channel handle, bool keeps_data) : handle_(handle), keeps_data_(keeps_data) {
  if (!handle_) throw std::runtime_error("libssh cannot create a channel");
  callbacks_.userdata = this;
  callbacks_.channel_data_function = [](ssh_session, ssh_channel, void* data, uint32_t length,
                                        int is_standard_error, void* self) {
    auto* const channel = static_cast<Channel*>(self);
    channel->has_data_ = true;
    if (channel->keeps_data_) return 0;
    ChannelUser* const user = channel->user_;
    const std::string_view bytes(static_cast<const char*>(data), length);
    if (user != nullptr) user->OnData(is_standard_error != 0, bytes);
    return static_cast<int>(length);
  };
  callbacks_.channel_eof_function = [](ssh_session, ssh_channel, void* self) {
    static_cast<Channel*>(self)->end_of_file_ = true;
  };
  callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) {
    auto* const channel = static_cast<Channel*>(self);
    channel->end_of_file_ = channel->closed_ = true;
  };
  callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* self) {
    ChannelUser* const user = static_cast<Channel*>(self)->user_;
    if (user != nullptr) user->OnExitStatus(status);
  };
  callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* name, int,
                                               const char*, const char*, void* self) {
    ChannelUser* const user = static_cast<Channel*>(self)->user_;
    if (user != nullptr) user->OnExitSignal(name == nullptr ? "" : name);
  };
  ssh_callbacks_init(&callbacks_);
  if (ssh_set_channel_callbacks(handle_.get(), &callbacks_) != SSH_OK) {
    throw std::runtime_error("libssh cannot set the channel's callbacks");
  }
}

Channel::~Channel() {
  // libssh keeps a channel that the peer has not closed yet.
  ssh_remove_channel_callbacks(handle_.get(), &callbacks_);
}

Channel::Progress Channel::ToProgress(int code) const {
  if (code == SSH_OK) return Progress::kDone;
  // Not kRefused: if the session is lost, its owner fails everything that waits for it.
  const bool is_dead = ssh_is_connected(ssh_channel_get_session(handle_.get())) == 0;
  return code == SSH_AGAIN || is_dead ? Progress::kAgain : Progress::kRefused;
}

Channel::Progress Channel::Open() {
  return ToProgress(ssh_channel_open_session(handle_.get()));
}

Channel::Progress Channel::OpenForward(const char* address, int port) {
  return ToProgress(ssh_channel_open_forward(handle_.get(), address, port, "127.0.0.1", 0));
}

Channel::Progress Channel::Request(const std::string& command_line) {
  return ToProgress(command_line.empty()
                        ? ssh_channel_request_sftp(handle_.get())
                        : ssh_channel_request_exec(handle_.get(), command_line.c_str()));
}

std::size_t Channel::Write(std::string_view bytes) {
  // If the window is closed, libssh would poll the session on each call.
  const std::size_t length = std::min({bytes.size(), window(), kMaxWrite});
  if (length == 0 || write_failed_) return 0;
  const int written = ssh_channel_write(handle_.get(), bytes.data(), static_cast<uint32_t>(length));
  if (written < 0) write_failed_ = true;
  return written < 0 ? 0 : static_cast<std::size_t>(written);
}

std::string Channel::Read(std::size_t limit) {
  std::string bytes(has_data_ ? limit : 0, '\0');
  const int count = !has_data_ ? 0
                               : ssh_channel_read_nonblocking(handle_.get(), bytes.data(),
                                                              static_cast<uint32_t>(limit), 0);
  has_data_ = count > 0;
  bytes.resize(static_cast<std::size_t>(std::max(count, 0)));
  return bytes;
}

void Channel::SendEndOfFile() {
  // SSH_AGAIN means queued.
  if (ssh_channel_send_eof(handle_.get()) == SSH_ERROR) write_failed_ = true;
}

bool Channel::Close() {
  close_sent_ = close_sent_ || ssh_channel_close(handle_.get()) != SSH_AGAIN;
  return close_sent_ && closed_;
}

}  // namespace ssh

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <memory>
#include <string>
#include <string_view>

namespace ssh {

class Channel;

/// A process or SFTP, which uses a channel. libssh calls OnData and the functions for exits; they
/// must be quick, and must neither call libssh nor free the channel.
class ChannelUser {
 public:
  virtual ~ChannelUser() = default;
  // See shell::ProcessEvents.
  [[nodiscard]] virtual bool is_long_running() const { return false; }

  /// All channels are in use. Called at most once per request.
  virtual void OnDelayed() {}
  /// A channel is open, and sshd is sent the request.
  virtual void OnRequested() = 0;
  virtual void OnGranted(std::unique_ptr<Channel> channel) = 0;
  /// `text` says why there is no channel. `may_have_run`: sshd got the request and did not reply.
  virtual void OnRefused(const std::string& text, bool may_have_run) = 0;
  virtual void OnData(bool is_standard_error, std::string_view bytes) noexcept = 0;
  virtual void OnExitStatus(int /*status*/) noexcept {}
  virtual void OnExitSignal(std::string_view /*name*/) noexcept {}
};

/// One channel of the session. Never blocks. For the session's thread only.
class Channel {
 public:
  enum class Progress {
    kAgain,    ///< call again after session activity; also returned if the session is lost
    kDone,     ///< accepted
    kRefused,  ///< refused by the guest, or the channel is closed
  };

  /// Throws std::runtime_error if libssh cannot create a channel. The session must outlive it.
  explicit Channel(ssh_session session) : Channel(ssh_channel_new(session), false) {}
  /// Takes a channel for a port. Its data waits for Read.
  explicit Channel(ssh_channel of_port) : Channel(of_port, true) {}
  ~Channel();

  /// Sets the receiver of data and exits. It must outlive the channel or be replaced by null.
  void SetUser(ChannelUser* user) { user_ = user; }

  Progress Open();
  /// To a port of the guest's loopback.
  Progress OpenForward(const char* address, int port);
  /// Requests to run `command_line`, or SFTP if it is empty.
  Progress Request(const std::string& command_line);

  /// Writes as much as fits in the peer's window, at most kMaxWrite. Returns the bytes written.
  std::size_t Write(std::string_view bytes);
  static constexpr std::size_t kMaxWrite = std::size_t{256} * 1024;

  /// Bytes that the peer accepts now.
  [[nodiscard]] std::size_t window() const { return ssh_channel_window_size(handle_.get()); }

  /// At most `limit` bytes that have come; only for a channel for a port.
  std::string Read(std::size_t limit);
  /// Whether Read may return some.
  [[nodiscard]] bool has_data() const { return has_data_; }

  /// True if the peer accepts no more input.
  [[nodiscard]] bool write_failed() const { return write_failed_; }

  void SendEndOfFile();

  /// Call it until it returns true: the guest has closed the channel too.
  bool Close();

  [[nodiscard]] bool peer_sent_end_of_file() const { return end_of_file_; }
  [[nodiscard]] bool peer_closed() const { return closed_; }

 private:
  Channel(ssh_channel handle, bool keeps_data);

  struct Free {
    void operator()(ssh_channel channel) const noexcept { ssh_channel_free(channel); }
  };

  [[nodiscard]] Progress ToProgress(int code) const;

  std::unique_ptr<ssh_channel_struct, Free> handle_;
  ssh_channel_callbacks_struct callbacks_{};
  ChannelUser* user_ = nullptr;
  const bool keeps_data_ = false;  ///< for Read
  bool has_data_ = false;
  bool end_of_file_ = false;
  bool close_sent_ = false;
  bool closed_ = false;  ///< by the guest
  bool write_failed_ = false;
};

}  // namespace ssh

#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <memory>
#include <string>
#include <string_view>

namespace ssh {

/// What arrives on a channel. Called from inside libssh: must be quick, must not throw, and must
/// neither call libssh nor free the channel.
class ChannelEvents {
 public:
  virtual ~ChannelEvents() = default;
  virtual void OnData(bool is_standard_error, std::string_view bytes) noexcept = 0;
  virtual void OnExitStatus(int status) noexcept = 0;
  virtual void OnExitSignal(std::string_view name) noexcept = 0;
};

/// One channel of the session. Never blocks. For the session's thread only.
class Channel {
 public:
  enum class Progress {
    kAgain,    ///< call again when the session has moved; also returned when it has died
    kDone,     ///< accepted
    kRefused,  ///< refused by the guest, or the channel is dead
  };

  /// Throws std::runtime_error if libssh has no channel. The session must outlive it.
  explicit Channel(ssh_session session);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// `events` must outlive the channel or be replaced by null.
  void SetEvents(ChannelEvents* events) { events_ = events; }

  Progress Open();
  Progress RequestExec(const std::string& command_line);
  Progress RequestSftp();

  /// Writes what the peer's window has room for, at most kLargestWrite; returns how much.
  std::size_t Write(std::string_view bytes);
  static constexpr std::size_t kLargestWrite = std::size_t{256} * 1024;

  /// The peer takes no more input.
  [[nodiscard]] bool write_failed() const { return write_failed_; }

  void SendEndOfFile();

  /// Repeat until it returns true: libssh may have sent nothing yet.
  bool Close();

  [[nodiscard]] bool peer_sent_end_of_file() const { return end_of_file_; }
  [[nodiscard]] bool peer_closed() const { return closed_; }

 private:
  struct Free {
    void operator()(ssh_channel channel) const noexcept { ssh_channel_free(channel); }
  };

  [[nodiscard]] Progress ToProgress(int code) const;
  static int OnData(ssh_session, ssh_channel, void* data, uint32_t length, int is_standard_error,
                    void* self);
  static void OnEndOfFile(ssh_session, ssh_channel, void* self);
  static void OnClose(ssh_session, ssh_channel, void* self);
  static void OnExitStatus(ssh_session, ssh_channel, int status, void* self);
  static void OnExitSignal(ssh_session, ssh_channel, const char* name, int core, const char* text,
                           const char* language, void* self);

  std::unique_ptr<ssh_channel_struct, Free> handle_;
  ssh_channel_callbacks_struct callbacks_{};
  ChannelEvents* events_ = nullptr;
  bool end_of_file_ = false;
  bool closed_ = false;
  bool write_failed_ = false;
};

}  // namespace ssh

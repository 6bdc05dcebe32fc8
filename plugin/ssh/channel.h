#pragma once

#include <string>
#include <string_view>

#include "ssh/handles.h"

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

/// One channel of the session. Belongs to the thread that owns the session, never blocks.
class Channel {
 public:
  enum class Progress {
    kAgain,    ///< call again when the session has moved, or it has died, which its owner finds
    kDone,     ///< accepted
    kRefused,  ///< refused by the guest, or the channel is dead
  };

  /// Throws std::runtime_error when libssh gives no channel. The session must outlive it.
  explicit Channel(ssh_session session);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// `events` must outlive the channel or be taken away with null. All data is taken at once:
  /// libssh opens the window again behind it.
  void SetEvents(ChannelEvents* events) { events_ = events; }

  Progress Open();
  Progress RequestExec(const std::string& command_line);
  Progress RequestSftp();

  /// Writes as much as the peer's window has room for, at most kLargestWrite; returns how much.
  /// 0 with `write_failed()` false: try again when the session has moved.
  std::size_t Write(std::string_view bytes);
  static constexpr std::size_t kLargestWrite = std::size_t{256} * 1024;

  /// The peer takes no more input.
  [[nodiscard]] bool write_failed() const { return write_failed_; }

  void SendEndOfFile();

  /// Must be repeated until it returns true: libssh may have sent nothing yet. `kAgain` on a dead
  /// session does not end: whoever owns the session looks after that.
  bool Close();

  [[nodiscard]] bool peer_sent_end_of_file() const { return end_of_file_; }
  [[nodiscard]] bool peer_closed() const { return closed_; }

 private:
  [[nodiscard]] Progress ToProgress(int code) const;
  static int OnData(ssh_session, ssh_channel, void* data, uint32_t length, int is_standard_error,
                    void* self);
  static void OnEndOfFile(ssh_session, ssh_channel, void* self);
  static void OnClose(ssh_session, ssh_channel, void* self);
  static void OnExitStatus(ssh_session, ssh_channel, int status, void* self);
  static void OnExitSignal(ssh_session, ssh_channel, const char* name, int core, const char* text,
                           const char* language, void* self);

  ChannelHandle handle_;
  ssh_channel_callbacks_struct callbacks_{};
  ChannelEvents* events_ = nullptr;
  bool end_of_file_ = false;
  bool closed_ = false;
  bool write_failed_ = false;
};

}  // namespace ssh

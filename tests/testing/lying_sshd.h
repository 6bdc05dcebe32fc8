#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "support/file_descriptor.h"
#include "support/wake_pipe.h"
#include "testing/temporary_directory.h"

// libssh's own names: nobody else has to include it.
struct ssh_channel_struct;
struct ssh_message_struct;
struct ssh_session_struct;

namespace testing_support {

/// The sshd of a guest that lies, on a loopback port of this process: libssh's server, which lets
/// everybody in and then does as a test has it. Serves one connection after the other, on a thread
/// of its own, which ends with the destructor whatever it waits for.
class LyingSshd {
 public:
  class Line;
  class Channel;

  /// Thrown by all calls of a line and its channels once the client has gone, or has closed the
  /// channel: ends the lie.
  class Over : public std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// What happens on a connection after the login, top to bottom. When it ends all further requests
  /// are denied until the client goes.
  using Lie = std::function<void(Line&)>;
  explicit LyingSshd(Lie lie);

  /// What happens on a connection instead of SSH.
  using BareLie = std::function<void(int socket)>;
  explicit LyingSshd(BareLie lie);

  ~LyingSshd();
  LyingSshd(const LyingSshd&) = delete;
  LyingSshd& operator=(const LyingSshd&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// A private key for the client; the host's is the same one.
  [[nodiscard]] std::string identity_file() const { return (directory_.path() / "key").string(); }

 private:
  void Loop();
  void SpeakSsh(int socket, const Lie& lie) const;

  BareLie lie_;
  TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
  support::FileDescriptor listener_;
  support::WakePipe wake_;
  std::mutex mutex_;  // of what follows
  bool stopping_ = false;
  support::FileDescriptor connection_;
  std::thread thread_;
};

/// A channel that the client has opened and on which it has asked for a command or for SFTP. All
/// calls wait as long as it takes.
class LyingSshd::Channel {
 public:
  void Grant();
  void Refuse();

  void Write(std::string_view bytes);
  void WriteError(std::string_view bytes);
  /// Exactly so many bytes of what the client sends.
  std::string Read(std::size_t size);

  void SendExitStatus(int status);
  void SendExitSignal(const std::string& name);
  void SendEndOfFile();
  void Close();

  /// Asks the client for what only a client asks for; true where it says no.
  bool IsDeniedRequest();

 private:
  friend class Line;
  struct FreeMessage {
    void operator()(ssh_message_struct* message) const noexcept;
  };
  using Message = std::unique_ptr<ssh_message_struct, FreeMessage>;

  explicit Channel(Message request);
  void WriteTo(bool is_standard_error, std::string_view bytes);

  Message request_;
  ssh_channel_struct* channel_;  // the session's
};

/// One connection, logged in.
class LyingSshd::Line {
 public:
  /// Waits for the next channel and what the client wants on it, which has no answer yet.
  Channel Accept();

  /// Wants to open a channel to the client; true where it says no.
  bool IsDeniedChannel();

  /// Wants to open so many channels to the client, without waiting for its answers.
  void AskForChannels(std::size_t count);

  /// Sends a message that means nothing.
  void Chatter();

  /// Ends the connection.
  void Disconnect(const std::string& words);

 private:
  friend class LyingSshd;
  using Message = Channel::Message;

  explicit Line(ssh_session_struct* session) : session_(session) {}
  void LogIn();
  void DenyAll();
  Message Next();

  ssh_session_struct* session_;
};

}  // namespace testing_support

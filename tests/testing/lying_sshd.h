// SPDX-License-Identifier: Apache-2.0
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
#include "support/pipe.h"
#include "testing/temporary_directory.h"

struct ssh_channel_struct;
struct ssh_message_struct;
struct ssh_session_struct;

namespace testing_support {

/// The sshd of a hostile guest on a loopback port of this process: libssh's server, which accepts
/// every login and then does what the test says. Serves one connection at a time, on a thread of
/// its own that ends with the destructor.
class LyingSshd {
 public:
  class Line;
  class Channel;

  /// Thrown by all calls once the client has gone or has closed the channel: ends the lie.
  class Over : public std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  /// Called for each connection after the login. When it returns, all further requests are denied.
  using Lie = std::function<void(Line&)>;
  explicit LyingSshd(Lie lie);

  /// Called for each connection instead of SSH.
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

/// A channel on which the client has requested a command or SFTP. All calls block.
class LyingSshd::Channel {
 public:
  void Grant();
  void Refuse();

  void Write(std::string_view bytes);
  void WriteError(std::string_view bytes);
  /// Exactly `size` bytes from the client.
  std::string Read(std::size_t size);

  void SendExitStatus(int status);
  void SendExitSignal(const std::string& name);
  void SendEndOfFile();
  void Close();

  /// Sends a request that only clients send; true if the client denies it.
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
  /// Waits for the next channel and its request, which is not answered yet.
  Channel Accept();

  /// Requests a channel to the client; true if the client denies it.
  bool IsDeniedChannel();

  /// Sends an IGNORE message.
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

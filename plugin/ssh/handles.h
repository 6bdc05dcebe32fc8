#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <memory>

/// Owners of libssh's handles. All of them belong to the thread that owns the session.
namespace ssh {

struct FreeSession {
  void operator()(ssh_session session) const noexcept {
    ssh_disconnect(session);
    ssh_free(session);
  }
};
using SessionHandle = std::unique_ptr<ssh_session_struct, FreeSession>;

/// Must be freed before its session. A channel that the peer has not closed yet lives on inside
/// libssh until the session ends: its callbacks have to be removed first.
struct FreeChannel {
  void operator()(ssh_channel channel) const noexcept { ssh_channel_free(channel); }
};
using ChannelHandle = std::unique_ptr<ssh_channel_struct, FreeChannel>;

struct FreeKey {
  void operator()(ssh_key key) const noexcept { ssh_key_free(key); }
};
using KeyHandle = std::unique_ptr<ssh_key_struct, FreeKey>;

/// Gives the sessions added to it back to themselves: must be freed before them.
struct FreeEvent {
  void operator()(ssh_event event) const noexcept { ssh_event_free(event); }
};
using EventHandle = std::unique_ptr<ssh_event_struct, FreeEvent>;

}  // namespace ssh

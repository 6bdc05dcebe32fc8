#pragma once

#include "connection/instance.h"
#include "connection/instance_starter.h"
#include "connection/patient_opener.h"
#include "paths/roots.h"

namespace connection {

/// Opens connections to one instance, one after the other, and keeps what must outlive each: where
/// the roots led at first, a start that is under way, how long nothing has come of it. One thread.
class InstanceOpener {
 public:
  /// `may_start`: whether a stopped instance is started (`--start`). `options` must outlive this.
  InstanceOpener(const InstanceOptions& options, bool may_start, const Patience& patience = {});

  /// See PatientOpener::Open and OpenInstance.
  OpenedConnection Open(const support::Context& context, const Tell& tell) {
    OpenedConnection opened = opener_.Open(context, tell);
    starter_.NoteReached();
    return opened;
  }

 private:
  paths::PinnedRoots pins_;
  InstanceStarter starter_;
  PatientOpener opener_;
};

}  // namespace connection

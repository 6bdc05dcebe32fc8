#include "connection/instance_opener.h"

namespace connection {

InstanceOpener::InstanceOpener(const InstanceOptions& options, bool may_start,
                               const Patience& patience)
    : starter_(options.name),
      opener_(
          [&] {
            PatientOpener::Steps steps;
            steps.attempt = [this, &options](const support::Context& context) {
              return OpenInstance(options, pins_, context);
            };
            if (may_start) {
              steps.start = [this](const support::Context& context, const Tell& tell) {
                starter_.Start(context, tell);
              };
            }
            return steps;
          }(),
          patience) {}

}  // namespace connection

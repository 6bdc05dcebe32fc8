#include "connection/instructions.h"

#include <vector>

#include "lima/configuration.h"
#include "support/errors.h"

namespace connection {
namespace {

constexpr const char* kStale =
    ": the guest may not notice when the host changes files here (9p cache). read_file reads past "
    "that; commands, lists and searches may show old contents";

std::string ListRoots(const std::vector<paths::Root>& roots) {
  if (roots.empty()) {
    return "The instance mounts no directory, so the file tools can use none.\n";
  }
  std::string text = "The file tools, and the directory of a command, can use these directories:\n";
  for (const paths::Root& root : roots) {
    text += "- " + root.host + (root.writable ? " (writable)" : " (read-only)");
    if (root.guest != root.host) text += ", which is " + root.guest + " in the guest";
    if (root.reads_may_be_stale) text += kStale;
    text += "\n";
  }
  return text;
}

}  // namespace

std::string Instructions(const InstanceOptions& options) {
  try {
    const lima::InstanceConfiguration configuration =
        lima::LoadConfiguration(options.lima_home, options.name);
    return "These tools work inside the Lima virtual machine \"" + options.name + "\" (" +
           configuration.os +
           "), not on the host. Use them instead of tools of your own that would touch the "
           "host.\n" +
           ListRoots(ShownRoots(options, configuration)) +
           "Give absolute host paths. Paths elsewhere are refused: ask the user to mount the "
           "directory. Commands run as the guest's user and see the guest's own files too.\n";
  } catch (const support::CallError& error) {
    return "These tools work inside the Lima virtual machine \"" + options.name +
           "\", not on the host. They cannot be used at present: " + error.what() + "\n";
  }
}

}  // namespace connection

// SPDX-License-Identifier: Apache-2.0
#include "copy/work.h"

#include "copy/project.h"
#include "support/errors.h"

namespace copy {
namespace {

constexpr const char* kLimits =
    "Source code is not judged, and the guest can change more while the VM runs.\n";

}  // namespace

bool Work::PrintReport(const exposure::Report& report, const std::string& where,
                       std::ostream& out) {
  if (report.empty()) return false;
  report.Print(out);
  out << where << '\n' << kLimits;
  return true;
}

void Work::PrintNothing(std::ostream& out) {
  out << "Nothing was changed that programs on this host run or obey. " << kLimits;
}

std::unique_ptr<Work> FindWork(const Instance& instance, const Choice& choice) {
  const std::string project = FindProject().string();
  auto mounted = choice.directory.empty() ? WorkOnMount(instance, project) : nullptr;
  if (!mounted) return WorkInCopy(instance, choice);
  if (choice.name.empty()) return mounted;
  throw support::Error("The project is mounted, and a name is for a copy. {}",
                       instance.CopyAdvice());
}

}  // namespace copy

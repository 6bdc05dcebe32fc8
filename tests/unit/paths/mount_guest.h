#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "guest/guest.h"
#include "paths/mount_check.h"
#include "testing/local_guest.h"

namespace paths {

/// A guest whose mount table, file systems and links a test sets.
class MountGuest final : public testing_support::LocalGuest {
 public:
  MountGuest() {
    set_reply([this](const guest::Request& request, const auto&) { return FakeReply(request); });
    set_run([this](const std::string&, shell::OutputSink& sink, const support::Context&) {
      ++round_trips;
      ++tables_read;
      if (on_run) on_run();
      return testing_support::Print(sink, table_status == 0 ? table : "", table_status);
    });
  }

  void Show(const std::string& mountinfo) {
    table = "30 1 254:0 / / rw - ext4 /dev/vda rw\n" + mountinfo;
  }

  std::string table;
  int table_status = 0;  ///< of the command that prints it; 3: there is no table
  std::map<std::string, guest::FileSystemStatus> file_systems;  ///< by mount point
  std::map<std::string, std::string> links;
  std::set<std::string> missing;
  bool offers_statvfs = true;
  std::string boot_id = "another machine's";
  std::function<void()> on_run;

  int round_trips = 0;
  int tables_read = 0;

  static constexpr guest::FileSystemStatus kRootFileSystem{.free_bytes = 1,
                                                           .read_only = false,
                                                           .id = 7,
                                                           .block_size = 4096,
                                                           .blocks = 1000,
                                                           .maximum_name = 255};

 private:
  std::optional<guest::Reply> FakeReply(const guest::Request& request) {
    const std::string& path = request.path;
    if (path == kBootIdFile) {
      if (request.operation == guest::Operation::kOpen) return guest::Reply();
      return guest::Reply{request.offset == 0 ? boot_id : "", {}};
    }
    const bool is_missing = missing.contains(path);
    switch (request.operation) {
      case guest::Operation::kRealPath:
        ++round_trips;
        if (is_missing) break;
        return guest::Reply{links.contains(path) ? links.at(path) : path, {}};
      case guest::Operation::kLStat:
        if (is_missing) break;
        return guest::Reply{guest::FileAttributes{.type = guest::FileType::kDirectory}, {}};
      case guest::Operation::kStatFileSystem:
        ++round_trips;
        if (!offers_statvfs) {
          throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
        }
        return guest::Reply{file_systems.contains(path) ? file_systems.at(path) : kRootFileSystem,
                            {}};
      default:
        return std::nullopt;
    }
    throw guest::FileError(guest::FileErrorCode::kNotFound, "look at", path, "");
  }
};

/// A line of the mount table.
inline std::string Line(const std::string& mount_point, const std::string& type,
                        const std::string& source, const std::string& options = "rw", int id = 80,
                        int parent = 30) {
  return std::to_string(id) + " " + std::to_string(parent) + " 0:44 / " + mount_point +
         " rw,relatime shared:1 - " + type + " " + source + " " + options + "\n";
}

}  // namespace paths

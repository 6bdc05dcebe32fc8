#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "guest/guest.h"
#include "paths/mount_check.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace paths {

/// A guest whose mount table, file systems and links a test sets.
class MountGuest final : public testing_support::LocalGuest {
 public:
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

  std::string RealPath(const std::string& path, const support::Context& context) override {
    context.ThrowIfStopped();
    ++round_trips;
    if (missing.contains(path)) {
      throw guest::FileError(guest::FileErrorCode::kNotFound, "realpath", path, "");
    }
    const auto link = links.find(path);
    return link == links.end() ? path : link->second;
  }

  guest::FileAttributes LStat(const std::string& path, const support::Context&) override {
    if (missing.contains(path)) {
      throw guest::FileError(guest::FileErrorCode::kNotFound, "lstat", path, "");
    }
    guest::FileAttributes attributes;
    attributes.type = guest::FileType::kDirectory;
    return attributes;
  }

  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context&) override {
    ++round_trips;
    if (!offers_statvfs) {
      throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
    }
    const auto found = file_systems.find(path);
    return found == file_systems.end() ? kRootFileSystem : found->second;
  }

  std::unique_ptr<testing_support::SteppedFile> Open(const std::string& path, guest::OpenMode mode,
                                                     std::uint32_t permissions,
                                                     const support::Context& context) override {
    if (path != kBootIdFile) return LocalGuest::Open(path, mode, permissions, context);
    const std::filesystem::path file = directory_.path() / "boot_id";
    std::ofstream(file) << boot_id;
    return LocalGuest::Open(file, mode, permissions, context);
  }

  shell::RunEnd RunScript(const std::string&, shell::OutputSink& sink,
                          const support::Context&) override {
    ++round_trips;
    ++tables_read;
    if (on_run) on_run();
    if (table_status == 0) sink.OnOutput(shell::Stream::kOutput, table);
    shell::RunEnd end;
    end.exit_status = table_status;
    return end;
  }

  int round_trips = 0;
  int tables_read = 0;

  static constexpr guest::FileSystemStatus kRootFileSystem{.free_bytes = 1,
                                                           .read_only = false,
                                                           .id = 7,
                                                           .block_size = 4096,
                                                           .blocks = 1000,
                                                           .maximum_name = 255};

 private:
  testing_support::TemporaryDirectory directory_;
};

/// A line of the mount table.
inline std::string Line(const std::string& mount_point, const std::string& type,
                        const std::string& source, const std::string& options = "rw", int id = 80,
                        int parent = 30) {
  return std::to_string(id) + " " + std::to_string(parent) + " 0:44 / " + mount_point +
         " rw,relatime shared:1 - " + type + " " + source + " " + options + "\n";
}

}  // namespace paths

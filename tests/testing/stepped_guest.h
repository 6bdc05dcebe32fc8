#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"

namespace testing_support {

/// A file that a SteppedGuest has open.
class SteppedFile {
 public:
  virtual ~SteppedFile() = default;
  virtual guest::FileAttributes Stat(const support::Context& context) = 0;
  virtual std::string Read(std::uint64_t offset, std::size_t length,
                           const support::Context& context) = 0;
  virtual void Write(std::uint64_t offset, std::string_view bytes,
                     const support::Context& context) = 0;
  virtual void SetAttributes(const guest::AttributeChange& change,
                             const support::Context& context) = 0;
  /// False: fsync is not offered.
  virtual bool Sync(const support::Context& context) = 0;
  virtual void Close(const support::Context& context) = 0;
};

/// A guest that answers a burst request by request, with a function for each kind. They refuse
/// unless they are overridden. An exception other than guest::FileError ends the burst. Thread-safe
/// if those functions are.
class SteppedGuest : public guest::Guest {
 public:
  using Context = support::Context;
  virtual guest::FileAttributes Stat(const std::string& path, const Context& context) {
    return LStat(path, context);
  }
  virtual guest::FileAttributes LStat(const std::string& path, const Context&) { Refuse(path); }
  virtual std::string ReadLink(const std::string& path, const Context&) { Refuse(path); }
  virtual std::string RealPath(const std::string& path, const Context&) { Refuse(path); }
  virtual std::unique_ptr<SteppedFile> Open(const std::string& path, guest::OpenMode,
                                            std::uint32_t /*permissions*/, const Context&) {
    Refuse(path);
  }
  /// All names, when a directory is opened.
  virtual std::vector<guest::DirectoryEntry> List(const std::string& path, const Context&) {
    Refuse(path);
  }
  virtual void MakeDirectory(const std::string& path, std::uint32_t /*permissions*/,
                             const Context&) {
    Refuse(path);
  }
  virtual void Rename(const std::string& from, const std::string& /*to*/, const Context&) {
    Refuse(from);
  }
  virtual void Unlink(const std::string& path, const Context&) { Refuse(path); }
  virtual guest::FileSystemStatus StatFileSystem(const std::string& path, const Context&) {
    Refuse(path);
  }
  shell::RunEnd RunScript(const std::string& script, shell::OutputSink&, const Context&) override {
    Refuse(script);
  }
  shell::RunEnd RunCommand(const shell::LoginCommand& command, shell::OutputSink&,
                           const Context&) override {
    Refuse(command.text);
  }

  void CloseLater(const guest::Handle& handle) noexcept override;

  /// Starts nothing.
  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

  /// Files and directories that are not closed.
  [[nodiscard]] std::size_t open_handles() const;

  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;

 private:
  /// A file, or the unread names of a directory.
  struct Opened {
    std::unique_ptr<SteppedFile> file;
    std::vector<guest::DirectoryEntry> names;
  };

  guest::Reply Answer(const guest::Request& request, const Context& context);
  static guest::Reply Answer(SteppedFile& file, const guest::Request& request,
                             const Context& context);
  [[noreturn]] static void Refuse(const std::string& path);
  guest::Handle Keep(const std::string& path, Opened opened);
  std::shared_ptr<Opened> Find(const guest::Handle& handle);
  std::shared_ptr<Opened> Take(const guest::Handle& handle);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Opened>> opened_;
  std::uint64_t next_ = 1;
};

}  // namespace testing_support

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "guest/guest.h"

namespace fuzz {

/// A guest that can do nothing, for those who answer only some of the questions.
class EmptyGuest : public guest::Guest {
 public:
  guest::FileAttributes Stat(const std::string& path, const support::Context& context) override {
    return LStat(path, context);
  }
  guest::FileAttributes LStat(const std::string& path,
                              const support::Context& /*context*/) override {
    Refuse(path);
  }
  std::string ReadLink(const std::string& path, const support::Context& /*context*/) override {
    Refuse(path);
  }
  std::string RealPath(const std::string& path, const support::Context& /*context*/) override {
    Refuse(path);
  }
  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode /*mode*/,
                                        std::uint32_t /*permissions*/,
                                        const support::Context& /*context*/) override {
    Refuse(path);
  }
  std::vector<guest::DirectoryEntry> List(const std::string& path,
                                          const support::Context& /*context*/) override {
    Refuse(path);
  }
  void MakeDirectory(const std::string& path, std::uint32_t /*permissions*/,
                     const support::Context& /*context*/) override {
    Refuse(path);
  }
  void Rename(const std::string& from, const std::string& /*to*/,
              const support::Context& /*context*/) override {
    Refuse(from);
  }
  void Unlink(const std::string& path, const support::Context& /*context*/) override {
    Refuse(path);
  }
  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context& /*context*/) override {
    Refuse(path);
  }
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& /*context*/) override {
    sink.OnEnd();
    Refuse(command.command_line);
  }
  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command /*command*/, std::shared_ptr<guest::OutputSink> /*sink*/) override {
    return nullptr;
  }

 private:
  [[noreturn]] static void Refuse(const std::string& path) {
    throw guest::FileError(guest::FileErrorCode::kUnsupported, "look at", path, "");
  }
};

}  // namespace fuzz

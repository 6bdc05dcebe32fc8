#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "paths/mount_check.h"
#include "unit/tools/tool_fixture.h"

namespace tools {

/// Reports the states that a test sets, and counts the checks.
class FakeCheck final : public paths::MountCheck {
 public:
  FakeCheck() : MountCheck(std::vector<lima::Mount>(3), "Linux") {}
  paths::MountState Evaluate(std::size_t mount, guest::Reply, guest::Guest&,
                             const support::Context&) override {
    ++checked;
    return states.at(mount);
  }
  [[nodiscard]] paths::MountState LastKnown(std::size_t mount) const override {
    return states.at(mount);
  }

  std::vector<paths::MountState> states{3, {.mounted = true}};
  int checked = 0;
};

/// SFTP sees the files that the guest remembers, in stale/. Commands see the host's present files,
/// in fresh/, without O_DIRECT, which this machine's file system may not offer.
class StaleGuest final : public testing_support::LocalGuest {
 public:
  StaleGuest() {
    set_run([this](shell::Script script, shell::OutputSink& sink, const support::Context& context) {
      Replace(script.text, "iflag=direct", can_read_directly ? "" : "iflag=no_such_flag");
      Replace(script.text, "/stale/", "/fresh/");
      scripts.push_back(script.text);
      before_run();
      shell::RunEnd end = RunHere(script, sink, context);
      if (!reports_exit_status) end.exit_status.reset();
      return end;
    });
  }

  std::function<void()> before_run = [] {};
  bool can_read_directly = true;
  bool reports_exit_status = true;
  std::vector<std::string> scripts;

 private:
  static void Replace(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
};

/// The mounts: /host/work is GUEST/work, writable; /host/inner is GUEST/work/inner, nested in it;
/// /host/stale is GUEST/stale, read-only. GUEST/local is an allowed path.
class MountCheckTest : public ToolTest<StaleGuest> {
 protected:
  enum : std::size_t { kWork, kInner, kStale };

  MountCheckTest() {
    for (const char* name : {"work/inner", "stale", "fresh", "local"}) {
      std::filesystem::create_directories(top / name);
    }
    options_.instance = "default";
    options_.roots = {{.host = "/host/work", .guest = top / "work", .writable = true},
                      {.host = "/host/inner", .guest = top / "work/inner", .writable = true},
                      {.host = "/host/stale", .guest = top / "stale"}};
    options_.mounts = options_.roots;
    options_.roots.push_back(
        {.host = top / "local", .guest = top / "local", .writable = true, .is_guests_own = true});
    options_.mount_check = check;
    options_.working_directory = "/host/work";
    UseRules(options_);
  }

  /// The further text blocks of the result.
  std::vector<std::string> Notes(const std::string& tool, const nlohmann::json& arguments) {
    std::vector<std::string> notes;
    for (const auto& block : Call(tool, arguments).more_content) {
      notes.push_back(block.at("text"));
    }
    return notes;
  }

  std::string Content(const nlohmann::json& arguments) {
    return Structured(Call("read_file", arguments)).at("content");
  }

  /// Names of regular files below `name`.
  [[nodiscard]] std::set<std::string> Files(const std::string& name) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / name)) {
      if (entry.is_regular_file()) names.insert(entry.path().filename());
    }
    return names;
  }

  const std::shared_ptr<FakeCheck> check = std::make_shared<FakeCheck>();
  paths::PathRules::Options options_;
};

}  // namespace tools

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configure/change.h"

namespace configure {

enum class Format { kJson, kToml, kText };

/// A file of an agent and what is wanted in it.
struct SettingsFile {
  std::string path;  ///< relative to the project or the user's home, or absolute
  /// Names that the agent reads as well; one that exists is taken instead of `path`.
  std::vector<std::string> alternatives = {};
  Format format = Format::kJson;
  std::vector<Change> changes = {};
};

/// The text that a file should have: the old one with the changes made, every other byte as it was.
/// `before` is empty when there is no such file. The same text when nothing is to change. Throws
/// SettingsError.
std::string Configured(const SettingsFile& file, const std::optional<std::string>& before,
                       bool configured_before);

/// The text without the changes; empty when nothing is left and the file can go. Throws
/// SettingsError.
std::optional<std::string> Unconfigured(const SettingsFile& file, const std::string& before);

/// Whether the file holds an entry of the changes already. Throws SettingsError.
bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text);

}  // namespace configure

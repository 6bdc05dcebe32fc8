#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lima {

/// The directory of all instances: $LIMA_HOME, else $HOME/.lima; links resolved if it exists.
/// Throws ConfigurationError when neither variable is set, when it is relative, or when its links
/// cannot be resolved. Rule: Lima's pkg/limatype/dirnames.
std::filesystem::path HomeDirectory();

/// The same from given values; an empty one counts as not set.
std::filesystem::path HomeDirectory(const std::string& lima_home, const std::string& user_home);

/// `home`/`name`; throws ConfigurationError when the name is no instance name. The directory need
/// not exist.
std::filesystem::path InstanceDirectory(const std::filesystem::path& home, const std::string& name);

/// Names of all instances, sorted: directories (not links) with a lima.yaml; those that start with
/// '.' or '_' are Lima's own. What this user may not look into is left out. Empty when there is no
/// home yet. Throws ConfigurationError when the home cannot be read.
std::vector<std::string> ListInstances(const std::filesystem::path& home);

/// Whether there is an instance of that name, which is one whose directory has a lima.yaml. Throws
/// ConfigurationError like CheckInstanceName, and when this user may not look.
bool InstanceExists(const std::filesystem::path& home, const std::string& name);

}  // namespace lima

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace testing_support {

/// Removes what this machine and its user have set from this process, and from all that it starts:
/// environment variables, locale, home directory, umask and git's configuration. PATH becomes
/// $LIMACTL_MCP_TEST_PATH, else the usual one. For the beginning of main, before threads start.
void LeaveOutSettings();

}  // namespace testing_support

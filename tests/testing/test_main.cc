// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/settings.h"

int main(int argc, char** argv) {
  testing_support::LeaveOutSettings();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

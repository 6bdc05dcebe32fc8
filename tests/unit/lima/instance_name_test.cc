#include "lima/instance_name.h"

#include <gtest/gtest.h>

#include <string>

#include "lima/configuration_error.h"

namespace lima {
namespace {

TEST(InstanceName, TakesWhatLimaTakes) {
  for (const char* name : {"default", "a", "0", "A-b_c.d", "docker-rootful", "my.yaml.vm"}) {
    EXPECT_NO_THROW(CheckInstanceName(name)) << name;
  }
}

TEST(InstanceName, RefusesWhatIsNoHarmlessPathComponent) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "-oProxyCommand=x", "_config", ".hidden",
                           "a-", "a..b", "a--b", "a_-b", "a b", "a\n", "ä", "a~", "a%b"}) {
    EXPECT_THROW(CheckInstanceName(name), ConfigurationError) << name;
  }
}

TEST(InstanceName, RefusesYamlFileNamesInAnyCase) {
  for (const char* name : {"a.yml", "a.yaml", "a.YML", "a.YaMl"}) {
    EXPECT_THROW(CheckInstanceName(name), ConfigurationError) << name;
  }
}

TEST(InstanceName, MayHave76Characters) {
  EXPECT_NO_THROW(CheckInstanceName(std::string(kMaximumInstanceName, 'a')));
  EXPECT_THROW(CheckInstanceName(std::string(kMaximumInstanceName + 1, 'a')), ConfigurationError);
}

TEST(InstanceName, HostnameHasDashesForDotsAndUnderscores) {
  EXPECT_EQ(HostnameOf("default"), "lima-default");
  EXPECT_EQ(HostnameOf("my_example.com"), "lima-my-example-com");
}

}  // namespace
}  // namespace lima

#include <string>
#include <vector>

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::ElementsAre;

TEST(GitLinks, AreFoundOnEitherSide) {
  const std::string ids = " 1111 2222 ";
  std::string raw;
  for (const char* line : {":100644 160000", ":160000 000000", ":100644 100755"}) {
    raw += line + ids + "M" + '\0' + "name" + line[1] + line[8] + '\0';
  }
  EXPECT_THAT(GitLinks(ParseRaw(raw)), ElementsAre("name11", "name10"));
}

}  // namespace
}  // namespace copy

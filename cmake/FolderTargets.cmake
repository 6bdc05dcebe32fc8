# One target a folder: a folder that includes another without being allowed to depend on it fails
# to link. The allowed directions are drawn in CONTRIBUTING.md.

# Flags of all our own code. Library headers are "system" headers and stay quiet.
add_library(project_options INTERFACE)
target_compile_features(project_options INTERFACE cxx_std_20)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Werror
  # GCC 12 warns of overlapping copies in std::string's own operator+ when it optimises (GCC bug
  # 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_include_directories(project_options INTERFACE ${PROJECT_SOURCE_DIR}/plugin)
include(cmake/Hardening.cmake)

# add_plugin_folder(NAME SOURCES a.cc … DEPENDS target …) makes the target plugin_NAME.
function(add_plugin_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(plugin_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(plugin_${name} PUBLIC project_options ${ARG_DEPENDS})
endfunction()

# add_unit_test(NAME SOURCES a_test.cc … DEPENDS target …): one executable a folder, one ctest entry
# a test case.
function(add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE project_options ${ARG_DEPENDS} GTest::gtest GTest::gmock
                                        GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

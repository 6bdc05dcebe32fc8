# SPDX-License-Identifier: Apache-2.0
# One target per folder: a folder that includes another one without depending on it fails to link.
# CONTRIBUTING.md lists the allowed dependencies.

# Off in the presets of packages and for packagers: another compiler may warn of more. (A packager's own
# -Wno-error would come before our -Werror and lose.)
option(LIMACTL_MCP_WARNINGS_ARE_ERRORS "Treat compiler warnings as errors" ON)

# Flags of our own code. Library headers are "system" headers, which give no warnings.
add_library(project_options INTERFACE)
target_compile_features(project_options INTERFACE cxx_std_20)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${LIMACTL_MCP_WARNINGS_ARE_ERRORS}>:-Werror>
  # GCC 12 falsely warns of overlapping copies in std::string's operator+ (GCC bug 105651), and of
  # copies beyond its end if it optimises behind a precompiled header.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "Rel")
  target_compile_options(project_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
endif()
foreach(house . server copy launcher)
  target_include_directories(project_options INTERFACE ${PROJECT_SOURCE_DIR}/plugin/${house})
endforeach()
include(cmake/Hardening.cmake)

# Halves the build time. The fuzz preset turns it off, so that one build notices a missing include.
option(LIMACTL_MCP_PRECOMPILED_HEADERS "Precompile the libraries' large headers" ON)

set(standard_headers <algorithm> <chrono> <condition_variable> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <string> <thread> <variant> <vector>
    ${PROJECT_SOURCE_DIR}/plugin/support/json_instances.h)

# precompile_headers(TARGET FIRST header …): TARGET uses the headers precompiled. FIRST compiles them
# for all other targets.
function(precompile_headers target first)
  if(NOT LIMACTL_MCP_PRECOMPILED_HEADERS)
    return()
  endif()
  # All users of a precompiled header need the same macros, and some libraries set -pthread.
  target_compile_options(${target} PRIVATE -pthread)
  if(TARGET ${first} AND NOT target STREQUAL first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  endif()
endfunction()

# add_plugin_folder(NAME SOURCES a.cc … DEPENDS target …) makes the target plugin_NAME.
function(add_plugin_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(plugin_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(plugin_${name} PUBLIC project_options ${ARG_DEPENDS})
  precompile_headers(plugin_${name} plugin_support ${standard_headers})
endfunction()

# embed_programs(FOLDER name … JOINED name …) makes the header FOLDER/programs.h: a string `name_program`
# for each shell program programs/name.sh, without comments and indentation. They run in the guest. Those
# after JOINED become one line: theirs may not end with a pattern of `case`, and contain no here-document.
function(embed_programs folder)
  cmake_parse_arguments(ARG "" "" "JOINED" ${ARGN})
  set(constants)
  foreach(name IN LISTS ARG_UNPARSED_ARGUMENTS ARG_JOINED)
    set(program ${CMAKE_CURRENT_SOURCE_DIR}/programs/${name}.sh)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${program})
    file(READ ${program} text)
    string(REGEX REPLACE "(^|\n) *#[^\n]*" "\\1" text "${text}")
    string(REGEX REPLACE "\n[\n ]+" "\n" text "${text}")
    string(REGEX REPLACE "^\n" "" text "${text}")
    if(name IN_LIST ARG_JOINED)
      string(REGEX REPLACE "\\\\\n" "" text "${text}")
      string(REGEX REPLACE "(do|else|then|while|[({|&])\n" "\\1 " text "${text}")
      string(REGEX REPLACE "\n$" "" text "${text}")
      string(REPLACE "\n" "; " text "${text}")
    endif()
    # For the test that a shell can still read it.
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/embedded/${folder}/${name}.sh "${text}")
    string(APPEND constants
           "inline constexpr std::string_view ${name}_program = R\"sh(${text})sh\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embedded/${folder}/programs.h @ONLY CONTENT
       "#pragma once\n\n#include <string_view>\n\nnamespace @folder@ {\n@constants@}\n")
  target_include_directories(plugin_${folder} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
endfunction()

set(LIMACTL_MCP_TEST_SECONDS 120 CACHE STRING "How long one test may take")

# add_unit_test(NAME SOURCES a_test.cc … DEPENDS target … [COST number]): one executable per folder, one
# ctest entry per test case. ctest starts the tests with the highest COST first: a run must not end with
# a long one alone.
function(add_unit_test name)
  cmake_parse_arguments(ARG "" "COST" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE project_options ${ARG_DEPENDS} test_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Fewer debug symbols compile a fifth faster: lines, but no local variables.
  if(NOT CMAKE_UNITY_BUILD)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-g1>)
  endif()
  precompile_headers(${name} support_test ${standard_headers} <gmock/gmock.h> <gtest/gtest.h>)
  set(cost)
  if(DEFINED ARG_COST)
    set(cost COST ${ARG_COST})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT ${LIMACTL_MCP_TEST_SECONDS} ${cost})
endfunction()

# add_shellcheck(FOLDER name.sh …) checks FOLDER/programs in plugin/. What is not assigned in one program comes
# from another one, or from C++.
function(add_shellcheck folder)
  find_program(SHELLCHECK shellcheck)
  if(SHELLCHECK)
    set(command ${SHELLCHECK} --exclude=SC2034,SC2154 ${ARGN})
  else()
    set(command ${CMAKE_COMMAND} -E echo "skipped: this machine has no shellcheck")
  endif()
  cmake_path(GET folder FILENAME name)
  add_test(NAME shellcheck.${name} COMMAND ${command}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/plugin/${folder}/programs)
  set_tests_properties(shellcheck.${name} PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Links libraries statically if the system has their archives: loading fifteen shared libraries takes
# longer than everything else before the first response. If an archive is missing or does not link, the
# shared library stays.
#
# Sets LIMACTL_MCP_STATIC_OPTIONS, for the program itself, and replaces the LIMACTL_MCP_… targets.

include(CheckCXXSourceCompiles)

# limactl_mcp_archive(TARGET LIBRARIES library … SOURCE text [HELPER file]): makes TARGET from the
# archives of the libraries, in that order. Sets TARGET_LINKS (in the cache) to whether the program
# SOURCE links with it. A library without an archive is linked as a shared one.
function(limactl_mcp_archive target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SOURCE;HELPER" "LIBRARIES")
  list(GET ARG_LIBRARIES 0 first)
  set(files)
  foreach(library IN LISTS ARG_LIBRARIES)
    find_library(LIMACTL_MCP_ARCHIVE_${library} NAMES lib${library}.a)
    mark_as_advanced(LIMACTL_MCP_ARCHIVE_${library})
    if(LIMACTL_MCP_ARCHIVE_${library})
      list(APPEND files ${LIMACTL_MCP_ARCHIVE_${library}})
    else()
      list(APPEND files ${library})
    endif()
  endforeach()
  if(LIMACTL_MCP_ARCHIVE_${first} AND NOT DEFINED ${target}_LINKS)
    set(program ${CMAKE_BINARY_DIR}/CMakeFiles/${target}.cc)
    file(WRITE ${program} "${ARG_SOURCE}")
    try_compile(${target}_LINKS ${CMAKE_BINARY_DIR}/CMakeFiles/${target}
      SOURCES ${program} ${ARG_HELPER}
      LINK_LIBRARIES ${files} Threads::Threads ${CMAKE_DL_LIBS})
  endif()
  if(${target}_LINKS)
    add_library(${target} INTERFACE)
    list(POP_FRONT files archive)
    set(helper)
    if(ARG_HELPER)
      # After the archive that needs it: linkers search once, from left to right.
      add_library(${target}_helper STATIC ${ARG_HELPER})
      target_link_libraries(${target}_helper PRIVATE project_options)
      set(helper ${target}_helper)
    endif()
    target_link_libraries(${target} INTERFACE ${archive} ${helper} ${files} Threads::Threads
                                              ${CMAKE_DL_LIBS})
    message(STATUS "Linking ${first} statically")
  else()
    message(STATUS "Linking ${first} as a shared library")
  endif()
endfunction()

limactl_mcp_archive(static_yaml_cpp LIBRARIES yaml-cpp SOURCE
  "#include <yaml-cpp/yaml.h>
int main() { return YAML::Load(\"1\").as<int>(); }")
if(static_yaml_cpp_LINKS)
  set(LIMACTL_MCP_YAML static_yaml_cpp)
endif()

# Since 2023-07, RE2 needs archives of Abseil. pkg-config lists them all in the linker's order.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(RE2 QUIET re2)
endif()
if(NOT RE2_STATIC_LIBRARIES)
  set(RE2_STATIC_LIBRARIES re2)
endif()
limactl_mcp_archive(static_re2 LIBRARIES ${RE2_STATIC_LIBRARIES} SOURCE
"#include <re2/set.h>
int main() { return re2::RE2::Set(re2::RE2::Options(), re2::RE2::ANCHOR_BOTH).Compile(); }")
if(static_re2_LINKS)
  set(LIMACTL_MCP_RE2 static_re2)
endif()

limactl_mcp_archive(static_libssh LIBRARIES ssh crypto z SOURCE
  "#include <libssh/libssh.h>
int main() {
  ssh_session session = ssh_new();
  return ssh_connect(session) + ssh_userauth_publickey(session, nullptr, nullptr);
}" HELPER ${PROJECT_SOURCE_DIR}/cmake/no_gssapi.cc)
if(static_libssh_LINKS)
  set(LIMACTL_MCP_LIBSSH static_libssh)
  # The archive that libssh uses.
  if(LIMACTL_MCP_ARCHIVE_crypto)
    set(LIMACTL_MCP_CRYPTO ${LIMACTL_MCP_ARCHIVE_crypto} Threads::Threads ${CMAKE_DL_LIBS})
  endif()
endif()

set(LIMACTL_MCP_STATIC_OPTIONS -Wl,--gc-sections)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
check_cxx_source_compiles("#include <string>
int main(int argc, char** argv) { return static_cast<int>(std::string(argv[argc - 1]).size()); }"
  LIMACTL_MCP_STATIC_LIBSTDCXX)
if(LIMACTL_MCP_STATIC_LIBSTDCXX)
  list(APPEND LIMACTL_MCP_STATIC_OPTIONS ${CMAKE_REQUIRED_LINK_OPTIONS})
endif()
unset(CMAKE_REQUIRED_LINK_OPTIONS)

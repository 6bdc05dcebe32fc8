# Every library comes from the system (Debian, Homebrew): nothing is vendored or downloaded.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(cxxopts 3.0 REQUIRED)
find_package(libssh 0.10 REQUIRED)
find_package(yaml-cpp REQUIRED)
# Headers only. Not every distribution's package has a CMake file.
find_path(TOMLPLUSPLUS_INCLUDE_DIRECTORY toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIRECTORY})
if(NOT APPLE)
  # For one SHA-256. libssh depends on it anyway.
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  set(LIMACTL_MCP_CRYPTO OpenSSL::Crypto)
endif()

# libssh's target is ssh::ssh since 0.11 and ssh before. yaml-cpp's was renamed in 0.8.
if(TARGET ssh::ssh)
  set(LIMACTL_MCP_LIBSSH ssh::ssh)
elseif(TARGET ssh)
  set(LIMACTL_MCP_LIBSSH ssh)
else()
  set(LIMACTL_MCP_LIBSSH ${LIBSSH_LIBRARIES})
endif()
if(TARGET yaml-cpp::yaml-cpp)
  set(LIMACTL_MCP_YAML yaml-cpp::yaml-cpp)
else()
  set(LIMACTL_MCP_YAML yaml-cpp)
endif()

if(LIMACTL_MCP_STATIC_LIBRARIES AND NOT APPLE)
  include(cmake/StaticLibraries.cmake)
endif()

if(LIMACTL_MCP_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

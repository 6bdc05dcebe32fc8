# SPDX-License-Identifier: Apache-2.0
# Makes a memory error hard to exploit. Only for optimised builds, which the C library's checks need.
# packaging/check-program checks the result, except -fstack-clash-protection and -fcf-protection: those
# take effect only if every linked archive has them.
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  include(CheckPIESupported)
  check_pie_supported()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

set(hardened $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
target_compile_options(project_options INTERFACE $<${hardened}:-fstack-protector-strong>)
# A packager's own value stays. Some distributions' compilers define it already, and defining it twice
# is an error.
if(NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE")
  target_compile_options(project_options INTERFACE
    $<${hardened}:-U_FORTIFY_SOURCE>
    $<${hardened}:-D_FORTIFY_SOURCE=2>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_compile_options(project_options INTERFACE $<${hardened}:-fstack-clash-protection>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(project_options INTERFACE $<${hardened}:-fcf-protection>)
  endif()
  target_link_options(project_options INTERFACE
    $<${hardened}:LINKER:-z,relro,-z,now,-z,noexecstack>)
endif()

# What makes a mistake in the program hard to exploit, for builds that optimise (the C library's
# checks need that). packaging/check-program looks in what packages contain for all but the
# protection of the stack's end and of jumps, which every archive would have to have as well.
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  include(CheckPIESupported)
  check_pie_supported()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

set(hardened $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
target_compile_options(project_options INTERFACE $<${hardened}:-fstack-protector-strong>)
# What a packager's flags say stays: it may be more, and defined twice it is an error. Some
# distributions' compilers define it by themselves.
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

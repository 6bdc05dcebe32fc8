# SPDX-License-Identifier: Apache-2.0
# Rewrites the tarball with root as the owner of everything in it. CPack runs it; its own archive names the
# builder. `sudo tar x` sets the archive's owner, also on existing directories such as /usr/local/bin.
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
execute_process(COMMAND tar --version OUTPUT_VARIABLE tar ERROR_QUIET)
if(tar MATCHES "bsdtar")
  set(owner --uid 0 --gid 0 --uname root --gname root)
elseif(tar MATCHES "GNU tar")
  set(owner --owner=root:0 --group=root:0)
else()
  message(FATAL_ERROR "the tarball needs a tar that can set the owner; install GNU tar or libarchive's bsdtar")
endif()
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  file(GLOB contents RELATIVE ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_TEMPORARY_DIRECTORY}/*)
  # macOS's tar would add a file of attributes for each file.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env COPYFILE_DISABLE=1
                          tar -czf ${package} ${owner} ${contents}
                  WORKING_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

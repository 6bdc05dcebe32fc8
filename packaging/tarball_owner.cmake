# Writes the tarball anew with root as the owner of all that is in it; run by CPack, which names
# whoever built it. `sudo tar x` gives every file the owner that the archive names, and so it does
# with directories that were there before, such as /usr/local/bin.
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
execute_process(COMMAND tar --version OUTPUT_VARIABLE tar ERROR_QUIET)
if(tar MATCHES "bsdtar")
  set(owner --uid 0 --gid 0 --uname root --gname root)
elseif(tar MATCHES "GNU tar")
  set(owner --owner=root:0 --group=root:0)
else()
  message(FATAL_ERROR "the tarball needs a tar that lets one name the owner: GNU's or libarchive's")
endif()
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  file(GLOB contents RELATIVE ${CPACK_TEMPORARY_DIRECTORY} ${CPACK_TEMPORARY_DIRECTORY}/*)
  # macOS's tar would add a file for the attributes of each.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env COPYFILE_DISABLE=1
                          tar -czf ${package} ${owner} ${contents}
                  WORKING_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

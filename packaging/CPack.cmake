# SPDX-License-Identifier: Apache-2.0
# `./dev package` makes two packages. The tarball (preset release) is for `tar Cxzf /usr/local`; its
# program needs only the C library. The Debian package (preset debian) uses the libraries of the Debian
# it was built on, and so gets their security updates.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME limactl-mcp)
set(CPACK_PACKAGE_VENDOR "limactl-mcp contributors")
set(CPACK_PACKAGE_CONTACT "limactl-mcp contributors <limactl-mcp@lists.invalid>")
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
    limactl-mcp-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Debian has no package of Lima; other repositories do.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "lima")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A plugin of limactl that speaks the Model Context Protocol: an agent reads,
writes, searches and runs commands in a Lima virtual machine, in the
directories that the instance mounts, instead of on the host.")
# The package depends on the libraries of one Debian release.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release os_release)
  if(os_release MATCHES "(^|;)ID=\"?([a-z]+)")
    set(os_name ${CMAKE_MATCH_2})
    if(os_release MATCHES "(^|;)VERSION_ID=\"?([0-9.]+)")
      string(APPEND CPACK_DEBIAN_PACKAGE_RELEASE "~${os_name}${CMAKE_MATCH_2}")
    endif()
  endif()
endif()
# Independent of the builder's umask.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/tarball_owner.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/notices.cmake
    ${PROJECT_SOURCE_DIR}/packaging/debian_layout.cmake)
# For debian_layout.cmake. Follows SOURCE_DATE_EPOCH.
string(TIMESTAMP CPACK_LIMACTL_MCP_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_LIMACTL_MCP_PACKAGING ${PROJECT_SOURCE_DIR}/packaging)
include(CPack)

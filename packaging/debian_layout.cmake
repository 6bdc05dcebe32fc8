# SPDX-License-Identifier: Apache-2.0
# Applies Debian's policy to the staged files. CPack runs it.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(doc ${root}/share/doc/limactl-mcp)

# 12.5: the licence is in the file "copyright", which refers to Debian's copy of it. Developers have the
# source.
file(REMOVE ${doc}/LICENSE ${doc}/CONTRIBUTING.md)
file(COPY ${CPACK_LIMACTL_MCP_PACKAGING}/copyright DESTINATION ${doc})

# 12.7: upstream's changes are in changelog.gz, in any format.
file(READ ${CPACK_LIMACTL_MCP_PACKAGING}/release-notes.md notes)
file(WRITE ${doc}/changelog.Debian
"limactl-mcp (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; urgency=medium

  * Built from version ${CPACK_PACKAGE_VERSION}; changelog.gz says what is new in it.

 -- ${CPACK_PACKAGE_CONTACT}  ${CPACK_LIMACTL_MCP_DATE}
")
file(WRITE ${doc}/changelog "${notes}")
file(GLOB pages ${root}/share/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${doc}/changelog ${pages}
                COMMAND_ERROR_IS_FATAL ANY)

# Debian's zsh reads completions of packages from there.
file(MAKE_DIRECTORY ${root}/share/zsh/vendor-completions)
file(RENAME ${root}/share/zsh/site-functions/_limactl-mcp
     ${root}/share/zsh/vendor-completions/_limactl-mcp)
file(REMOVE_RECURSE ${root}/share/zsh/site-functions)
# 10.9: everybody may read the files, and only root may write them, whatever the builder's umask was.
file(CHMOD_RECURSE ${root}
     FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                           WORLD_READ WORLD_EXECUTE)
file(CHMOD ${root}/bin/limactl-mcp
     PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                 WORLD_EXECUTE)

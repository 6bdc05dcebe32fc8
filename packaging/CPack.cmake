# `cpack -G TGZ` in a release build makes a tarball that is laid out for `tar Cxzf /usr/local`.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME limactl-mcp)
set(CPACK_PACKAGE_VENDOR "limactl-mcp contributors")
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
include(CPack)

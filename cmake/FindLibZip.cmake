# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Finds libzip as the target LibZip::LibZip. libzip's own CMake package demands its command-line
# tools, which a program does not need. Installed beside mixcertConfig.cmake, so that builds of
# mixcert and of its users find libzip in the same way.
find_path(LIBZIP_INCLUDE_DIR zip.h)
find_library(LIBZIP_LIBRARY zip)
mark_as_advanced(LIBZIP_INCLUDE_DIR LIBZIP_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibZip REQUIRED_VARS LIBZIP_LIBRARY LIBZIP_INCLUDE_DIR)

if(LibZip_FOUND AND NOT TARGET LibZip::LibZip)
  add_library(LibZip::LibZip UNKNOWN IMPORTED)
  set_target_properties(LibZip::LibZip PROPERTIES IMPORTED_LOCATION ${LIBZIP_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${LIBZIP_INCLUDE_DIR})
endif()

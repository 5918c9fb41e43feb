# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# One Debian package of program, C++ library and Python package, made by cpack (./run --deb). What programs and extension
# are linked to is computed from them (dpkg-shlibdeps). What find_package(mixcert) looks for is recommended and not needed:
# apt-get installs it too unless told --no-install-recommends.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mixcert)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "The mixcert authors")
set(CPACK_PACKAGE_CONTACT "The mixcert authors <mixcert@localhost>")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# Of the components, not mixcert-mpi and mixcert-lab, which need more.
set(CPACK_COMPONENTS_ALL program development python)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "The programs mixcert and mixcert-check, the static C++ library for find_package(mixcert), and the
 Python package mixcert.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# An extension module is of one minor version of Python.
math(EXPR next_minor "${mixcert_python_minor} + 1")
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "python3 (>= 3.${mixcert_python_minor}), python3 (<< 3.${next_minor}), python3-numpy")
set(recommended libeigen3-dev libnlopt-dev libssl-dev libzip-dev)
if(OnnxProto_FOUND)
  list(APPEND recommended libonnx-dev libprotobuf-dev)
endif()
list(JOIN recommended ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, python3-torch")

# Compiles the Python files when the package is installed, and removes what was compiled.
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Third-party libraries, all from Debian packages; docs/dependencies.md says why each.
# Header-only ones are SYSTEM so that their warnings are not ours.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_path(SPECTRA_INCLUDE_DIR Spectra/SymEigsSolver.h REQUIRED)
find_path(LEMON_INCLUDE_DIR lemon/network_simplex.h REQUIRED)
find_path(BOOST_INCLUDE_DIR boost/random/normal_distribution.hpp REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(LibZip REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(NLopt REQUIRED)
# ONNX models are read where their library is there.
set(MIXCERT_WITH_ONNX AUTO CACHE STRING "Read ONNX models (needs libonnx and protobuf): ON, OFF, or AUTO where they are found")
set_property(CACHE MIXCERT_WITH_ONNX PROPERTY STRINGS AUTO ON OFF)
if(MIXCERT_WITH_ONNX STREQUAL AUTO)
  find_package(OnnxProto QUIET)
elseif(MIXCERT_WITH_ONNX)
  find_package(OnnxProto REQUIRED)
endif()
if(MIXCERT_BUILD_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(MIXCERT_BUILD_CLI OR MIXCERT_BUILD_PYTHON)
  find_package(fmt REQUIRED)
  find_package(ZLIB REQUIRED)
  # The charts of HTML reports; its modules are embedded (cmake/embed_report_page.cmake).
  find_path(VEGA_DIRECTORY vega-view.min.js PATHS /usr/share/javascript/vega REQUIRED)
endif()

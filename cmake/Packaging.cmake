# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Installation: headers, the static libraries as mixcert::core, transport, gradient, statistics, simulated, io, onnx, gp, tune and answer,
# the package files that find_package(mixcert) reads (component development; tests/install consumes the result), and the program with
# the network that it is tried with (component program). The Python package is the component python (python/CMakeLists.txt).
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mixcert)

install(TARGETS mixcert_core mixcert_transport mixcert_gradient mixcert_statistics mixcert_simulated mixcert_io
                mixcert_onnx mixcert_gp mixcert_tune mixcert_answer
        EXPORT mixcertTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
# The report library belongs to the program and needs fmt; it is not installed.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mixcert DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN report EXCLUDE)
install(EXPORT mixcertTargets NAMESPACE mixcert:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mixcertConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/mixcertConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mixcertConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mixcertConfig.cmake ${PROJECT_BINARY_DIR}/mixcertConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLibZip.cmake ${PROJECT_SOURCE_DIR}/cmake/FindOnnxProto.cmake
        DESTINATION ${package_dir} COMPONENT development)

if(TARGET mixcert)
  install(TARGETS mixcert RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  if(TARGET mixcert-check)
    install(TARGETS mixcert-check RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/examples/noisy_sines.safetensors
                ${PROJECT_SOURCE_DIR}/examples/noisy_sines_inputs.csv
          DESTINATION ${CMAKE_INSTALL_DATADIR}/mixcert/examples COMPONENT program)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
  install(FILES ${PROJECT_SOURCE_DIR}/src/report/page/licences.txt
          DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME licences_of_reports.txt COMPONENT program)
  if(TARGET mixcert-mpi)
    install(TARGETS mixcert-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
  endif()
endif()

if(PROJECT_IS_TOP_LEVEL AND TARGET mixcert AND TARGET mixcert_python)
  include(DebianPackage)
endif()

# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Installation: headers, the static libraries as mixcert::core, transport, gradient, statistics, simulated, io, onnx, gp, tune and answer,
# the package files that find_package(mixcert) reads, and the program. tests/install consumes the result.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mixcert)

install(TARGETS mixcert_core mixcert_transport mixcert_gradient mixcert_statistics mixcert_simulated mixcert_io
                mixcert_onnx mixcert_gp mixcert_tune mixcert_answer
        EXPORT mixcertTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The report library belongs to the program and needs fmt; it is not installed.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mixcert DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN report EXCLUDE)
install(EXPORT mixcertTargets NAMESPACE mixcert:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mixcertConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/mixcertConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mixcertConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mixcertConfig.cmake ${PROJECT_BINARY_DIR}/mixcertConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindLibZip.cmake ${PROJECT_SOURCE_DIR}/cmake/FindOnnxProto.cmake
        DESTINATION ${package_dir})

if(TARGET mixcert)
  install(TARGETS mixcert RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET mixcert-mpi)
    install(TARGETS mixcert-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

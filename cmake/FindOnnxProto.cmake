# Licensed under the Apache License, Version 2.0; see LICENSE.
#
# Finds the message types of ONNX files as the target OnnxProto::OnnxProto: libonnx_proto and protobuf. ONNX's own CMake
# package demands all of its libraries, of which one is needed. Installed beside mixcertConfig.cmake, so that builds of mixcert
# and of its users find it in the same way.
find_path(ONNX_PROTO_INCLUDE_DIR onnx/onnx_pb.h)
find_library(ONNX_PROTO_LIBRARY onnx_proto)
mark_as_advanced(ONNX_PROTO_INCLUDE_DIR ONNX_PROTO_LIBRARY)
find_package(Protobuf QUIET)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxProto REQUIRED_VARS ONNX_PROTO_LIBRARY ONNX_PROTO_INCLUDE_DIR Protobuf_FOUND)

if(OnnxProto_FOUND AND NOT TARGET OnnxProto::OnnxProto)
  add_library(OnnxProto::OnnxProto UNKNOWN IMPORTED)
  set_target_properties(OnnxProto::OnnxProto PROPERTIES IMPORTED_LOCATION ${ONNX_PROTO_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${ONNX_PROTO_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)
endif()

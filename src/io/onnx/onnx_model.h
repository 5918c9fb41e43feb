// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An ONNX model as plain structs: what the file says, sizes checked, nothing interpreted. Only the folder
// protobuf sees the library that reads the file; a build without it has the folder absent instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/io/array.h"

namespace mixcert::io {

/// Numbers of an initialiser or of a constant, the last index varies fastest. Integers are kept apart: sizes
/// and ends of slices reach beyond what a double holds.
struct OnnxTensor {
  std::vector<Index> shape;
  bool is_integer = false;
  std::vector<double> values = {};          ///< of floating-point tensors
  std::vector<std::int64_t> integers = {};  ///< of the others

  [[nodiscard]] Index size() const {
    return static_cast<Index>(is_integer ? integers.size() : values.size());
  }
};

using OnnxAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                   std::vector<double>, OnnxTensor>;

struct OnnxNode {
  std::string type;                  ///< the operator
  std::string name;                  ///< may be empty
  std::vector<std::string> inputs;   ///< an empty name: not given
  std::vector<std::string> outputs;  ///< the same
  std::map<std::string, OnnxAttribute> attributes;
};

/// "node 'conv1' (Conv)", by its first output where it has no name.
std::string title(const OnnxNode& node);

/// A size that the file leaves open is absent.
struct OnnxInput {
  std::string name;
  std::vector<std::optional<Index>> sizes;
};

struct OnnxModel {
  std::string label;  ///< the file, for messages
  Index opset = 0;    ///< version of the operators
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> initialisers;
  std::vector<OnnxInput> inputs;  ///< without those that are initialisers
  std::vector<std::string> outputs;
};

/// Versions of the operators whose meaning is known here.
inline constexpr Index kFirstOpset = 9;
inline constexpr Index kLastOpset = 22;
/// Axes of a tensor.
inline constexpr std::size_t kMaxOnnxRank = 8;

/// Was the reader built with the library that it needs?
bool has_onnx_library();
/// Throws FileError naming file, field, expected and got; ResourceError where the file holds more than the
/// limit.
OnnxModel read_onnx_model(std::span<const std::byte> bytes, const std::string& label,
                          const ReadLimits& limits);

}  // namespace mixcert::io

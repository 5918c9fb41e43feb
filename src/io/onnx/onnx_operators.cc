// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The list of operators.
#include "io/onnx/onnx_operators.h"

#include <map>
#include <string_view>

#include "io/files/file_error.h"
#include "io/onnx/onnx_refusals.h"
#include "io/onnx/onnx_shapes.h"

namespace mixcert::io {
namespace {

OnnxValue convert_cast(const OnnxStep& step) {
  step.expect(cast_target(step) == CastTarget::FloatingPoint, "floating-point numbers", "integers");
  return step.flow(0);
}

struct OnnxOperator {
  OnnxValue (*convert)(const OnnxStep&);
  std::size_t least_inputs;
  std::size_t most_inputs;
  /// Those that are understood, or that do not change the first output; separated by blanks.
  std::string_view attributes;
};

constexpr std::string_view kWindow = " auto_pad dilations group kernel_shape pads strides ";
constexpr std::string_view kPool =
    " auto_pad ceil_mode count_include_pad dilations kernel_shape pads storage_order strides ";
constexpr std::size_t kAnyNumber = 1024;

const std::map<std::string, OnnxOperator>& onnx_operators() {
  static const std::map<std::string, OnnxOperator> all = {
      {"Add", {convert_add, 2, 2, ""}},
      {"AveragePool", {convert_average_pool, 1, 1, kPool}},
      {"BatchNormalization", {convert_batch_norm, 5, 5, " epsilon momentum training_mode "}},
      {"Cast", {convert_cast, 1, 1, " to saturate "}},
      {"Celu", {convert_activation, 1, 1, " alpha "}},
      {"Clip", {convert_clip, 1, 3, " min max "}},
      {"Concat", {convert_concat, 1, kAnyNumber, " axis "}},
      {"Conv", {convert_convolution, 2, 3, kWindow}},
      {"Div", {convert_divide, 2, 2, ""}},
      {"Dropout", {convert_dropout, 1, 3, " ratio seed "}},
      {"Elu", {convert_activation, 1, 1, " alpha "}},
      {"Erf", {convert_activation, 1, 1, ""}},
      {"Flatten", {convert_moved, 1, 1, " axis "}},
      {"Gelu", {convert_activation, 1, 1, " approximate "}},
      {"Gemm", {convert_gemm, 2, 3, " alpha beta transA transB "}},
      {"GlobalAveragePool", {convert_global_average, 1, 1, ""}},
      {"HardSigmoid", {convert_activation, 1, 1, " alpha beta "}},
      {"HardSwish", {convert_activation, 1, 1, ""}},
      {"Identity", {convert_moved, 1, 1, ""}},
      {"LeakyRelu", {convert_activation, 1, 1, " alpha "}},
      {"LogSoftmax", {convert_softmax, 1, 1, " axis "}},
      {"MatMul", {convert_matmul, 2, 2, ""}},
      {"MaxPool", {convert_max_pool, 1, 1, kPool}},
      {"Mish", {convert_activation, 1, 1, ""}},
      {"Mul", {convert_multiply, 2, 2, ""}},
      {"Neg", {convert_negate, 1, 1, ""}},
      {"PRelu", {convert_prelu, 2, 2, ""}},
      {"ReduceMean", {convert_reduce_mean, 1, 2, " axes keepdims noop_with_empty_axes "}},
      {"Pad", {convert_pad, 1, 4, " mode pads value "}},
      {"Relu", {convert_activation, 1, 1, ""}},
      {"Reshape", {convert_moved, 2, 2, " allowzero "}},
      {"Selu", {convert_activation, 1, 1, " alpha gamma "}},
      {"Sigmoid", {convert_activation, 1, 1, ""}},
      {"Softmax", {convert_softmax, 1, 1, " axis "}},
      {"Softplus", {convert_activation, 1, 1, ""}},
      {"Softsign", {convert_activation, 1, 1, ""}},
      {"Squeeze", {convert_moved, 1, 2, " axes "}},
      {"Sub", {convert_subtract, 2, 2, ""}},
      {"Tanh", {convert_activation, 1, 1, ""}},
      {"Unsqueeze", {convert_moved, 1, 2, " axes "}},
      {"@gelu", {convert_activation, 1, 1, ""}},
      {"@hardswish", {convert_activation, 1, 1, ""}},
      {"@logsigmoid", {convert_activation, 1, 1, ""}},
      {"@mish", {convert_activation, 1, 1, ""}},
      {"@silu", {convert_activation, 1, 1, ""}},
      {"@softsign", {convert_activation, 1, 1, ""}},
      {"@tanhshrink", {convert_activation, 1, 1, ""}},
  };
  return all;
}

}  // namespace

OnnxValue convert_onnx_node(const OnnxStep& step) {
  const OnnxNode& node = step.node();
  const auto found = onnx_operators().find(node.type);
  step.expect(found != onnx_operators().end(), std::string(kCertifiableOperator), refused_type(node.type));
  const OnnxOperator& known = found->second;
  const std::size_t inputs = node.inputs.size();
  step.expect(inputs >= known.least_inputs && inputs <= known.most_inputs,
              std::to_string(known.least_inputs) + " to " + std::to_string(known.most_inputs) + " inputs",
              std::to_string(inputs));
  for (const auto& [name, value] : node.attributes) {
    const bool understood = known.attributes.find(" " + name + " ") != std::string_view::npos;
    step.expect(understood,
                "no attribute beside" + std::string(known.attributes.empty() ? " none" : known.attributes),
                in_quotes(name));
  }
  return known.convert(step);
}

}  // namespace mixcert::io

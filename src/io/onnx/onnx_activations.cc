// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activations, dropout and the softmax at the end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "io/files/file_error.h"
#include "io/onnx/onnx_operators.h"
#include "io/onnx/onnx_patterns.h"

namespace mixcert::io {
namespace {

using Function = ActivationFunction;

OnnxFlow put_activation(const OnnxStep& step, const OnnxFlow& before, Function function,
                        const ActivationParameters& parameters = {}) {
  return step.put_elementwise(ActivationSpec{Activation(function, parameters)}, before);
}

/// Of operators without numbers of their own.
const std::map<std::string, Function>& plain_functions() {
  static const std::map<std::string, Function> all = {{"Relu", Function::Relu},
                                                      {"Tanh", Function::Tanh},
                                                      {"Sigmoid", Function::Sigmoid},
                                                      {"Erf", Function::Erf},
                                                      {"Softplus", Function::Softplus},
                                                      {"Softsign", Function::Softsign},
                                                      {"HardSwish", Function::Hardswish},
                                                      {"Mish", Function::Mish},
                                                      {"Gelu", Function::Gelu},
                                                      {"Selu", Function::Selu},
                                                      {"@gelu", Function::Gelu},
                                                      {"@silu", Function::Silu},
                                                      {"@hardswish", Function::Hardswish},
                                                      {"@mish", Function::Mish},
                                                      {"@softsign", Function::Softsign},
                                                      {"@logsigmoid", Function::LogSigmoid},
                                                      {"@tanhshrink", Function::Tanhshrink}};
  return all;
}

/// clip(alpha x + beta, 0, 1) = hardsigmoid(6 alpha x + 6 beta - 3).
OnnxFlow put_hardsigmoid(const OnnxStep& step) {
  const double alpha = step.number("alpha", 0.2);
  const double beta = step.number("beta", 0.5);
  OnnxFlow flow = step.flow(0);
  if (!is_single_precision(alpha, 1.0 / 6.0) || beta != 0.5)
    flow = put_affine(step, flow, 6.0 * alpha, 6.0 * beta - 3.0);
  return put_activation(step, flow, Function::Hardsigmoid);
}

/// An end of a Clip: an input since opset 11, an attribute before; float's largest number stands for none.
double clip_end(const OnnxStep& step, std::size_t input, const char* attribute, double none) {
  double end = step.number(attribute, none);
  if (step.has(input)) {
    const OnnxTensor& tensor = step.constant(input).tensor;
    step.expect(!tensor.is_integer && tensor.size() == 1, "one number at each end", shape_text(tensor.shape));
    end = tensor.values.front();
  }
  step.expect(!std::isnan(end), "ends that are numbers", "nan");
  return std::abs(end) >= static_cast<double>(std::numeric_limits<float>::max())
             ? std::copysign(std::numeric_limits<double>::infinity(), end)
             : end;
}

}  // namespace

OnnxValue convert_activation(const OnnxStep& step) {
  const std::string& type = step.node().type;
  const OnnxFlow& before = step.flow(0);
  if (type == "LeakyRelu")
    return put_activation(step, before, Function::LeakyRelu, {.slope = step.number("alpha", 0.01)});
  if (type == "Elu") return put_activation(step, before, Function::Elu, {.alpha = step.number("alpha", 1.0)});
  if (type == "Celu")
    return put_activation(step, before, Function::Celu, {.alpha = step.number("alpha", 1.0)});
  if (type == "HardSigmoid") return put_hardsigmoid(step);
  if (type == "Gelu") {
    const std::string form = step.text("approximate", "none");
    step.expect(form == "none", "the exact gelu, approximate 'none'", in_quotes(form));
  }
  if (type == "Selu") {
    constexpr double kAlpha = 1.6732632423543772848170429916717;
    constexpr double kGamma = 1.0507009873554804934193349852946;
    const bool usual = is_single_precision(step.number("alpha", kAlpha), kAlpha) &&
                       is_single_precision(step.number("gamma", kGamma), kGamma);
    step.expect(usual, "alpha 1.67326 and gamma 1.05070", "others");
  }
  return put_activation(step, before, plain_functions().at(type));
}

OnnxValue convert_clip(const OnnxStep& step) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double lower = clip_end(step, 1, "min", -kInfinity);
  const double upper = clip_end(step, 2, "max", kInfinity);
  const OnnxFlow& before = step.flow(0);
  if (lower == 0.0 && upper == kInfinity) return put_activation(step, before, Function::Relu);
  if (lower == 0.0 && upper == 6.0) return put_activation(step, before, Function::Relu6);
  step.expect(std::isfinite(lower) && std::isfinite(upper), "two finite ends, or 0 and none",
              std::to_string(lower) + " and " + std::to_string(upper));
  return put_activation(step, before, Function::Hardtanh, {.lower = lower, .upper = upper});
}

/// With one slope it is a leaky relu, with several a sum of branches.
OnnxValue convert_prelu(const OnnxStep& step) {
  const OnnxConstant& slopes = step.constant(1);
  const std::vector<double>& values = step.numbers(slopes);
  step.expect(!values.empty(), "a slope", "none");
  const bool same = std::all_of(values.begin(), values.end(), [&](double s) { return s == values.front(); });
  if (!same) return put_slopes(step);
  return put_activation(step, step.flow(0), Function::LeakyRelu, {.slope = values.front()});
}

OnnxValue convert_dropout(const OnnxStep& step) {
  const OnnxFlow& before = step.flow(0);
  double rate = step.number("ratio", 0.5);
  if (step.has(1)) {
    const std::vector<double>& given = step.numbers(step.constant(1));
    step.expect(given.size() == 1, "one ratio", std::to_string(given.size()));
    rate = given.front();
  }
  bool in_training = false;
  if (step.has(2)) {
    const std::vector<std::int64_t>& given = step.whole_numbers(2);
    step.expect(given.size() == 1, "one training_mode", std::to_string(given.size()));
    in_training = given.front() != 0;
  }
  if (in_training) return step.put_elementwise(DropoutSpec{rate}, before);
  if (rate > 0.0)
    step.assume("Dropout " + in_quotes(step.entry_name()) + " is the identity, as at evaluation");
  return before;
}

OnnxValue convert_softmax(const OnnxStep& step) {
  const OnnxFlow& before = step.flow(0);
  const auto rank = static_cast<Index>(before.sizes.size()) + 1;
  const Index axis = step.axis(step.integer("axis", step.opset() < 13 ? 1 : -1), rank);
  step.expect(step.is_last(), "it at the end, where it is left out", "one in front of other nodes");
  step.expect(rank == 2 && axis == 1, "it along the features", shape_text(before.sizes));
  step.assume("the last " + step.node().type + " is left out: the outputs are its arguments");
  return before;
}

}  // namespace mixcert::io

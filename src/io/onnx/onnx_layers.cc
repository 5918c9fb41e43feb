// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers with weights. Weights with deviations are independent and normal.
#include <algorithm>
#include <cmath>
#include <utility>

#include "io/files/file_error.h"
#include "io/onnx/onnx_operators.h"
#include "io/onnx/onnx_windows.h"

namespace mixcert::io {
namespace {

/// Numbers of a layer: means, and variances where it is random.
struct Parameters {
  std::vector<double> mean;
  std::vector<double> variance = {};
};

/// factor times a constant.
Parameters scaled_parameters(const OnnxStep& step, const OnnxConstant& constant, double factor) {
  step.expect(std::isfinite(factor), "finite factors", "another");
  step.charge(2 * constant.tensor.size());
  Parameters result{step.numbers(constant), constant.variances};
  for (double& value : result.mean) value *= factor;
  for (double& value : result.variance) value *= factor * factor;
  return result;
}

Vector to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

/// [rows, columns] row by row, or its transpose, as a matrix of outputs x inputs.
Matrix weight_matrix(const std::vector<double>& values, const std::vector<Index>& shape, bool is_transposed) {
  const ConstMatrixView stored(values.data(), shape[0], shape[1]);
  return is_transposed ? Matrix(stored) : Matrix(stored.transpose());
}

/// A bias of `size` entries; one number stands for all, unless it is random.
Parameters bias_of(const OnnxStep& step, const OnnxConstant& constant, double factor, Index size) {
  Parameters bias = scaled_parameters(step, constant, factor);
  // Axes before the last are of size one.
  const bool is_row =
      constant.tensor.size() == 1 || (constant.tensor.size() == size && !constant.tensor.shape.empty() &&
                                      constant.tensor.shape.back() == size);
  step.expect(is_row && (bias.variance.empty() || constant.tensor.size() == size),
              "a bias of " + std::to_string(size) + " numbers", shape_text(constant.tensor.shape));
  bias.mean.resize(static_cast<std::size_t>(size), bias.mean.front());
  return bias;
}

BiasCovariance bias_law(const Parameters& bias) {
  if (bias.variance.empty()) return DeterministicBias{};
  return IndependentBias{to_vector(bias.variance)};
}

/// Rows of features: [batch, 1, ..., 1, features].
Index row_length(const OnnxStep& step, const OnnxFlow& flow) {
  const bool is_row = !flow.sizes.empty() && flow.sizes.back() == flow.layout.size();
  step.expect(is_row, "one row of features behind the batch", shape_text(flow.sizes));
  return flow.layout.size();
}

/// W x + b with the weights of input 1, stored as [in, out], or [out, in] where transposed.
OnnxFlow put_dense(const OnnxStep& step, bool is_transposed, double factor, const Parameters* bias) {
  const Index inputs = row_length(step, step.flow(0));
  const OnnxFlow before = step.network().as_vector(step.flow(0));
  const OnnxConstant& weights = step.random_constant(1);
  const std::vector<Index>& shape = weights.tensor.shape;
  step.expect(shape.size() == 2 && shape[is_transposed ? 1 : 0] == inputs && weights.tensor.size() > 0,
              "weights for " + std::to_string(inputs) + " inputs", shape_text(shape));
  const Parameters numbers = scaled_parameters(step, weights, factor);
  Matrix mean = weight_matrix(numbers.mean, shape, is_transposed);
  WeightCovariance law = DeterministicWeights{};
  if (!numbers.variance.empty())
    law = MeanFieldWeights{weight_matrix(numbers.variance, shape, is_transposed)};
  const Index outputs = mean.rows();
  DenseLayer layer(step.layer_name(weights), std::move(mean),
                   bias != nullptr ? to_vector(bias->mean) : Vector::Zero(outputs), std::move(law),
                   bias != nullptr ? bias_law(*bias) : DeterministicBias{});
  std::vector<Index> sizes = step.flow(0).sizes;
  sizes.back() = outputs;
  return step.put(DenseSpec{std::move(layer)}, before, std::move(sizes), {outputs, {}, false});
}

}  // namespace

OnnxValue convert_gemm(const OnnxStep& step) {
  step.expect(step.integer("transA", 0) == 0, "transA 0", "another");
  const bool is_transposed = step.integer("transB", 0) != 0;
  const double alpha = step.number("alpha", 1.0);
  if (!step.has(2)) return put_dense(step, is_transposed, alpha, nullptr);
  const std::vector<Index>& shape = step.passed_constant(1).tensor.shape;
  step.expect(shape.size() == 2, "weights of two axes", shape_text(shape));
  const Parameters bias =
      bias_of(step, step.random_constant(2), step.number("beta", 1.0), shape[is_transposed ? 0 : 1]);
  return put_dense(step, is_transposed, alpha, &bias);
}

OnnxValue convert_matmul(const OnnxStep& step) {
  step.expect(step.is_flow(0) && !step.is_flow(1), "x W with constant weights W",
              "another product of matrices");
  return put_dense(step, false, 1.0, nullptr);
}

OnnxValue convert_convolution(const OnnxStep& step) {
  const OnnxFlow before = step.network().as_image(step.flow(0));
  const OnnxConstant& weights = step.random_constant(1);
  const std::vector<Index>& shape = weights.tensor.shape;
  step.expect(shape.size() == before.sizes.size() + 1 && weights.tensor.size() > 0,
              "weights of " + std::to_string(before.sizes.size() + 1) + " axes", shape_text(shape));
  const OnnxWindow window = read_onnx_window(step, before.sizes, {shape.begin() + 2, shape.end()});
  const TapShift rows = tap_shift(step, window.height, window.window.dilation.height);
  const TapShift columns = tap_shift(step, window.width, window.window.dilation.width);
  Conv2dSpec spec;
  spec.in = before.layout.channels;
  spec.out = shape[0];
  spec.image = before.layout.image;
  spec.window = window.window;
  spec.window.padding = {rows.padding, columns.padding};
  spec.window.kernel.height += rows.before + rows.after;
  spec.window.kernel.width += columns.before + columns.after;
  spec.groups = step.integer("group", 1);
  step.expect(
      spec.groups >= 1 && spec.groups <= spec.in && spec.in % spec.groups == 0 &&
          shape[1] == spec.in / spec.groups,
      "weights for " + std::to_string(spec.in) + " channels in " + std::to_string(spec.groups) + " groups",
      shape_text(shape));
  const Parameters kernel = scaled_parameters(step, weights, 1.0);
  const std::optional<Index> taps =
      element_count({shape[0], shape[1], spec.window.kernel.height, spec.window.kernel.width});
  step.expect(taps.has_value(), "fewer taps", shape_text(shape));
  step.charge(2 * std::min(*taps, Index{1} << 60U));
  spec.kernel_mean = widened(kernel.mean, window.window.kernel, rows, columns);
  spec.kernel_variance = widened(kernel.variance, window.window.kernel, rows, columns);
  if (step.has(2)) {
    const Parameters bias = bias_of(step, step.random_constant(2), 1.0, spec.out);
    spec.bias_mean = to_vector(bias.mean);
    spec.bias_variance = to_vector(bias.variance);
  }
  spec.name = step.layer_name(weights);
  const LayerShape after = shape_after(spec, before.layout);
  return step.put(std::move(spec), before, image_sizes(after, before.sizes.size() - 1), after);
}

bool put_bias(const OnnxStep& step, std::size_t flow, std::size_t constant) {
  const OnnxFlow& before = step.flow(flow);
  if (before.entry == kOnnxInput || !step.is_end_of_layer(flow)) return false;
  const OnnxTensor& tensor = step.passed_constant(constant).tensor;
  LayerSpec& spec = step.network().spec(before.entry);
  // One number for each channel: pixels come behind.
  const std::size_t pixels = before.sizes.size() - 1;
  const Index channels = before.layout.channels;
  const std::size_t rank = tensor.shape.size();
  if (auto* convolution = std::get_if<Conv2dSpec>(&spec)) {
    const bool fits = convolution->bias_mean.size() == 0 && tensor.size() == channels && rank > pixels &&
                      rank <= pixels + 2 && tensor.shape[rank - pixels - 1] == channels;
    if (!fits) return false;
    const Parameters bias = scaled_parameters(step, step.random_constant(constant), 1.0);
    convolution->bias_mean = to_vector(bias.mean);
    convolution->bias_variance = to_vector(bias.variance);
    return true;
  }
  auto* dense = std::get_if<DenseSpec>(&spec);
  if (dense == nullptr || rank > before.sizes.size() + 1 || rank < 1 || tensor.shape.back() != channels ||
      tensor.size() != channels)
    return false;
  const DenseLayer& layer = dense->layer;
  const bool has_bias = !layer.bias_mean().isZero(0.0) || layer.bias_variances().maxCoeff() > 0.0;
  if (has_bias) return false;
  const Parameters bias = bias_of(step, step.random_constant(constant), 1.0, channels);
  dense->layer =
      DenseLayer(layer.name(), layer.weight_mean(), to_vector(bias.mean), layer.weights(), bias_law(bias));
  return true;
}

OnnxValue convert_batch_norm(const OnnxStep& step) {
  step.expect(step.integer("training_mode", 0) == 0, "training_mode 0", "statistics of the batch");
  OnnxFlow before = step.flow(0);
  before = before.sizes.size() == 1 ? step.network().as_vector(before) : step.network().as_image(before);
  const auto vector = [&](std::size_t input) {
    const OnnxConstant& constant = step.constant(input);
    const std::vector<Index> expected = {before.layout.channels};
    step.expect(constant.tensor.shape == expected, "vectors of " + std::to_string(expected[0]) + " numbers",
                shape_text(constant.tensor.shape));
    step.charge(expected[0]);
    return to_vector(step.numbers(constant));
  };
  BatchNormSpec spec;
  spec.weight = vector(1);
  spec.bias = vector(2);
  spec.running_mean = vector(3);
  spec.running_variance = vector(4);
  spec.epsilon = step.number("epsilon", 1e-5);
  spec.name = step.layer_name(step.constant(1));
  (void)shape_after(spec, before.layout);
  return step.put_elementwise(std::move(spec), before);
}

}  // namespace mixcert::io

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Every operator of the comparison by its definition.
#include "support/naive_onnx.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

namespace mixcert::test {
namespace {

using io::OnnxNode;
using Integers = std::vector<std::int64_t>;

Index product(const std::vector<Index>& shape) {
  Index count = 1;
  for (const Index size : shape) count *= size;
  return count;
}

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

template <class T>
T attribute(const OnnxNode& node, const std::string& name, T fallback) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? fallback : std::get<T>(found->second);
}

/// Index of a tensor of this shape where the shape of the result has another index: sizes of one repeat.
Index broadcast_index(const std::vector<Index>& shape, const std::vector<Index>& result, Index index) {
  Index place = 0;
  Index stride = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t own = shape.size() - 1 - k;
    const std::size_t theirs = result.size() - 1 - k;
    place += (shape[own] == 1 ? 0 : index % result[theirs]) * stride;
    stride *= shape[own];
    index /= result[theirs];
  }
  return place;
}

NaiveTensor binary(const NaiveTensor& a, const NaiveTensor& b,
                   const std::function<double(double, double)>& f) {
  NaiveTensor y;
  const std::size_t rank = std::max(a.shape.size(), b.shape.size());
  for (std::size_t k = 0; k < rank; ++k) {
    const Index of_a = k + a.shape.size() < rank ? 1 : a.shape[k + a.shape.size() - rank];
    const Index of_b = k + b.shape.size() < rank ? 1 : b.shape[k + b.shape.size() - rank];
    y.shape.push_back(std::max(of_a, of_b));
  }
  for (Index i = 0; i < product(y.shape); ++i) {
    y.values.push_back(f(a.values[at(broadcast_index(a.shape, y.shape, i))],
                         b.values[at(broadcast_index(b.shape, y.shape, i))]));
  }
  return y;
}

/// x of [rows, inner] times w of [inner, columns].
NaiveTensor matrix_product(const NaiveTensor& x, const NaiveTensor& w, bool transposed) {
  const Index rows = x.shape[0];
  const Index inner = x.shape[1];
  const Index columns = w.shape[transposed ? 0 : 1];
  NaiveTensor y{{rows, columns}, {}};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (Index k = 0; k < inner; ++k)
        sum += x.values[at(i * inner + k)] * w.values[at(transposed ? j * inner + k : k * columns + j)];
      y.values.push_back(sum);
    }
  }
  return y;
}

/// Both axes of images; signals along one axis have one row.
struct Window {
  Index kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1}, before[2] = {0, 0}, after[2] = {0, 0};
  Index positions[2] = {1, 1};
};

Window window_of(const OnnxNode& node, const std::vector<Index>& shape, const Integers& kernel) {
  Window w;
  const std::size_t axes = shape.size() - 2;
  const Integers strides = attribute(node, "strides", Integers(axes, 1));
  const Integers dilations = attribute(node, "dilations", Integers(axes, 1));
  const Integers pads = attribute(node, "pads", Integers(2 * axes, 0));
  const std::string automatic = attribute(node, "auto_pad", std::string("NOTSET"));
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t axis = k + 2 - axes;
    w.kernel[axis] = kernel[k];
    w.stride[axis] = strides[k];
    w.dilation[axis] = dilations[k];
    w.before[axis] = pads[k];
    w.after[axis] = pads[k + axes];
    const Index reach = w.dilation[axis] * (kernel[k] - 1) + 1;
    if (automatic.rfind("SAME", 0) == 0) {
      const Index wanted = (shape[k + 2] + strides[k] - 1) / strides[k];
      const Index total = std::max<Index>(0, (wanted - 1) * strides[k] + reach - shape[k + 2]);
      w.before[axis] = automatic == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
      w.after[axis] = total - w.before[axis];
    }
    w.positions[axis] = (shape[k + 2] + w.before[axis] + w.after[axis] - reach) / w.stride[axis] + 1;
  }
  return w;
}

std::vector<Index> image_shape(const std::vector<Index>& before, Index channels, const Window& w) {
  std::vector<Index> shape = {before[0], channels};
  for (std::size_t k = 2; k < before.size(); ++k) shape.push_back(w.positions[k + 2 - before.size()]);
  return shape;
}

/// visit(output index, channel's offset, tap, pixel or -1) for every position of every channel and tap.
void for_windows(
    const NaiveTensor& x, const Window& w,
    const std::function<void(Index row, Index channel, Index position, Index tap, Index pixel)>& visit) {
  const Index height = x.shape.size() == 4 ? x.shape[2] : 1;
  const Index width = x.shape.back();
  for (Index row = 0; row < x.shape[0]; ++row) {
    for (Index c = 0; c < x.shape[1]; ++c) {
      for (Index p = 0; p < w.positions[0] * w.positions[1]; ++p) {
        for (Index t = 0; t < w.kernel[0] * w.kernel[1]; ++t) {
          const Index i = p / w.positions[1] * w.stride[0] - w.before[0] + t / w.kernel[1] * w.dilation[0];
          const Index j = p % w.positions[1] * w.stride[1] - w.before[1] + t % w.kernel[1] * w.dilation[1];
          const bool inside = i >= 0 && i < height && j >= 0 && j < width;
          visit(row, c, p, t, inside ? i * width + j : -1);
        }
      }
    }
  }
}

NaiveTensor convolution(const OnnxNode& node, const NaiveTensor& x, const NaiveTensor& w,
                        const NaiveTensor* bias) {
  const Window window = window_of(node, x.shape, Integers(w.shape.begin() + 2, w.shape.end()));
  const Index groups = attribute(node, "group", std::int64_t{1});
  const Index outputs = w.shape[0];
  const Index inner = w.shape[1];
  const Index positions = window.positions[0] * window.positions[1];
  const Index taps = window.kernel[0] * window.kernel[1];
  const Index pixels = product(x.shape) / (x.shape[0] * x.shape[1]);
  NaiveTensor y{image_shape(x.shape, outputs, window), {}};
  y.values.assign(at(x.shape[0] * outputs * positions), 0.0);
  for_windows(x, window, [&](Index row, Index c, Index p, Index t, Index pixel) {
    if (pixel < 0) return;
    for (Index o = 0; o < outputs; ++o) {
      if (o / (outputs / groups) != c / inner) continue;
      y.values[at((row * outputs + o) * positions + p)] +=
          w.values[at((o * inner + c % inner) * taps + t)] *
          x.values[at((row * x.shape[1] + c) * pixels + pixel)];
    }
  });
  for (Index i = 0; bias != nullptr && i < product(y.shape); ++i)
    y.values[at(i)] += bias->values[at(i / positions % outputs)];
  return y;
}

NaiveTensor pool(const OnnxNode& node, const NaiveTensor& x) {
  const Window window = window_of(node, x.shape, attribute(node, "kernel_shape", Integers{}));
  const bool maximum = node.type == "MaxPool";
  const bool all = attribute(node, "count_include_pad", std::int64_t{0}) != 0;
  const Index positions = window.positions[0] * window.positions[1];
  const Index pixels = product(x.shape) / (x.shape[0] * x.shape[1]);
  NaiveTensor y{image_shape(x.shape, x.shape[1], window), {}};
  y.values.assign(at(product(y.shape)), maximum ? -std::numeric_limits<double>::infinity() : 0.0);
  std::vector<double> count(y.values.size(), 0.0);
  for_windows(x, window, [&](Index row, Index c, Index p, Index, Index pixel) {
    const std::size_t place = at((row * x.shape[1] + c) * positions + p);
    if (pixel >= 0 || all) count[place] += 1.0;
    if (pixel < 0) return;
    const double value = x.values[at((row * x.shape[1] + c) * pixels + pixel)];
    y.values[place] = maximum ? std::max(y.values[place], value) : y.values[place] + value;
  });
  for (std::size_t i = 0; !maximum && i < count.size(); ++i) y.values[i] /= count[i];
  return y;
}

/// Zeros around both axes of images.
NaiveTensor padded(const NaiveTensor& x, const Integers& pads) {
  NaiveTensor y{x.shape, {}};
  for (std::size_t k = 0; k < 4; ++k) y.shape[k] += pads[k] + pads[k + 4];
  y.values.assign(at(product(y.shape)), 0.0);
  for (Index i = 0; i < product(x.shape); ++i) {
    const Index column = i % x.shape[3] + pads[3];
    const Index row = i / x.shape[3] % x.shape[2] + pads[2];
    const Index channel = i / (x.shape[3] * x.shape[2]);
    y.values[at((channel * y.shape[2] + row) * y.shape[3] + column)] = x.values[at(i)];
  }
  return y;
}

/// Means over all axes behind the second.
NaiveTensor pixel_mean(const NaiveTensor& x, bool keep) {
  NaiveTensor y{{x.shape[0], x.shape[1]}, {}};
  if (keep) y.shape.resize(x.shape.size(), 1);
  const Index pixels = product(x.shape) / (x.shape[0] * x.shape[1]);
  for (Index i = 0; i < x.shape[0] * x.shape[1]; ++i) {
    double sum = 0.0;
    for (Index p = 0; p < pixels; ++p) sum += x.values[at(i * pixels + p)];
    y.values.push_back(sum / static_cast<double>(pixels));
  }
  return y;
}

NaiveTensor joined(const std::vector<NaiveTensor>& parts) {
  NaiveTensor y = parts.front();
  y.values.clear();
  y.shape[1] = 0;
  for (const NaiveTensor& part : parts) y.shape[1] += part.shape[1];
  for (Index row = 0; row < y.shape[0]; ++row) {
    for (const NaiveTensor& part : parts) {
      const Index size = product(part.shape) / part.shape[0];
      for (Index i = 0; i < size; ++i) y.values.push_back(part.values[at(row * size + i)]);
    }
  }
  return y;
}

NaiveTensor evaluated(const OnnxNode& node, const std::vector<NaiveTensor>& in) {
  const std::string& type = node.type;
  const NaiveTensor& x = in.front();
  if (type == "Gemm") {
    NaiveTensor y = matrix_product(x, in[1], attribute(node, "transB", std::int64_t{0}) != 0);
    for (double& value : y.values) value *= attribute(node, "alpha", 1.0);
    const double beta = attribute(node, "beta", 1.0);
    return in.size() < 3 ? y : binary(y, in[2], [beta](double a, double b) { return a + beta * b; });
  }
  if (type == "MatMul") return matrix_product(x, in[1], false);
  if (type == "Conv") return convolution(node, x, in[1], in.size() > 2 ? &in[2] : nullptr);
  if (type == "MaxPool" || type == "AveragePool") return pool(node, x);
  if (type == "Pad") return padded(x, attribute(node, "pads", Integers{}));
  if (type == "GlobalAveragePool") return pixel_mean(x, true);
  if (type == "ReduceMean") return pixel_mean(x, attribute(node, "keepdims", std::int64_t{1}) != 0);
  if (type == "Add") return binary(x, in[1], std::plus<>());
  if (type == "Sub") return binary(x, in[1], std::minus<>());
  if (type == "Mul") return binary(x, in[1], std::multiplies<>());
  if (type == "Div") return binary(x, in[1], std::divides<>());
  if (type == "Concat") return joined(in);
  if (type == "Relu") return binary(x, {{}, {0.0}}, [](double a, double b) { return std::max(a, b); });
  if (type == "PRelu") return binary(x, in[1], [](double a, double b) { return a < 0.0 ? a * b : a; });
  if (type == "Tanh") return binary(x, {{}, {0.0}}, [](double a, double) { return std::tanh(a); });
  if (type == "Flatten") return {{x.shape[0], product(x.shape) / x.shape[0]}, x.values};
  if (type == "BatchNormalization") {
    NaiveTensor y = x;
    const Index pixels = product(x.shape) / (x.shape[0] * x.shape[1]);
    for (Index i = 0; i < product(x.shape); ++i) {
      const std::size_t c = at(i / pixels % x.shape[1]);
      y.values[at(i)] = (x.values[at(i)] - in[3].values[c]) /
                            std::sqrt(in[4].values[c] + attribute(node, "epsilon", 1e-5)) * in[1].values[c] +
                        in[2].values[c];
    }
    return y;
  }
  throw std::logic_error("naive_onnx: no " + type);
}

}  // namespace

OnnxBuilder::OnnxBuilder(std::vector<std::optional<Index>> sizes, Index opset) {
  model_.label = "m.onnx";
  model_.opset = opset;
  model_.inputs.push_back({"x", std::move(sizes)});
}

std::string OnnxBuilder::node(const std::string& type, std::vector<std::string> inputs,
                              OnnxAttributes attributes) {
  const std::string output = type + "." + std::to_string(model_.nodes.size());
  model_.nodes.push_back({type, output, std::move(inputs), {output}, std::move(attributes)});
  return output;
}

std::string OnnxBuilder::numbers(const std::string& name, std::vector<Index> shape, double shift) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> values;
  for (Index i = 0; i < product(shape); ++i) values.push_back(shift + uniform(engine_));
  return constant(name, std::move(shape), std::move(values));
}

std::string OnnxBuilder::constant(const std::string& name, std::vector<Index> shape,
                                  std::vector<double> values) {
  model_.initialisers[name] = {std::move(shape), false, std::move(values), {}};
  return name;
}

std::string OnnxBuilder::integers(const std::string& name, std::vector<std::int64_t> values) {
  model_.initialisers[name] = {{static_cast<Index>(values.size())}, true, {}, std::move(values)};
  return name;
}

io::OnnxModel OnnxBuilder::model(std::vector<std::string> outputs) const {
  io::OnnxModel model = model_;
  model.outputs = std::move(outputs);
  return model;
}

NaiveTensor naive_onnx(const io::OnnxModel& model, const std::string& output, const NaiveTensor& input) {
  std::map<std::string, NaiveTensor> known = {{"x", input}};
  for (const auto& [name, tensor] : model.initialisers) known[name] = {tensor.shape, tensor.values};
  for (const OnnxNode& node : model.nodes) {
    std::vector<NaiveTensor> in;
    for (const std::string& name : node.inputs) in.push_back(known.at(name));
    known[node.outputs.front()] = evaluated(node, in);
  }
  return known.at(output);
}

std::vector<double> naive_numbers(Index count) {
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(uniform(engine));
  return values;
}

}  // namespace mixcert::test

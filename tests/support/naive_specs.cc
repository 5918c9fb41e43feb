// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Loops over positions and taps.
#include "support/naive_specs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <variant>

#include "core/overloaded.h"
#include "support/further_activations.h"

namespace mixcert::testing {

Exact naive_activation(const Activation& activation, Exact x) {
  switch (activation.function()) {
    case ActivationFunction::Identity:
      return x;
    case ActivationFunction::Relu:
      return x > 0 ? x : Exact{0};
    case ActivationFunction::LeakyRelu:
      return x > 0 ? x : static_cast<Exact>(activation.slope()) * x;
    case ActivationFunction::Tanh:
      return std::tanh(x);
    case ActivationFunction::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case ActivationFunction::Softplus:
      return std::log1p(std::exp(x));
    case ActivationFunction::Relu6:
    case ActivationFunction::Hardtanh:
    case ActivationFunction::Hardsigmoid:
    case ActivationFunction::Hardswish:
    case ActivationFunction::Selu:
    case ActivationFunction::Celu:
    case ActivationFunction::Softsign:
    case ActivationFunction::Mish:
    case ActivationFunction::LogSigmoid:
    case ActivationFunction::Tanhshrink:
      return further_activation(activation, x);
    default:
      throw std::logic_error("not among the functions of these tests");
  }
}

Index naive_pixel(Index position, Index tap, Index stride, Index padding, Index dilation) {
  return position * stride + tap * dilation - padding;
}

ExactVector naive_convolution(const Conv2dSpec& spec, const LayerShape& after, const ExactVector& x) {
  ExactVector y(static_cast<std::size_t>(after.size()));
  const Index inner = spec.in / spec.groups;
  const Index pixels = spec.image.height * spec.image.width;
  for (Index c = 0; c < spec.out; ++c) {
    for (Index p = 0; p < after.positions(); ++p) {
      Exact sum = spec.bias_mean.size() > 0 ? spec.bias_mean(c) : 0.0;
      for (Index d = 0; d < inner; ++d) {
        const Index channel = c / (spec.out / spec.groups) * inner + d;
        naive_taps(spec.window, spec.image, p / after.image.width, p % after.image.width,
                   [&](Index i, Index j, Index pixel) {
                     const Index entry =
                         ((c * inner + d) * spec.window.kernel.height + i) * spec.window.kernel.width + j;
                     sum += static_cast<Exact>(spec.kernel_mean(entry)) *
                            x[static_cast<std::size_t>(channel * pixels + pixel)];
                   });
      }
      y[static_cast<std::size_t>(c * after.positions() + p)] = sum;
    }
  }
  return y;
}

ExactVector naive_pool(const Window2d& window, const LayerShape& before, const LayerShape& after,
                       const ExactVector& x, bool maximum) {
  ExactVector y;
  for (Index c = 0; c < after.channels; ++c) {
    for (Index p = 0; p < after.positions(); ++p) {
      Exact best = -std::numeric_limits<Exact>::infinity();
      Exact sum = 0;
      naive_taps(window, before.image, p / after.image.width, p % after.image.width,
                 [&](Index, Index, Index pixel) {
                   const Exact value = x[static_cast<std::size_t>(c * before.positions() + pixel)];
                   best = std::max(best, value);
                   sum += value;
                 });
      y.push_back(maximum ? best : sum / static_cast<Exact>(window.kernel.height * window.kernel.width));
    }
  }
  return y;
}

ExactVector naive_dense(const DenseLayer& layer, const ExactVector& x) {
  ExactVector y;
  for (Index i = 0; i < layer.outputs(); ++i) {
    Exact sum = layer.bias_mean()(i);
    for (Index j = 0; j < layer.inputs(); ++j) {
      sum += static_cast<Exact>(layer.weight_mean()(i, j)) * x[static_cast<std::size_t>(j)];
    }
    y.push_back(sum);
  }
  return y;
}

namespace {

struct NaiveValue {
  LayerShape shape;
  ExactVector x;
};

/// As entries name each other, kind by kind.
std::string naive_name(const LayerSpec& spec) {
  if (!spec.node.empty()) return spec.node;
  if (const auto* dense = std::get_if<DenseSpec>(&spec.variant())) return dense->layer.name();
  if (const auto* conv = std::get_if<Conv2dSpec>(&spec.variant())) return conv->name;
  if (const auto* norm = std::get_if<BatchNormSpec>(&spec.variant())) return norm->name;
  if (const auto* affine = std::get_if<AffineSpec>(&spec.variant())) return affine->name;
  return "";
}

NaiveValue naive_join(bool is_sum, const std::vector<NaiveValue>& seen) {
  NaiveValue made = seen.front();
  for (std::size_t i = 1; i < seen.size(); ++i) {
    if (is_sum) {
      for (std::size_t j = 0; j < made.x.size(); ++j) made.x[j] += seen[i].x[j];
    } else {
      made.x.insert(made.x.end(), seen[i].x.begin(), seen[i].x.end());
      made.shape.channels += seen[i].shape.channels;
    }
  }
  return made;
}

/// layer(spec, shape in front, x) is what one layer of one input makes.
template <class Layer>
ExactVector naive_list(const std::vector<LayerSpec>& layers, const LayerShape& shape, const ExactVector& x,
                       Layer layer) {
  std::map<std::string, NaiveValue> named = {{"input", {shape, x}}};
  NaiveValue last{shape, x};
  for (const LayerSpec& spec : layers) {
    std::vector<NaiveValue> seen;
    for (const std::string& name : spec.inputs) seen.push_back(named.at(name));
    if (seen.empty()) seen.push_back(last);
    const bool is_sum = std::holds_alternative<AddSpec>(spec.variant());
    if (is_sum || std::holds_alternative<ConcatSpec>(spec.variant())) {
      last = naive_join(is_sum, seen);
    } else {
      last = {shape_after(spec, seen.front().shape), layer(spec, seen.front().shape, seen.front().x)};
    }
    named[naive_name(spec)] = last;
  }
  return last.x;
}

}  // namespace

ExactVector naive_layers(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                         const ExactVector& x) {
  return naive_list(layers, shape, x, naive_layer);
}

ExactVector naive_draw(const std::vector<LayerSpec>& layers, const LayerShape& shape, const ExactVector& x,
                       const NaiveNormals& normals) {
  const auto drawn = [&](const LayerSpec& spec, const LayerShape& before,
                         const ExactVector& in) -> ExactVector {
    if (const auto* block = std::get_if<ResidualSpec>(&spec.variant())) {
      ExactVector y = naive_draw(block->skip.layers, before, in, normals);
      const ExactVector inner = naive_draw(block->layers, before, in, normals);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += inner[i];
      return y;
    }
    ExactVector y = naive_layer(spec, before, in);
    if (is_deterministic(spec)) return y;
    if (const auto* dense = std::get_if<DenseSpec>(&spec.variant())) {
      const Matrix variances = dense->layer.weight_variances();
      const Vector n = normals(dense->layer.outputs());
      for (Index i = 0; i < n.size(); ++i) {
        Exact variance = dense->layer.bias_variances()(i);
        for (Index j = 0; j < variances.cols(); ++j)
          variance += variances(i, j) * in[static_cast<std::size_t>(j)] * in[static_cast<std::size_t>(j)];
        y[static_cast<std::size_t>(i)] += std::sqrt(variance) * n(i);
      }
      return y;
    }
    Conv2dSpec fixed = std::get<Conv2dSpec>(spec.variant());
    const Index kernel = fixed.kernel_variance.size(), bias = fixed.bias_variance.size();
    const Vector n = normals(kernel + bias);
    fixed.kernel_mean += fixed.kernel_variance.cwiseSqrt().cwiseProduct(n.head(kernel));
    if (bias > 0) fixed.bias_mean += fixed.bias_variance.cwiseSqrt().cwiseProduct(n.tail(bias));
    return naive_convolution(fixed, shape_after(spec, before), in);
  };
  return naive_list(layers, shape, x, drawn);
}

namespace {

ExactVector naive_affine(const AffineSpec& affine, Index positions, ExactVector x) {
  const auto at = [&](const Vector& values, std::size_t i, double absent) -> Exact {
    const auto index = static_cast<Index>(i);
    if (values.size() == 0) return absent;
    if (values.size() == 1) return values(0);
    return values(values.size() == static_cast<Index>(x.size()) ? index : index / positions);
  };
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = at(affine.scale, i, 1.0) * x[i] + at(affine.shift, i, 0.0);
  return x;
}

ExactVector naive_mean(const LayerShape& before, const ExactVector& x) {
  ExactVector y(static_cast<std::size_t>(before.channels), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i / static_cast<std::size_t>(before.positions())] += x[i] / static_cast<Exact>(before.positions());
  return y;
}

ExactVector naive_batch_norm(const BatchNormSpec& norm, Index positions, ExactVector x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index c = static_cast<Index>(i) / positions;
    const Exact spread = std::sqrt(static_cast<Exact>(norm.running_variance(c)) + norm.epsilon);
    x[i] = (x[i] - norm.running_mean(c)) / spread * norm.weight(c) + norm.bias(c);
  }
  return x;
}

}  // namespace

ExactVector naive_layer(const LayerSpec& spec, const LayerShape& before, const ExactVector& x) {
  const LayerShape after = shape_after(spec, before);
  return std::visit(
      Overloaded{[&](const DenseSpec& dense) { return naive_dense(dense.layer, x); },
                 [&](const Conv2dSpec& conv) { return naive_convolution(conv, after, x); },
                 [&](const AvgPool2dSpec& pool) { return naive_pool(pool.window, before, after, x, false); },
                 [&](const MaxPool2dSpec& pool) { return naive_pool(pool.window, before, after, x, true); },
                 [&](const ActivationSpec& elementwise) {
                   ExactVector y = x;
                   for (Exact& value : y) value = naive_activation(elementwise.activation, value);
                   return y;
                 },
                 [&](const BatchNormSpec& norm) { return naive_batch_norm(norm, before.positions(), x); },
                 [&](const ResidualSpec& residual) {
                   ExactVector y = naive_layers(residual.skip.layers, before, x);
                   const ExactVector inner = naive_layers(residual.layers, before, x);
                   for (std::size_t i = 0; i < y.size(); ++i) y[i] += inner[i];
                   return y;
                 },
                 [&](const AffineSpec& affine) { return naive_affine(affine, before.positions(), x); },
                 [&](const MeanSpec&) { return naive_mean(before, x); },
                 [](const OneOf<AddSpec, ConcatSpec> auto&) -> ExactVector {
                   throw std::invalid_argument("naive_layer: expected a layer of one input");
                 },
                 [&](const OneOf<FlattenSpec, ReshapeSpec, DropoutSpec, Dropout2dSpec, GaussianDropoutSpec,
                                 GaussianNoiseSpec> auto&) {
                   return x;  // at the mean of the noise
                 },
                 [](const MixtureSpec&) -> ExactVector {
                   throw std::invalid_argument("naive_layer: a mixture has no one value");
                 }},
      spec.variant());
}

ExactVector exact(const Vector& x) { return {x.begin(), x.end()}; }

ExactVector naive_canonical(const Network& network, const Vector& input) {
  ExactVector x = exact(network.features(input).values.col(0));
  for (Index k = 0; k < network.layer_count(); ++k) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      x[j] = naive_activation(network.activation(k).at(static_cast<Index>(j)), x[j]);
    }
    x = naive_dense(network.layer(k), x);
  }
  return x;
}

double distance(const ExactVector& a, const ExactVector& b) {
  Exact sum = a.size() == b.size() ? 0 : std::numeric_limits<Exact>::infinity();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return static_cast<double>(std::sqrt(sum));
}

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Loops over positions and taps.
#include "support/naive_specs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <variant>

#include "core/overloaded.h"

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

ExactVector naive_layers(const std::vector<LayerSpec>& layers, LayerShape shape, ExactVector x) {
  for (const LayerSpec& spec : layers) {
    x = naive_layer(spec, shape, x);
    shape = shape_after(spec, shape);
  }
  return x;
}

namespace {

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
                 [&](const OneOf<FlattenSpec, DropoutSpec, Dropout2dSpec, GaussianDropoutSpec,
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

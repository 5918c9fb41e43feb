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
#include "support/naive_lists.h"

namespace mixcert::testing {

Index naive_pixel(Index position, Index tap, Index stride, Index padding, Index dilation) {
  return position * stride + tap * dilation - padding;
}

template <class Real>
std::vector<Real> naive_convolution(const Conv2dSpec& spec, const LayerShape& after,
                                    const std::vector<Real>& x) {
  std::vector<Real> y(static_cast<std::size_t>(after.size()));
  const Index inner = spec.in / spec.groups;
  const Index pixels = spec.image.height * spec.image.width;
  for (Index c = 0; c < spec.out; ++c) {
    for (Index p = 0; p < after.positions(); ++p) {
      Real sum = spec.bias_mean.size() > 0 ? spec.bias_mean(c) : 0.0;
      for (Index d = 0; d < inner; ++d) {
        const Index channel = c / (spec.out / spec.groups) * inner + d;
        naive_taps(spec.window, spec.image, p / after.image.width, p % after.image.width,
                   [&](Index i, Index j, Index pixel) {
                     const Index entry =
                         ((c * inner + d) * spec.window.kernel.height + i) * spec.window.kernel.width + j;
                     sum += static_cast<Real>(spec.kernel_mean(entry)) *
                            x[static_cast<std::size_t>(channel * pixels + pixel)];
                   });
      }
      y[static_cast<std::size_t>(c * after.positions() + p)] = sum;
    }
  }
  return y;
}

template <class Real>
std::vector<Real> naive_pool(const Window2d& window, const LayerShape& before, const LayerShape& after,
                             const std::vector<Real>& x, bool maximum) {
  std::vector<Real> y;
  for (Index c = 0; c < after.channels; ++c) {
    for (Index p = 0; p < after.positions(); ++p) {
      Real best = -std::numeric_limits<Real>::infinity();
      Real sum = 0;
      naive_taps(window, before.image, p / after.image.width, p % after.image.width,
                 [&](Index, Index, Index pixel) {
                   const Real value = x[static_cast<std::size_t>(c * before.positions() + pixel)];
                   best = std::max(best, value);
                   sum += value;
                 });
      y.push_back(maximum ? best : sum / static_cast<Real>(window.kernel.height * window.kernel.width));
    }
  }
  return y;
}

template <class Real>
std::vector<Real> naive_dense(const DenseLayer& layer, const std::vector<Real>& x) {
  std::vector<Real> y;
  for (Index i = 0; i < layer.outputs(); ++i) {
    Real sum = layer.bias_mean()(i);
    for (Index j = 0; j < layer.inputs(); ++j) {
      sum += static_cast<Real>(layer.weight_mean()(i, j)) * x[static_cast<std::size_t>(j)];
    }
    y.push_back(sum);
  }
  return y;
}

namespace {

template <class Real>
std::vector<Real> naive_affine(const AffineSpec& affine, Index positions, std::vector<Real> x) {
  const auto at = [&](const Vector& values, std::size_t i, double absent) -> Real {
    const auto index = static_cast<Index>(i);
    if (values.size() == 0) return absent;
    if (values.size() == 1) return values(0);
    return values(values.size() == static_cast<Index>(x.size()) ? index : index / positions);
  };
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = at(affine.scale, i, 1.0) * x[i] + at(affine.shift, i, 0.0);
  return x;
}

template <class Real>
std::vector<Real> naive_mean(const LayerShape& before, const std::vector<Real>& x) {
  std::vector<Real> y(static_cast<std::size_t>(before.channels), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i / static_cast<std::size_t>(before.positions())] += x[i] / static_cast<Real>(before.positions());
  return y;
}

template <class Real>
std::vector<Real> naive_batch_norm(const BatchNormSpec& norm, Index positions, std::vector<Real> x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index c = static_cast<Index>(i) / positions;
    const Real spread = std::sqrt(static_cast<Real>(norm.running_variance(c)) + norm.epsilon);
    x[i] = (x[i] - norm.running_mean(c)) / spread * norm.weight(c) + norm.bias(c);
  }
  return x;
}

}  // namespace

template <class Real>
std::vector<Real> naive_layer(const LayerSpec& spec, const LayerShape& before, const std::vector<Real>& x) {
  using Values = std::vector<Real>;
  const LayerShape after = shape_after(spec, before);
  return std::visit(
      Overloaded{[&](const DenseSpec& dense) { return naive_dense(dense.layer, x); },
                 [&](const Conv2dSpec& conv) { return naive_convolution(conv, after, x); },
                 [&](const AvgPool2dSpec& pool) { return naive_pool(pool.window, before, after, x, false); },
                 [&](const MaxPool2dSpec& pool) { return naive_pool(pool.window, before, after, x, true); },
                 [&](const ActivationSpec& elementwise) {
                   Values y = x;
                   for (Real& value : y) value = naive_activation(elementwise.activation, value);
                   return y;
                 },
                 [&](const BatchNormSpec& norm) { return naive_batch_norm(norm, before.positions(), x); },
                 [&](const ResidualSpec& residual) {
                   return plus(naive_layers(residual.skip.layers, before, x),
                               naive_layers(residual.layers, before, x));
                 },
                 [&](const AffineSpec& affine) { return naive_affine(affine, before.positions(), x); },
                 [&](const MeanSpec&) { return naive_mean(before, x); },
                 [](const OneOf<AddSpec, ConcatSpec> auto&) -> Values {
                   throw std::invalid_argument("naive_layer: expected a layer of one input");
                 },
                 [&](const OneOf<FlattenSpec, ReshapeSpec, DropoutSpec, Dropout2dSpec, GaussianDropoutSpec,
                                 GaussianNoiseSpec> auto&) {
                   return x;  // at the mean of the noise
                 },
                 [](const MixtureSpec&) -> Values {
                   throw std::invalid_argument("naive_layer: a mixture has no one value");
                 }},
      spec.variant());
}

template <class Real>
std::vector<Real> naive_layers(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                               const std::vector<Real>& x) {
  return naive_list(layers, shape, x, naive_layer<Real>);
}

#define MIXCERT_NAIVE_SPECS_FOR(Real)                                                                    \
  template std::vector<Real> naive_convolution(const Conv2dSpec&, const LayerShape&,                     \
                                               const std::vector<Real>&);                                \
  template std::vector<Real> naive_pool(const Window2d&, const LayerShape&, const LayerShape&,           \
                                        const std::vector<Real>&, bool);                                 \
  template std::vector<Real> naive_dense(const DenseLayer&, const std::vector<Real>&);                   \
  template std::vector<Real> naive_layer(const LayerSpec&, const LayerShape&, const std::vector<Real>&); \
  template std::vector<Real> naive_layers(const std::vector<LayerSpec>&, const LayerShape&,              \
                                          const std::vector<Real>&)

MIXCERT_NAIVE_SPECS_FOR(double);
MIXCERT_NAIVE_SPECS_FOR(long double);

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

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers by their definitions alone: direct loops over output positions and taps, no matrices. The slow
// second formula of every layer type, in long double where values are compared and in double where many are
// drawn.
#pragma once

#include <string>
#include <vector>

#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"
#include "support/naive_activations.h"

namespace mixcert::testing {

using Exact = long double;
using ExactVector = std::vector<Exact>;

/// Pixel under tap `tap` of position `position` along one axis, by counting from the padded border.
Index naive_pixel(Index position, Index tap, Index stride, Index padding, Index dilation);

/// Calls visit(i, j, pixel) for the taps of position (row, column) inside the image.
template <class Visit>
void naive_taps(const Window2d& w, const Size2d& image, Index row, Index column, Visit visit) {
  for (Index i = 0; i < w.kernel.height; ++i) {
    for (Index j = 0; j < w.kernel.width; ++j) {
      const Index y = naive_pixel(row, i, w.stride.height, w.padding.height, w.dilation.height);
      const Index x = naive_pixel(column, j, w.stride.width, w.padding.width, w.dilation.width);
      if (y >= 0 && y < image.height && x >= 0 && x < image.width) visit(i, j, y * image.width + x);
    }
  }
}

// Random layers count with their means. `Real` is double or long double.

template <class Real>
std::vector<Real> naive_convolution(const Conv2dSpec& spec, const LayerShape& after,
                                    const std::vector<Real>& x);
template <class Real>
std::vector<Real> naive_pool(const Window2d& window, const LayerShape& before, const LayerShape& after,
                             const std::vector<Real>& x, bool maximum);
template <class Real>
std::vector<Real> naive_dense(const DenseLayer& layer, const std::vector<Real>& x);
template <class Real>
std::vector<Real> naive_layer(const LayerSpec& spec, const LayerShape& before, const std::vector<Real>& x);
/// A list, each entry of which sees the entries that it names or the one before.
template <class Real>
std::vector<Real> naive_layers(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                               const std::vector<Real>& x);

ExactVector exact(const Vector& x);

/// A canonical network with its weights at their means and all factors one.
ExactVector naive_canonical(const Network& network, const Vector& input);

/// Euclidean distance of computed values from exact ones.
double distance(const ExactVector& a, const ExactVector& b);

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// 2 (1 - (1 - v/2)^{1/4}), (Y.27). Without convexity the root may be near zero too often for a number close
// to v/4: (H.2).
#include "methods/moment/convex_noise.h"

#include <cmath>

#include "activation/activation_traits.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

bool has_convex_size(const Activation& f) {
  const Smooth* smooth = f.traits().smooth();
  return smooth == nullptr || smooth->has_convex_size;
}

}  // namespace

bool has_convex_sizes(const ActivationMap& activation, Index neurons) {
  for (Index j = 0; j < neurons; ++j) {
    if (!has_convex_size(activation.at(j))) return false;
  }
  return true;
}

double convex_root_deviation(double variance) {
  const double square = 1.0 - 0.5 * variance;
  // E (r - 1)^2 = 2 - 2 E r is never more than 2. Written so that NaN gives no better bound.
  if (!(square > 0.0)) return 2.0;
  const double root = std::sqrt(square), fourth = std::sqrt(root);
  // 1 - s = (1 - s^4)/((1 + s)(1 + s^2)): no cancellation.
  return enlarged(variance / ((1.0 + fourth) * (1.0 + root)));
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Skewness, kurtosis and distance of a mixture on the line from its own Gaussian: estimates for people who
// ask how normal an output is.
#include <cmath>

#include "core/normal.h"
#include "mixcert/answer/answers.h"

namespace mixcert {
namespace {

constexpr int kQuantiles = 200;

}  // namespace

Normality normality(const LineMixture& mixture) {
  const double mean = mixture.mean(), deviation = mixture.deviation();
  Normality found;
  if (!(deviation > 0.0)) return found;
  double third = 0.0, fourth = 0.0, weights = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const double w = mixture.weights()(i);
    const double d = (mixture.means()(i) - mean) / deviation;
    const double v = std::pow(mixture.deviations()(i) / deviation, 2);
    third += w * d * (d * d + 3.0 * v);
    fourth += w * (d * d * (d * d + 6.0 * v) + 3.0 * v * v);
    weights += w;
  }
  found.skewness = third / weights;
  found.excess_kurtosis = fourth / weights - 3.0;
  double square = 0.0;
  for (int i = 0; i < kQuantiles; ++i) {
    const double p = (i + 0.5) / kQuantiles;
    const double gap = (mixture.quantile(p) - mean) / deviation - normal_quantile(p);
    square += gap * gap / kQuantiles;
  }
  found.gaussian_distance = std::sqrt(square);
  return found;
}

}  // namespace mixcert

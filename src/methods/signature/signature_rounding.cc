// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rounding of signatures. Coarse on purpose: some 1e-7 of a standard deviation, and a bound that is simple to
// prove is worth more here than a digit.
#include "methods/signature/signature_rounding.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

// Relative error of one axis probability of a quantizer (R.6).
constexpr double kProbabilityError = 256 * kUnitRoundoff;

/// B_i = |m_i| + sum_d |u_di| max |location_d|: no coordinate of a grid point exceeds it.
Vector largest_coordinates(const Gaussian& gaussian, const GridSignature& signature) {
  Vector largest = gaussian.mean.cwiseAbs();
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const double reach = signature.quantizers[static_cast<std::size_t>(d)]->locations.cwiseAbs().maxCoeff();
    largest += reach * signature.directions.col(d).cwiseAbs();
  }
  return largest;
}

/// Squared error of one component's points and directions.
double component_rounding(const Gaussian& gaussian, const GridSignature& signature,
                          const ActivationMap& activation, ConstVectorRef weights) {
  const double l = activation.lipschitz().upper;
  const double gamma = rounding_gamma(2 * signature.axis_count() + 4);
  const Vector largest = largest_coordinates(gaussian, signature);
  const Vector point_error =
      largest.unaryExpr([&](double b) { return l * gamma * b + activation.value_error(b * (1.0 + gamma)); });
  const double points = std::sqrt(weights.dot(point_error.cwiseAbs2()));
  const double spread = std::sqrt(weights.dot(gaussian.covariance.variances()));
  const double total = points + 4.0 * signature.direction_error * l * spread;
  return total * total;
}

}  // namespace

double signature_rounding(const SignatureLayerTrace& layer, const ActivationMap& activation,
                          ConstVectorRef weights) {
  double squared = 0.0;
  Index axes = 0;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const GridSignature& signature = layer.signatures[static_cast<std::size_t>(j)];
    squared += layer.after.weights()(j) *
               component_rounding(layer.after.component(j), signature, activation, weights);
    axes = std::max(axes, signature.axis_count());
  }
  // (R.6): weights off by a relative eta move at most 16 eta of the spread.
  const Index sums = layer.points + layer.after.size() + layer.before.size() + 16;
  const double eta = static_cast<double>(axes + 1) * kProbabilityError + rounding_gamma(4 * sums);
  const double l = activation.lipschitz().upper;
  const double spread = weights.dot(layer.after.standard_deviation().cwiseAbs2());
  return enlarged(std::sqrt(squared) + 4.0 * l * std::sqrt(eta * spread));
}

double activation_norm_bound(const SignatureLayerTrace& layer, const ActivationMap& activation) {
  const double l = activation.lipschitz().upper;
  const double at_zero = activation.at_zero();
  double largest = 0.0;
  for (Index j = 0; j < layer.after.size(); ++j) {
    const Vector b =
        largest_coordinates(layer.after.component(j), layer.signatures[static_cast<std::size_t>(j)]);
    largest = larger_or_nan(largest, (l * b.array() + at_zero).matrix().norm());
  }
  return enlarged(largest);
}

}  // namespace mixcert

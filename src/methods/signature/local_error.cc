// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a signature does to the activations of one layer: local errors, docs/theory/signatures.md (S.1) and
// (S.4), and rounding, docs/theory/rounding.md (R.3), (R.5), (R.6).
#include <algorithm>
#include <cmath>

#include "methods/signature/signature_certificate.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// l^2 (Var z_i - sum_d (1 - D_d) u_di^2), (S.1).
void lipschitz_errors(const GridSignature& signature, const Vector& variances, UpperBound lipschitz, Index j,
                      LocalErrors& errors) {
  const UpperBound l2 = lipschitz * lipschitz;
  const Vector nominal = signature.mean_square_errors(variances);
  Vector slack = 2.0 * rounding_gamma(2 * signature.axis_count() + 4) * variances;
  for (Index d = 0; d < signature.axis_count(); ++d) {
    const double inflation = signature.quantizers[static_cast<std::size_t>(d)]->distortion.inflation();
    slack += next_up(inflation) * signature.directions.col(d).cwiseAbs2();
  }
  errors.nominal.col(j) = l2.nominal * nominal;
  errors.upper.col(j) = next_up(l2.upper * (1.0 + 8 * kUnitRoundoff)) * (nominal + slack);
}

/// Replaces the errors of a diagonal component by local-slope bounds where smaller, (S.4).
void refine_diagonal(const Gaussian& gaussian, const GridSignature& signature,
                     const ActivationMap& activation, Index input_count, Index j, LocalErrors& errors) {
  const Vector deviations = gaussian.covariance.variances().cwiseSqrt();
  const NormalQuantizer& one_point = optimal_quantizer(1);
  std::vector<const NormalQuantizer*> quantizer(static_cast<std::size_t>(gaussian.dimension()), &one_point);
  for (std::size_t d = 0; d < signature.coordinates.size(); ++d) {
    quantizer[static_cast<std::size_t>(signature.coordinates[d])] = signature.quantizers[d];
  }
  for (Index i = 0; i < gaussian.dimension(); ++i) {
    if (!(deviations(i) > 0.0)) continue;
    const UpperBound local = coordinate_error(activation.at(i / input_count), gaussian.mean(i), deviations(i),
                                              *quantizer[static_cast<std::size_t>(i)]);
    if (local.upper < errors.upper(i, j)) {
      errors.nominal(i, j) = local.nominal;
      errors.upper(i, j) = local.upper;
    }
  }
}

}  // namespace

UpperBound coordinate_error(const Activation& activation, double mean, double deviation,
                            const NormalQuantizer& quantizer) {
  UpperBound sum;
  for (Index c = 0; c < quantizer.size(); ++c) {
    sum = sum + activation.mean_square_change(mean, deviation, quantizer.locations(c),
                                              quantizer.boundaries(c), quantizer.boundaries(c + 1));
  }
  return sum;
}

LocalErrors local_errors(const SignatureLayerTrace& layer, const ActivationMap& activation, Index input_count,
                         bool refine) {
  const Index dimension = layer.after.dimension();
  LocalErrors errors{Matrix(dimension, layer.after.size()), Matrix(dimension, layer.after.size())};
  for (Index j = 0; j < layer.after.size(); ++j) {
    const Gaussian& gaussian = layer.after.component(j);
    const GridSignature& signature = layer.signatures[static_cast<std::size_t>(j)];
    lipschitz_errors(signature, gaussian.covariance.variances(), activation.lipschitz(), j, errors);
    if (refine && gaussian.covariance.is_diagonal())
      refine_diagonal(gaussian, signature, activation, input_count, j, errors);
  }
  return errors;
}

// Rounding. Coarse on purpose: some 1e-7 of a standard deviation, and a bound that is simple to prove is
// worth more here than a digit.

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

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Local errors of signatures, docs/theory/signatures.md (S.1) and (S.4).
#include "methods/signature/local_error.h"

#include <cmath>

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

}  // namespace mixcert

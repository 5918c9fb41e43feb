// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.6).
#include <cmath>

#include "gradient/moment/piece_gradient.h"
#include "gradient/moment_derivatives.h"

namespace mixcert {
namespace {

// Rests below this fraction of what they are the rest of are rounding (the root of some roundoffs).
constexpr double kNothingLeft = 3e-7;
// Gains of dead neurons, below this fraction of the deviation, are the quadrature's errors.
constexpr double kNoGain = 1e-10;

/// Of sqrt(total - part^2), `rest` being its value; zero where nothing but rounding is left.
Eigen::RowVector2d rest_derivatives(double rest, double scale, const Eigen::RowVector2d& total, double part,
                                    const Eigen::RowVector2d& part_derivatives) {
  if (!(rest > kNothingLeft * scale)) return Eigen::RowVector2d::Zero();
  return (0.5 * total - part * part_derivatives) / rest;
}

bool is_zero(const SurrogateGradient& bar, Index j) {
  return bar.mean(j) == 0.0 && bar.gain(j) == 0.0 && bar.linear(j) == 0.0 && bar.quadratic(j) == 0.0 &&
         bar.rest(j) == 0.0 && bar.second(j) == 0.0 && bar.square_slope(j) == 0.0 &&
         bar.square_rest(j) == 0.0;
}

/// (d/dm, d/ds) at coordinate j.
Eigen::RowVector2d spread_coordinate(const MomentDerivatives& d, Index j, double deviation,
                                     const SurrogateLaw& law, const SurrogateGradient& bar) {
  const double gain = law.gain(j);
  const double slope = law.linear(j) + gain;
  // gain^2 = c_1^2 + T^2, linear = c_1 - gain.
  Eigen::RowVector2d gain_derivatives = Eigen::RowVector2d::Zero();
  if (std::abs(gain) > kNoGain * deviation) gain_derivatives = (slope * d.slope + 0.5 * d.residual) / gain;
  const double spread = std::hypot(law.square_slope(j), law.square_rest(j));
  return bar.mean(j) * d.mean + (bar.gain(j) - bar.linear(j)) * gain_derivatives + bar.linear(j) * d.slope +
         bar.quadratic(j) * d.curvature +
         bar.rest(j) *
             rest_derivatives(law.rest(j), std::abs(gain), d.residual, law.quadratic(j), d.curvature) +
         bar.second(j) * d.second + bar.square_slope(j) * d.square_slope +
         bar.square_rest(j) * rest_derivatives(law.square_rest(j), spread, d.square_variance,
                                               law.square_slope(j), d.square_slope);
}

}  // namespace

SurrogateGradient SurrogateGradient::zero(Index size) {
  const Vector zeros = Vector::Zero(size);
  return {zeros, zeros, zeros, zeros, zeros, zeros, zeros, zeros};
}

CoordinateGradient surrogate_gradient(const ActivationMap& activation, ConstVectorRef means,
                                      ConstVectorRef deviations, Index input_count, const SurrogateLaw& law,
                                      const SurrogateGradient& bar) {
  const Index n = means.size();
  CoordinateGradient gradient{Vector::Zero(n), Vector::Zero(n)};
  for (Index j = 0; j < n; ++j) {
    // Behind a prior's weights, of mean zero, nothing depends on the surrogate.
    if (is_zero(bar, j)) continue;
    const Activation& f = activation.at(j / input_count);
    if (deviations(j) > 0.0) {
      const Eigen::RowVector2d both =
          spread_coordinate(moment_derivatives(f, means(j), deviations(j)), j, deviations(j), law, bar);
      gradient.mean(j) = both(0);
      gradient.deviation(j) = both(1);
    } else {
      // A constant: a = f(m), E a^2 = f(m)^2.
      gradient.mean(j) = f.derivative(means(j)) * (bar.mean(j) + 2.0 * law.mean(j) * bar.second(j));
    }
  }
  return gradient;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Uniform and Laplace by inversion, Student's t as a normal over the root of a gamma variable; Boost's gamma
// is one fixed algorithm on every platform.
#include <boost/random/gamma_distribution.hpp>
#include <cmath>
#include <limits>

#include "statistics/simulate/layer_noise.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

// Beyond, t differs from a normal by less than 1e-12 in W2 (W.5), and gamma draws lose their last digits.
constexpr double kManyDegrees = 1e12;

template <class Draw>
void fill(Matrix& out, const Draw& draw) {
  for (Index j = 0; j < out.cols(); ++j) {
    for (Index i = 0; i < out.rows(); ++i) out(i, j) = draw();
  }
}

double uniform_entry(Generator& generator) { return std::sqrt(3.0) * (2.0 * uniform(generator) - 1.0); }

double laplace_entry(Generator& generator) {
  // u in [-1, 1); its size is exponential by inversion, 1 - |u| = 0 left out.
  const double u = 2.0 * uniform(generator) - 1.0;
  const double rest = std::fmax(1.0 - std::abs(u), std::numeric_limits<double>::epsilon());
  return std::copysign(std::sqrt(0.5) * std::log(rest), u);
}

/// t = n sqrt((degrees - 2) / (2 g)), n normal and g gamma of shape degrees / 2.
void fill_student(double degrees, Generator& generator, Matrix& out) {
  fill_normal(generator, out);
  if (degrees > kManyDegrees) return;
  boost::random::gamma_distribution<double> gamma(0.5 * degrees);
  for (Index j = 0; j < out.cols(); ++j) {
    for (Index i = 0; i < out.rows(); ++i) out(i, j) *= std::sqrt(0.5 * (degrees - 2.0) / gamma(generator));
  }
}

}  // namespace

void fill_entries(const EntryLaw& law, Generator& generator, Matrix& out) {
  switch (law.family()) {
    case EntryLaw::Family::Normal:
      return fill_normal(generator, out);
    case EntryLaw::Family::Laplace:
      return fill(out, [&] { return laplace_entry(generator); });
    case EntryLaw::Family::Uniform:
      return fill(out, [&] { return uniform_entry(generator); });
    case EntryLaw::Family::StudentT:
      return fill_student(law.degrees(), generator, out);
  }
}

void apply_mask(const Mask& mask, Generator& generator, Matrix& activations) {
  if (mask.is_none()) return;
  Matrix factors(activations.rows(), activations.cols());
  if (mask.kind() == Mask::Kind::Bernoulli) {
    fill(factors, [&] { return uniform(generator) < mask.rate() ? 0.0 : 1.0 / mask.keep(); });
  } else {
    fill_normal(generator, factors);
    factors.array() = 1.0 + std::sqrt(mask.rate() / mask.keep()) * factors.array();
  }
  activations.array() *= factors.array();
}

}  // namespace mixcert

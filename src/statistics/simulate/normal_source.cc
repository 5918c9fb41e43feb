// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of normal numbers, of one Gaussian and of a mixture, of single weights of any shape and of dropout
// factors.
#include "statistics/simulate/normal_source.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/rounding.h"
#include "mixcert/statistics/simulate.h"
#include "mixture/symmetric_eigen.h"
#include "statistics/simulate/layer_noise.h"

namespace mixcert {

// Boost's ziggurat: 6 to 9 ns a number, and one fixed algorithm, whereas each standard library has its own
// std::normal_distribution. Only the tails (one number in 4,000) call log, whose last bit may differ between
// platforms.

void fill_normal(Generator& generator, Eigen::Ref<Matrix> out) {
  boost::random::normal_distribution<double> normal;
  for (Index j = 0; j < out.cols(); ++j) {
    double* const column = out.col(j).data();
    for (Index i = 0; i < out.rows(); ++i) column[i] = normal(generator);
  }
}

// One Gaussian. For C = blockdiag(B_1, ..., B_p) + F F' with B_i = L_i L_i':
//     x = mean + blockdiag(L_i) e + F f,   e, f standard normal,
// so a diagonal costs one multiplication per number and nothing is expanded.

GaussianSampler::GaussianSampler(const Gaussian& gaussian)
    : mean_(gaussian.mean), factor_(gaussian.covariance.factor()) {
  const Covariance& covariance = gaussian.covariance;
  const Index size = covariance.block_size();
  if (size == 1) {
    block_factors_ = positive_part(covariance.stacked_blocks()).cwiseSqrt();
    return;
  }
  block_factors_.resize(covariance.dimension(), size);
  for (Index i = 0; i < covariance.block_count(); ++i) {
    block_factors_.middleRows(i * size, size) = psd_factor(covariance.block(i));
  }
}

Matrix GaussianSampler::draw(Generator& generator, Index count) const {
  const Index size = block_factors_.cols();
  Matrix samples(mean_.size(), count);
  fill_normal(generator, samples);
  if (size == 1) {
    samples.array().colwise() *= block_factors_.col(0).array();
  } else {
    for (Index row = 0; row < mean_.size(); row += size) {
      samples.middleRows(row, size) = block_factors_.middleRows(row, size) * samples.middleRows(row, size);
    }
  }
  if (factor_.cols() > 0) {
    Matrix shared(factor_.cols(), count);
    fill_normal(generator, shared);
    samples.noalias() += factor_ * shared;
  }
  samples.colwise() += mean_;
  return samples;
}

// Cholesky costs a tenth of the eigendecomposition and succeeds for regular covariances.
// A pivoted LDL' would do for singular ones, but its error there is sqrt(roundoff), that
// of the eigendecomposition roundoff.

Matrix psd_factor(ConstMatrixRef matrix) {
  if (matrix.rows() == 1) return Matrix::Constant(1, 1, std::sqrt(positive_part(matrix(0, 0))));
  const Eigen::LLT<Matrix> cholesky(matrix);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const SymmetricEigen eigen = symmetric_eigen(matrix);
  return eigen.vectors * positive_part(eigen.values).cwiseSqrt().asDiagonal();
}

// A mixture: labels first, then all samples of a component at once, so that each covariance is factored once
// and only if its component occurs.

namespace {

/// For each component, the samples that belong to it; labels by inversion.
std::vector<std::vector<Index>> draw_members(const Vector& weights, Index samples, Generator& generator) {
  std::vector<double> cumulative;
  double total = 0.0;
  for (const double weight : weights) cumulative.push_back(total += weight);
  std::vector<std::vector<Index>> members(cumulative.size());
  for (Index s = 0; s < samples; ++s) {
    // The product may round up to `total`, where the search would pass the last component.
    const double u = std::min(uniform(generator) * total, std::nextafter(total, 0.0));
    const auto place = std::upper_bound(cumulative.begin(), cumulative.end(), u);
    members[static_cast<std::size_t>(place - cumulative.begin())].push_back(s);
  }
  return members;
}

}  // namespace

Matrix sample_mixture(const GaussianMixture& mixture, Index samples, std::uint64_t seed, Stream stream,
                      std::uint64_t index) {
  require(mixture.size() > 0, "sample_mixture: the mixture has no components");
  require(samples >= 0, "sample_mixture: expected samples >= 0, got " + std::to_string(samples));
  Generator generator = make_generator(seed, stream, index);
  const auto members = draw_members(mixture.weights(), samples, generator);
  Matrix result(mixture.dimension(), samples);
  for (Index i = 0; i < mixture.size(); ++i) {
    const std::vector<Index>& mine = members[static_cast<std::size_t>(i)];
    if (mine.empty()) continue;
    result(Eigen::all, mine) =
        GaussianSampler(mixture.component(i)).draw(generator, static_cast<Index>(mine.size()));
  }
  return result;
}

// Uniform and Laplace weights by inversion, Student's t as a normal over the root of a gamma variable;
// Boost's gamma is one fixed algorithm on every platform.

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

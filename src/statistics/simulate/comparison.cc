// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statistics on W2(p, q) from samples of p. The Gelbrich distance d of means and
// covariances is W2 between the Gaussians with these moments, hence a metric, and
// W2(p, q) >= d(p, q). With p^ the moments of the sample,
//     W2(p, q) >= d(p^, q) - d(p^, p)                                           (C.2)
// where the law of d(p^, p) is estimated by d(p*, p^), p* from batches of samples drawn
// with replacement. The confidence level is therefore asymptotic: it assumes many batches
// and finite fourth moments, and is no guarantee for a given sample.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/gaussian_transport.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert {
namespace {

constexpr Index kMaxComparedBatches = 100;
constexpr Index kResamples = 400;

void require_samples(ConstMatrixRef samples, const GaussianMixture& mixture, Index least, const char* name) {
  require(samples.rows() == mixture.dimension() && samples.cols() >= least,
          std::string(name) + ": expected at least " + std::to_string(least) + " samples of dimension " +
              std::to_string(mixture.dimension()) + ", got " + std::to_string(samples.rows()) + " x " +
              std::to_string(samples.cols()));
  require(samples.allFinite(), std::string(name) + ": a sample is not finite");
}

struct Moments {
  Vector mean;
  Matrix covariance;
};

/// Counts, sums and sums of squares of batches, about the mean of all samples so that the
/// covariance does not cancel. One column per batch.
class BatchSums {
 public:
  explicit BatchSums(ConstMatrixRef samples) : center_(samples.rowwise().mean()) {
    const Index n = samples.cols();
    const Index dimension = samples.rows();
    const Index batches = std::clamp<Index>(n / 2, 2, kMaxComparedBatches);
    sums_.resize(1 + dimension + dimension * dimension, batches);
    for (Index b = 0; b < batches; ++b) {
      const Index first = b * n / batches;
      const Index count = (b + 1) * n / batches - first;
      const Matrix centred = samples.middleCols(first, count).colwise() - center_;
      sums_(0, b) = static_cast<double>(count);
      sums_.col(b).segment(1, dimension) = centred.rowwise().sum();
      const Matrix squares = centred * centred.transpose();
      sums_.col(b).tail(dimension * dimension) = squares.reshaped();
    }
  }

  [[nodiscard]] Index batch_count() const { return sums_.cols(); }

  /// Moments when batch b occurs multiplicity_b times.
  [[nodiscard]] Moments moments(ConstVectorRef multiplicity) const {
    const Index dimension = center_.size();
    const Vector total = sums_ * multiplicity;
    const Vector shift = total.segment(1, dimension) / total(0);
    const Matrix squares = total.tail(dimension * dimension).reshaped(dimension, dimension) / total(0);
    return {center_ + shift, squares - shift * shift.transpose()};
  }

 private:
  Vector center_;
  Matrix sums_;
};

double gelbrich(const Moments& a, const Moments& b) {
  return std::sqrt(positive_part(gelbrich_squared(a.mean, a.covariance, b.mean, b.covariance)));
}

/// d(p*, p^) for kResamples bootstrap samples, increasing. Resampling B batches has
/// (B-1)/B of the variance of sampling them anew, which the factor makes up for.
std::vector<double> resampled_distances(const BatchSums& sums, const Moments& all, Generator& generator) {
  const auto batches = static_cast<double>(sums.batch_count());
  const double correction = std::sqrt(batches / (batches - 1.0));
  std::vector<double> distances;
  for (Index r = 0; r < kResamples; ++r) {
    Vector multiplicity = Vector::Zero(sums.batch_count());
    for (Index b = 0; b < sums.batch_count(); ++b) {
      multiplicity(static_cast<Index>(uniform(generator) * batches)) += 1.0;
    }
    distances.push_back(correction * gelbrich(sums.moments(multiplicity), all));
  }
  std::sort(distances.begin(), distances.end());
  return distances;
}

}  // namespace

EmpiricalDistance empirical_distance(ConstMatrixRef samples, const GaussianMixture& mixture,
                                     std::uint64_t seed, std::uint64_t index) {
  require_samples(samples, mixture, 1, "empirical_distance");
  const Matrix drawn = sample_mixture(mixture, samples.cols(), seed, Stream::Mixture, index);
  const Matrix again = sample_mixture(mixture, samples.cols(), seed, Stream::Floor, index);
  return {empirical_wasserstein2(samples, drawn), empirical_wasserstein2(drawn, again)};
}

GelbrichLowerBound gelbrich_lower_bound(ConstMatrixRef samples, const GaussianMixture& mixture,
                                        std::uint64_t seed, std::uint64_t index, double confidence) {
  require_samples(samples, mixture, 2, "gelbrich_lower_bound");
  require(confidence > 0.0 && confidence < 1.0,
          "gelbrich_lower_bound: expected 0 < confidence < 1, got " + std::to_string(confidence));
  const BatchSums sums(samples);
  const Moments all = sums.moments(Vector::Ones(sums.batch_count()));
  Generator generator = make_generator(seed, Stream::Bootstrap, index);
  const std::vector<double> distances = resampled_distances(sums, all, generator);
  const double rank = std::ceil(confidence * static_cast<double>(kResamples));
  GelbrichLowerBound result;
  result.confidence = confidence;
  result.plug_in = gelbrich(all, {mixture.mean(), mixture.covariance()});
  result.bias = distances[static_cast<std::size_t>(std::clamp<double>(rank, 1.0, kResamples)) - 1];
  result.lower = positive_part(result.plug_in - result.bias);
  return result;
}

}  // namespace mixcert

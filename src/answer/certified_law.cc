// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A mixture with its bounds, and what it says about one direction.
#include "mixcert/answer/certified_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "answer/dual_bounds.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

double checked(const char* name, double bound) {
  if (std::isnan(bound)) return std::numeric_limits<double>::infinity();
  if (bound < 0.0)
    throw InvalidArgument(std::string(name) + ": expected a bound of a distance, got " +
                          std::to_string(bound));
  return bound;
}

// Variances below this have lost digits, or will when they are multiplied by a probability (R.9).
constexpr double kSmallestVariance = 1e-290;

GaussianMixture checked(GaussianMixture mixture) {
  for (Index i = 0; i < mixture.size(); ++i) {
    const Vector variances = mixture.component(i).covariance.variances();
    const bool lost = ((variances.array() > 0.0) && (variances.array() < kSmallestVariance)).any();
    if (!lost) continue;
    throw InvalidArgument("mixture: component " + std::to_string(i) +
                          " has a variance below 1e-290, too small for double precision; measure outputs in "
                          "smaller units");
  }
  return mixture;
}

}  // namespace

CertifiedLaw::CertifiedLaw(GaussianMixture mixture, double w2, double w1,
                           std::shared_ptr<const OutputDistribution> distribution)
    : mixture_(checked(std::move(mixture))),
      w2_(checked("w2", w2)),
      w1_(std::min(checked("w1", w1), w2_)),
      distribution_(std::move(distribution)) {
  require(distribution_ == nullptr || mixture_.dimension() == 1,
          "distribution: expected a law of one output, got " + std::to_string(mixture_.dimension()));
}

CertifiedLaw::CertifiedLaw(const Result& result)
    : CertifiedLaw(result.mixture, result.w2.value, result.w1.value, result.distribution) {}

// Projection (U.8). Computed means and deviations differ from those of direction'y under the stored mixture;
// the difference is a distance between two laws and is added to the bounds, so that everything after this
// file may take the line's numbers as exact.

namespace {

// More than underflow can hide in a sum.
constexpr double kUnderflow = 1e-300;

std::vector<Index> nonzero_entries(ConstVectorRef direction) {
  std::vector<Index> entries;
  for (Index i = 0; i < direction.size(); ++i) {
    if (direction(i) != 0.0) entries.push_back(i);
  }
  return entries;
}

/// sum_jk a_j a_k B_jk over the blocks plus |F'a|^2.
double quadratic_form(const Covariance& covariance, ConstVectorRef a, const std::vector<Index>& entries) {
  const Index b = covariance.block_size();
  double form = 0.0;
  Vector shared = Vector::Zero(covariance.rank());
  for (std::size_t first = 0; first < entries.size(); ++first) {
    const Index j = entries[first];
    double row = 0.5 * a(j) * covariance.stacked_blocks()(j, j % b);
    for (std::size_t next = first + 1; next < entries.size() && entries[next] / b == j / b; ++next) {
      row += a(entries[next]) * covariance.stacked_blocks()(j, entries[next] % b);
    }
    form += 2.0 * a(j) * row;
    if (covariance.rank() > 0) shared += a(j) * covariance.factor().row(j).transpose();
  }
  return form + shared.squaredNorm();
}

/// sum_j |a_j| sd(y_j): squared, no less than the sum of what the form adds up in absolute value.
double spread(const Covariance& covariance, ConstVectorRef a, const std::vector<Index>& entries) {
  double sum = 0.0;
  for (const Index j : entries) {
    double variance = positive_part(covariance.stacked_blocks()(j, j % covariance.block_size()));
    if (covariance.rank() > 0) variance += covariance.factor().row(j).squaredNorm();
    sum += std::abs(a(j)) * std::sqrt(variance);
  }
  return sum;
}

struct LineComponent {
  double mean = 0.0;
  double deviation = 0.0;
  double error = 0.0;
};

LineComponent project_component(const Gaussian& gaussian, ConstVectorRef a,
                                const std::vector<Index>& entries) {
  LineComponent line;
  double mean_terms = 0.0;
  double square = 0.0;
  for (const Index j : entries) {
    line.mean += a(j) * gaussian.mean(j);
    mean_terms += std::abs(a(j) * gaussian.mean(j));
    square += a(j) * a(j);
  }
  const auto count = static_cast<Index>(entries.size());
  const double gamma = rounding_gamma(8 * (count + gaussian.covariance.rank()) + 64);
  line.deviation = std::sqrt(positive_part(quadratic_form(gaussian.covariance, a, entries)));
  const double size = spread(gaussian.covariance, a, entries);
  // One output as it stands: nothing is multiplied, so nothing can be lost below the smallest number.
  const bool plain = count == 1 && std::abs(a(entries[0])) == 1.0;
  const double lost = plain && gaussian.covariance.rank() == 0 ? 0.0 : kUnderflow;
  const double variance_error =
      gamma * size * size + 2.0 * square * negative_part(gaussian.covariance) + lost;
  // |s - s~| (s + s~) <= variance_error.
  const double by_root = std::sqrt(variance_error);
  const double deviation_error =
      line.deviation > by_root ? variance_error / line.deviation + gamma * line.deviation : by_root;
  const double mean_error = plain ? 0.0 : gamma * mean_terms + kUnderflow;
  line.error = (mean_error + deviation_error) * (1.0 + rounding_gamma(16));
  return line;
}

double checked_bound(const char* name, double bound) {
  if (std::isnan(bound)) return std::numeric_limits<double>::infinity();
  require(bound >= 0.0, std::string(name) + ": expected a bound of a distance, got " + std::to_string(bound));
  return bound;
}

/// next_up, but zero stays.
double raised(double sum) { return sum == 0.0 ? 0.0 : next_up(sum); }

/// `scale`: of the one output, where there is one alone.
CertifiedLine certified(const CertifiedLaw& law, Projection projection, double norm, double scale) {
  const auto stretched = [&](double bound) { return raised(raised(norm * bound) + projection.error); };
  const double w2 = stretched(law.w2());
  const double w1 = stretched(law.w1());
  return {std::move(projection.line), w2, w1, law.distribution(), scale};
}

}  // namespace

double negative_part(const Covariance& covariance) {
  const Index b = covariance.block_size();
  if (b == 1) return 0.0;
  double largest = 0.0;
  for (Index i = 0; i < covariance.block_count(); ++i) {
    largest = larger_or_nan(largest, covariance.block(i).trace());
  }
  return rounding_gamma(4 * b + 32) * largest;
}

Projection project(const GaussianMixture& mixture, ConstVectorRef direction) {
  require(direction.size() == mixture.dimension(), "project: expected a direction with " +
                                                       std::to_string(mixture.dimension()) +
                                                       " entries, got " + std::to_string(direction.size()));
  require(direction.allFinite(), "project: expected a direction with finite entries");
  const std::vector<Index> entries = nonzero_entries(direction);
  require(!entries.empty(), "project: expected a direction that is not zero");
  Vector means(mixture.size());
  Vector deviations(mixture.size());
  double error = 0.0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const LineComponent line = project_component(mixture.component(i), direction, entries);
    means(i) = line.mean;
    deviations(i) = line.deviation;
    if (mixture.weights()(i) > 0.0) error = larger_or_nan(error, line.error);
  }
  return {LineMixture(mixture.weights(), std::move(means), std::move(deviations)), raised(error)};
}

CertifiedLine::CertifiedLine(LineMixture mixture, double w2, double w1)
    : CertifiedLine(std::move(mixture), w2, w1, nullptr, 1.0) {}

CertifiedLine::CertifiedLine(LineMixture mixture, double w2, double w1,
                             std::shared_ptr<const OutputDistribution> distribution, double scale)
    : mixture_(std::move(mixture)),
      w2_(checked_bound("w2", w2)),
      w1_(std::min(checked_bound("w1", w1), w2_)),
      distribution_(std::move(distribution)),
      scale_(scale) {}

CertifiedLine CertifiedLine::with_noise(double deviation) const {
  if (deviation == 0.0) return *this;
  LineMixture noisy = mixture_.with_noise(deviation);
  // hypot is accurate to a few units (R.1).
  const double error = 2.0 * kElementaryFunctionError * noisy.deviations().maxCoeff();
  return {std::move(noisy), raised(w2_ + error), raised(w1_ + error)};
}

CertifiedLine project(const CertifiedLaw& law, ConstVectorRef direction) {
  Projection projection = project(law.mixture(), direction);
  const double norm = direction.stableNorm() * (1.0 + rounding_gamma(2 * direction.size() + 16));
  return certified(law, std::move(projection), next_up(norm), direction(0));
}

CertifiedLine coordinate(const CertifiedLaw& law, Index index) {
  require(
      index >= 0 && index < law.dimension(),
      "coordinate: expected 0.." + std::to_string(law.dimension() - 1) + ", got " + std::to_string(index));
  return certified(law, project(law.mixture(), Vector::Unit(law.dimension(), index)), 1.0, 1.0);
}

}  // namespace mixcert

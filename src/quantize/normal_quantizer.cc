// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Optimal quantizers of N(0,1) by Newton's method on the stationarity equations
//     r_i = E[Z - c_i; cell i] = 0,
// whose Jacobian is tridiagonal: docs/theory/quantizers.md (Q.1). By symmetry only the
// positive half is solved for.
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <numbers>
#include <string>
#include <utility>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "quantize/signature.h"

namespace mixcert {
namespace {

constexpr int kMaxNewtonSteps = 200;
// Gaps to the cell means below this are rounding once Newton no longer reduces them.
constexpr double kRoundingGap = 1e-13;

/// Positive locations of an N-point quantizer, increasing. The first cell starts at zero
/// when N is even, half way to the fixed location zero when it is odd.
class HalfQuantizer {
 public:
  explicit HalfQuantizer(Index size) : odd_(size % 2 == 1), locations_(size / 2) {
    // Optimal locations have limiting density phi^{1/3}, that is N(0, 3).
    const Index first = (size + 1) / 2;
    for (Index i = 0; i < locations_.size(); ++i) {
      const double p = (2.0 * static_cast<double>(first + i) + 1.0) / (2.0 * static_cast<double>(size));
      locations_(i) = std::sqrt(3.0) * normal_quantile(p);
    }
  }

  /// Newton's method as long as it brings every location closer to the mean of its cell, which
  /// far from the solution it need not: the outermost one can run away to where its equation
  /// holds because nothing is left there. Such steps are replaced by Lloyd's, which are safe.
  const Vector& solve() {
    if (locations_.size() == 0) return locations_;
    Vector gaps = centroid_gaps();
    for (int step = 0; step < kMaxNewtonSteps; ++step) {
      const Vector start = locations_;
      const Vector change = newton_step();
      locations_ += damping(change) * change;
      Vector next_gaps = centroid_gaps();
      if (!(largest(next_gaps) < largest(gaps))) {
        if (largest(gaps) <= kRoundingGap) {
          locations_ = start;
          break;
        }
        locations_ = start + gaps;
        next_gaps = centroid_gaps();
      }
      gaps = std::move(next_gaps);
    }
    return locations_;
  }

 private:
  static double largest(const Vector& x) { return x.cwiseAbs().maxCoeff<Eigen::PropagateNaN>(); }

  /// E[Z | cell] - location for every cell.
  [[nodiscard]] Vector centroid_gaps() const {
    Vector gaps(locations_.size());
    for (Index i = 0; i < gaps.size(); ++i) {
      const double low = lower_end(i);
      const double high = upper_end(i);
      gaps(i) = normal_mean_about(locations_(i), low, high) / normal_mass(low, high);
    }
    return gaps;
  }

  [[nodiscard]] double lower_end(Index i) const {
    if (i > 0) return 0.5 * (locations_(i - 1) + locations_(i));
    return odd_ ? 0.5 * locations_(0) : 0.0;
  }
  [[nodiscard]] double upper_end(Index i) const {
    return i + 1 < locations_.size() ? 0.5 * (locations_(i) + locations_(i + 1)) : INFINITY;
  }

  /// Solves J change = -r with the Thomas algorithm; -J is diagonally dominant.
  [[nodiscard]] Vector newton_step() const {
    const Index n = locations_.size();
    Vector upper(n);
    Vector change(n);
    double previous_upper = 0.0;
    double previous_change = 0.0;
    for (Index i = 0; i < n; ++i) {
      const double low = lower_end(i);
      const double high = upper_end(i);
      const double c = locations_(i);
      // d r_i / d (an end that moves by half of each neighbour).
      const double from_low = 0.5 * (c - low) * normal_density(low);
      const double from_high = std::isinf(high) ? 0.0 : 0.5 * (high - c) * normal_density(high);
      const double low_share = i > 0 || odd_ ? from_low : 0.0;
      const double coupling = i > 0 ? from_low : 0.0;
      const double diagonal = -normal_mass(low, high) + from_high + low_share;
      const double pivot = diagonal - coupling * previous_upper;
      upper(i) = from_high / pivot;
      change(i) = (-normal_mean_about(c, low, high) - coupling * previous_change) / pivot;
      previous_upper = upper(i);
      previous_change = change(i);
    }
    for (Index i = n - 2; i >= 0; --i) change(i) -= upper(i) * change(i + 1);
    return change;
  }

  /// Largest step in (0, 1] that keeps the locations increasing and positive.
  [[nodiscard]] double damping(const Vector& change) const {
    double factor = 1.0;
    double previous = 0.0;
    double previous_change = 0.0;
    for (Index i = 0; i < locations_.size(); ++i) {
      const double gap = locations_(i) - previous;
      const double shrink = previous_change - change(i);
      if (shrink * factor > 0.9 * gap) factor = 0.9 * gap / shrink;
      previous = locations_(i);
      previous_change = change(i);
    }
    return factor;
  }

  bool odd_;
  Vector locations_;
};

Vector mirror(const Vector& positive, Index size) {
  Vector locations = Vector::Zero(size);
  const Index half = size / 2;
  for (Index i = 0; i < half; ++i) {
    locations(size - half + i) = positive(i);
    locations(half - 1 - i) = -positive(i);
  }
  return locations;
}

/// Cells, probabilities and errors of given symmetric locations, (Q.2) and (Q.4).
NormalQuantizer from_locations(Vector locations) {
  const Index n = locations.size();
  NormalQuantizer q;
  q.boundaries.resize(n + 1);
  q.boundaries(0) = -INFINITY;
  q.boundaries(n) = INFINITY;
  for (Index i = 1; i < n; ++i) q.boundaries(i) = 0.5 * (locations(i - 1) + locations(i));
  q.probabilities.resize(n);
  for (Index i = 0; i < n; ++i) {
    const double low = q.boundaries(i);
    const double high = q.boundaries(i + 1);
    const double mass = normal_mass(low, high);
    const UpperBound square = normal_square_about(locations(i), low, high);
    q.probabilities(i) = mass;
    q.distortion = q.distortion + square;
    const double c = locations(i);
    const double distance = normal_mean_about(c, c, high) - normal_mean_about(c, low, c);
    q.mean_distance = q.mean_distance + UpperBound::within(distance, 1e-14 * (1.0 + std::abs(c)) * mass);
  }
  q.probabilities /= q.probabilities.sum();
  q.locations = std::move(locations);
  return q;
}

void check_size(Index size) {
  require(size >= 1 && size <= kMaxQuantizerSize, "normal quantizer: size must be in 1.." +
                                                      std::to_string(kMaxQuantizerSize) + ", got " +
                                                      std::to_string(size));
}

/// One quantizer per size, made on first use.
class QuantizerCache {
 public:
  template <class Make>
  const NormalQuantizer& get(Index size, const Make& make) {
    check_size(size);
    const std::scoped_lock lock(mutex_);
    auto& slot = by_size_[size];
    if (!slot) slot = std::make_unique<NormalQuantizer>(make(size));
    return *slot;
  }

 private:
  std::mutex mutex_;
  std::map<Index, std::unique_ptr<NormalQuantizer>> by_size_;
};

NormalQuantizer make_optimal(Index size) {
  HalfQuantizer half(size);
  return from_locations(mirror(half.solve(), size));
}

NormalQuantizer make_uniform(Index size) {
  const double n = static_cast<double>(size);
  const double half_spacing = 2.0 * std::sqrt(std::log(n)) / n;
  Vector locations(size);
  for (Index i = 0; i < size; ++i) {
    locations(i) = half_spacing * static_cast<double>(2 * (i + 1) - size - 1);
  }
  return from_locations(std::move(locations));
}

}  // namespace

const NormalQuantizer& optimal_quantizer(Index size) {
  static QuantizerCache cache;
  return cache.get(size, make_optimal);
}

const NormalQuantizer& uniform_quantizer(Index size) {
  static QuantizerCache cache;
  return cache.get(size, make_uniform);
}

double uniform_quantizer_rate(Index size) {
  check_size(size);
  if (size == 1) return 1.0;
  const double n = static_cast<double>(size);
  const double root = std::sqrt(std::log(n));
  const double remainder = 4.0 / (n * n * std::sqrt(2.0 * std::numbers::pi)) * (root + 0.25 / root);
  return 4.0 * root * root / (n * n) + remainder;
}

}  // namespace mixcert

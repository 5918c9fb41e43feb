// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A mixture fitted to a distribution function F: Levenberg and Marquardt's method for
//     sum over nodes of (F_q - F)^2 / f,
// to first order W2^2 on the line (Y.5). It is a choice: no bound rests on how good it is, so that the normal
// distribution function is a polynomial here. Expectation and maximisation would need hundreds of steps for
// the same distance, and minimises another.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "theorems/output_law/line_mixture.h"

namespace mixcert {
namespace {

using Column = Eigen::ArrayXd;

// Nodes are this far apart, and reach as far.
constexpr double kSpacing = 0.1875;
constexpr double kReach = 5.5;
// Weights 1 / density are those of this density at least: farther out errors are those of probabilities.
constexpr double kLeastDensity = 3e-4;
constexpr double kLargestStep = 0.7;
constexpr double kSmallestDeviation = 0.2;
// Numbers of components that are tried.
constexpr Index kCounts[] = {2, 3, 5, 8, 12, 16};
// A fit that is this much closer is worth more components.
constexpr double kWorthMore = 1.05;

/// Phi to seven digits (Abramowitz and Stegun, 26.2.17), from the density.
Column rough_cdf(const Column& x, const Column& density) {
  const Column t = (1.0 + 0.2316419 * x.abs()).inverse();
  const Column tail =
      density * t *
      (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (x < 0.0).select(tail, 1.0 - tail);
}

/// Logarithms of weights, means, logarithms of deviations.
class Fit {
 public:
  Fit(const FitTarget& target, Index count)
      : nodes_(FitTarget::nodes()),
        values_(target.values),
        roots_((kSpacing / target.density.max(kLeastDensity)).sqrt()),
        count_(count),
        at_(3 * count) {
    const double k = static_cast<double>(count);
    double squares = 0.0;
    for (Index i = 0; i < count; ++i) {
      const double mean = 0.75 * quantile((static_cast<double>(i) + 0.5) / k);
      at_(i) = 0.0;
      at_(count + i) = mean;
      squares += mean * mean / k;
    }
    at_.tail(count).setConstant(0.5 * std::log(std::max(kSmallestDeviation, 1.0 - squares)));
    cost_ = evaluate(at_, residuals_, jacobian_);
  }

  [[nodiscard]] double cost() const { return std::sqrt(cost_); }

  void improve(const FitEffort& effort) {
    double damping = 1e-2;
    for (int step = 0; step < effort.steps; ++step) {
      Matrix normal = jacobian_.transpose() * jacobian_;
      const Vector gradient = jacobian_.transpose() * residuals_;
      const double ridge = 1e-9 * normal.trace();
      for (Index i = 0; i < normal.rows(); ++i) normal(i, i) += damping * normal(i, i) + ridge;
      Vector move = normal.llt().solve(-gradient);
      if (!move.allFinite()) return;
      move = move.cwiseMax(-kLargestStep).cwiseMin(kLargestStep);
      Vector residuals;
      Matrix jacobian;
      const Vector next = at_ + move;
      const double cost = evaluate(next, residuals, jacobian);
      if (!(cost < cost_)) {
        damping *= 8.0;
        continue;
      }
      const bool is_done = cost > (1.0 - effort.little) * cost_;
      at_ = next;
      residuals_.swap(residuals);
      jacobian_.swap(jacobian);
      cost_ = cost;
      damping = std::max(0.15 * damping, 1e-8);
      if (is_done) return;
    }
  }

  /// With mean zero and variance one.
  [[nodiscard]] UnitMixture mixture() const {
    const Column weights = normalised(at_);
    Column means = at_.segment(count_, count_).array(), deviations = at_.tail(count_).array().exp();
    means -= (weights * means).sum();
    const double scale = 1.0 / std::sqrt((weights * (means.square() + deviations.square())).sum());
    UnitMixture mixture;
    for (Index i = 0; i < count_; ++i) {
      mixture.weights.push_back(weights(i));
      mixture.means.push_back(scale * means(i));
      mixture.deviations.push_back(scale * deviations(i));
    }
    return mixture;
  }

 private:
  [[nodiscard]] double quantile(double p) const {
    Index i = 0;
    while (i + 1 < nodes_.size() && values_(i) < p) ++i;
    return nodes_(i);
  }

  [[nodiscard]] Column normalised(const Vector& at) const {
    const Column weights = at.head(count_).array().exp();
    return weights / weights.sum();
  }

  double evaluate(const Vector& at, Vector& residuals, Matrix& jacobian) const {
    const Column weights = normalised(at);
    jacobian.resize(nodes_.size(), 3 * count_);
    Column sum = Column::Zero(nodes_.size());
    for (Index i = 0; i < count_; ++i) {
      const double inverse = std::exp(-at(2 * count_ + i));
      const Column x = (nodes_ - at(count_ + i)) * inverse;
      const Column density = 0.3989422804014327 * (-0.5 * x.square()).exp();
      const Column values = weights(i) * rough_cdf(x, density);
      sum += values;
      jacobian.col(i) = values;
      jacobian.col(count_ + i) = -weights(i) * inverse * density;
      jacobian.col(2 * count_ + i) = -weights(i) * density * x;
    }
    // A weight takes from all others.
    for (Index i = 0; i < count_; ++i) jacobian.col(i).array() -= weights(i) * sum;
    jacobian.array().colwise() *= roots_;
    residuals = ((sum - values_) * roots_).matrix();
    return residuals.squaredNorm();
  }

  Column nodes_, values_, roots_;  ///< F, and (spacing / density)^{1/2}
  Index count_;
  Vector at_, residuals_;
  Matrix jacobian_;
  double cost_ = 0.0;
};

}  // namespace

Eigen::ArrayXd FitTarget::nodes() {
  const auto half = static_cast<Index>(kReach / kSpacing);
  return kSpacing * Column::LinSpaced(2 * half + 1, static_cast<double>(-half), static_cast<double>(half));
}

FitTarget fit_target(const DistributionCurve& curve) {
  const LineGrid& grid = *curve.upper.grid;
  const auto stride = static_cast<std::size_t>(std::llround(kSpacing / grid.cell));
  const auto half = static_cast<Index>(kReach / kSpacing);
  FitTarget target{Column(2 * half + 1), Column(2 * half + 1)};
  for (Index i = -half; i <= half; ++i) {
    const auto at = static_cast<std::size_t>(std::abs(i)) * stride;
    const DistributionSide& side = i < 0 ? curve.lower : curve.upper;
    const double tail = grid.tail[at] + side.value[at];
    target.values(i + half) = i < 0 ? tail : 1.0 - tail;
    target.density(i + half) = grid.density[at] + side.slope[at];
  }
  return target;
}

MixtureFit fit_mixture(const FitTarget& target, Index count, const FitEffort& effort) {
  Fit fit(target, count);
  fit.improve(effort);
  return {fit.mixture(), fit.cost()};
}

UnitMixture best_fit(const FitTarget& target, Index most, double wanted) {
  std::vector<MixtureFit> fits;
  for (const Index count : kCounts) {
    if (count > std::max<Index>(most, kCounts[0])) break;
    fits.push_back(fit_mixture(target, count, kQuickFit));
    if (fits.back().distance < 0.8 * wanted) break;
  }
  double least = INFINITY;
  for (const MixtureFit& fit : fits) least = std::min(least, fit.distance);
  const auto chosen = std::find_if(fits.begin(), fits.end(),
                                   [&](const MixtureFit& fit) { return fit.distance <= kWorthMore * least; });
  return (chosen == fits.end() ? fits.front() : *chosen).mixture;
}

}  // namespace mixcert

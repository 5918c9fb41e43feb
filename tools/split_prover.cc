// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// W2^2 = 2 int_0^inf (S(y) - y)^2 f(y) dy with S = Phi^{-1} o F increasing, F and f the distribution
// function and density of the mixture: docs/theory/splitting.md (P.2). Nodes are taken in y, where F
// is a sum, so that only the normal law has to be inverted, and that only approximately: brackets
// of S are verified afterwards. On a cell |S - y| is bounded by its values at both ends and by
// S' = f/phi(S); bounds from monotonicity alone would cost the width of a cell.
#include "split_prover.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert::tools {
namespace {

// Relative error of computed tails and densities, normal or mixture, the weights' sum included (P.2b).
constexpr double kEvaluationError = 4e-12;
// Beyond what underflow can hide in a sum of tails or densities.
constexpr double kUnderflow = 1e-290;
// Cells end where the mixture's tail falls below this; the rest is (P.2e).
constexpr double kLastTail = 1e-24;
// Above every quantile met, and low enough for its tail to be a normal number.
constexpr double kLargestQuantile = 20.0;
// Relative rounding of the final sum of at most 4.1e6 nonnegative terms (P.2f).
constexpr double kSumError = 1e-9;

struct Range {
  double low = 0.0;
  double high = 0.0;
};

Range widen(double value) {
  return {std::max(0.0, value * (1.0 - kEvaluationError) - kUnderflow),
          value * (1.0 + kEvaluationError) + kUnderflow};
}

/// One node: the component densities, and a bracket of S.
struct Node {
  double y = 0.0;
  Vector densities;  ///< weights_i phi((y - centers_i)/width)/width, as computed
  Range quantile;    ///< contains S(y)

  /// Bound of |S(y) - y|.
  [[nodiscard]] double distance() const { return std::max(quantile.high - y, y - quantile.low); }
};

class Prover {
 public:
  explicit Prover(const SplitRule& rule) : rule_(rule) {}

  double bound(int cells_per_width) const {
    const double step = rule_.width / cells_per_width;
    Node left = make_node(0.0, 0.0);
    left.quantile = {0.0, 0.0};  // S(0) = 0 by symmetry
    double sum = 0.0;
    for (Index k = 1; mixture_tail(left.y) > kLastTail; ++k) {
      Node right = make_node(static_cast<double>(k) * step, left.quantile.high);
      sum += cell_bound(left, right);
      left = std::move(right);
    }
    sum += tail_bound(left);
    return next_up(std::sqrt(2.0 * sum * (1.0 + kSumError)));
  }

 private:
  [[nodiscard]] double mixture_tail(double y) const {
    double sum = 0.0;
    for (Index i = 0; i < rule_.size(); ++i) {
      sum += rule_.weights(i) * normal_tail((y - rule_.centers(i)) / rule_.width);
    }
    return sum;
  }

  [[nodiscard]] Node make_node(double y, double start) const {
    Node node;
    node.y = y;
    node.densities.resize(rule_.size());
    for (Index i = 0; i < rule_.size(); ++i) {
      const double t = (y - rule_.centers(i)) / rule_.width;
      node.densities(i) = rule_.weights(i) * normal_density(t) / rule_.width;
    }
    node.quantile = bracket_quantile(mixture_tail(y), start);
    return node;
  }

  /// (P.2c): the solution x of P(Z > x) = tail, by Newton's method on the logarithms from a nearby
  /// start, then bracketed by comparison of tails with their errors.
  [[nodiscard]] static Range bracket_quantile(double tail, double start) {
    double x = start;
    for (int step = 0; step < 4; ++step) {
      const double here = normal_tail(x);
      x = std::clamp(x + std::log(here / tail) * here / normal_density(x), 0.0, kLargestQuantile);
    }
    const Range wanted = widen(tail);
    for (double radius = 2e-11;; radius *= 2.0) {
      const Range bracket{x - radius, x + radius};
      if (widen(normal_tail(bracket.low)).low >= wanted.high &&
          widen(normal_tail(bracket.high)).high <= wanted.low) {
        return {std::max(0.0, bracket.low), bracket.high};
      }
    }
  }

  /// Range of f over a cell: each component is monotone on either side of its center.
  [[nodiscard]] Range density_range(const Node& left, const Node& right) const {
    double least = 0.0;
    double largest = 0.0;
    for (Index i = 0; i < rule_.size(); ++i) {
      const double c = rule_.centers(i);
      least += std::min(left.densities(i), right.densities(i));
      largest += left.y <= c && c <= right.y ? rule_.weights(i) * normal_density(0.0) / rule_.width
                                             : std::max(left.densities(i), right.densities(i));
    }
    return {widen(least).low, widen(largest).high};
  }

  /// (P.2d): bound of int (S - y)^2 f over one cell.
  [[nodiscard]] double cell_bound(const Node& left, const Node& right) const {
    const Range density = density_range(left, right);
    const double slope_low = density.low / widen(normal_density(left.quantile.low)).high;
    const double slope_high = density.high / widen(normal_density(right.quantile.high)).low;
    const double lipschitz = std::max(slope_high - 1.0, 1.0 - slope_low);
    const double cell = right.y - left.y;
    const double distance = 0.5 * (left.distance() + right.distance() + lipschitz * cell);
    return cell * density.high * distance * distance;
  }

  /// (P.2e): (S - y)^2 <= S^2 + y^2 for the rest, both integrals in closed form; twice their sum
  /// covers the errors of (P.2b).
  [[nodiscard]] double tail_bound(const Node& last) const {
    const double x = last.quantile.low;
    double sum = x * normal_density(x) + normal_tail(x);
    for (Index i = 0; i < rule_.size(); ++i) {
      const double c = rule_.centers(i);
      const double h = rule_.width;
      const double t = (last.y - c) / h;
      const double square = (c * c + h * h) * normal_tail(t) + h * (c + last.y) * normal_density(t);
      sum += rule_.weights(i) * square;
    }
    return 2.0 * sum + kUnderflow;
  }

  const SplitRule& rule_;
};

/// (P.2a): what the error constants above were derived for.
void check(const SplitRule& rule, int cells_per_width) {
  require(rule.centers.size() == rule.size(), "split rule: as many centers as weights");
  const bool symmetric = rule.centers == -rule.centers.reverse() && rule.weights == rule.weights.reverse();
  require(symmetric, "split rule: must be symmetric about zero");
  require(rule.size() >= 1 && rule.size() <= 64, "split rule: size must be in 1..64");
  require(rule.width >= 0.01 && rule.width <= 1.0, "split rule: width must be in 0.01..1");
  require(rule.centers.cwiseAbs().maxCoeff() <= 10.0, "split rule: centers must be in -10..10");
  require(rule.weights.minCoeff() >= 1e-12, "split rule: weights must be at least 1e-12");
  require(std::abs(rule.weights.sum() - 1.0) <= 1e-14, "split rule: weights must sum to one");
  require(cells_per_width >= 1 && cells_per_width <= 4000, "split rule: cells per width must be in 1..4000");
}

}  // namespace

double prove_split_error(const SplitRule& rule, int cells_per_width) {
  check(rule, cells_per_width);
  return Prover(rule).bound(cells_per_width);
}

}  // namespace mixcert::tools

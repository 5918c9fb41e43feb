// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Least squares: W2^2 = int (x - T(x))^2 phi(x) dx, T = F^{-1} o Phi, on fixed nodes x by the
// trapezoidal rule, so the residuals are x - T(x) and, differentiating P(Y > T(x)) = P(Z > x),
// dT/dtheta = (dP(Y > y)/dtheta)/f(y) at y = T(x). Unknowns are the logarithms of the gaps between
// nonnegative centers and those of the weights, so that order and positivity need no constraint.
#include "split_optimizer.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/normal.h"
#include "quantize/signature.h"

namespace mixcert::tools {
namespace {

constexpr double kLastNode = 8.5;
constexpr double kWidestSpacing = 0.02;  // of nodes; a sixteenth of the width where that is less
constexpr int kMaxSteps = 300;
constexpr double kMaxDamping = 1e10;
constexpr double kEnoughProgress = 1e-7;  // relative decrease of the squared error per step

/// The nonnegative half of a symmetric rule. Pair i stands for -centers_i and centers_i with
/// weights_i each; the pair at zero, if the size is odd, for one component only.
struct HalfRule {
  bool odd = false;
  double width = 1.0;
  Vector centers;
  Vector weights;

  [[nodiscard]] Index pairs() const { return centers.size(); }
  [[nodiscard]] bool single(Index i) const { return odd && i == 0; }
  [[nodiscard]] double copies(Index i) const { return single(i) ? 1.0 : 2.0; }
};

/// At one point y: what every pair adds to tail and density, and their derivatives by the center.
struct Evaluation {
  Vector tails, center_slopes;
  double tail = 0.0;
  double density = 0.0;

  Evaluation(const HalfRule& rule, double y) : tails(rule.pairs()), center_slopes(rule.pairs()) {
    for (Index i = 0; i < rule.pairs(); ++i) {
      const double right = (y - rule.centers(i)) / rule.width;
      const double left = (y + rule.centers(i)) / rule.width;
      const double near = normal_density(right) / rule.width;
      const double far = rule.single(i) ? 0.0 : normal_density(left) / rule.width;
      tails(i) = normal_tail(right) + (rule.single(i) ? 0.0 : normal_tail(left));
      center_slopes(i) = rule.single(i) ? 0.0 : rule.weights(i) * (near - far);
      tail += rule.weights(i) * tails(i);
      density += rule.weights(i) * (near + far);
    }
  }
};

/// y = T(x) between `low` and `high`: Newton on the logarithm of the tail, bisection where it leaves.
double transport(const HalfRule& rule, double x, double guess, double low, double high) {
  const double wanted = normal_tail(x);
  double y = std::clamp(guess, low, high);
  for (int step = 0; step < 60 && high - low > 1e-14; ++step) {
    const Evaluation here(rule, y);
    (here.tail > wanted ? low : high) = y;
    const double newton = y + std::log(here.tail / wanted) * here.tail / here.density;
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    if (std::abs(next - y) < 1e-13) return next;
    y = next;
  }
  return y;
}

struct LeastSquares {
  Vector residuals;
  Matrix jacobian;  // by log gaps, then by log weights
  [[nodiscard]] double cost() const { return residuals.squaredNorm(); }
};

LeastSquares evaluate(const HalfRule& rule) {
  const Index n = rule.pairs();
  const double spacing = std::min(kWidestSpacing, rule.width / 16.0);
  const auto nodes = static_cast<Index>(kLastNode / spacing);
  LeastSquares result{Vector(nodes), Matrix(nodes, 2 * n)};
  double y = 0.0;
  double slope = 1.0;
  for (Index k = 0; k < nodes; ++k) {
    const double x = (static_cast<double>(k) + 0.5) * spacing;
    // P(Y > y) <= P(Z > (y - c)/h) for the largest center c bounds T from above.
    y = transport(rule, x, y + spacing * slope, y, rule.centers(n - 1) + rule.width * x);
    const Evaluation here(rule, y);
    slope = normal_density(x) / here.density;
    const double scale = std::sqrt(2.0 * spacing * normal_density(x));
    result.residuals(k) = scale * (y - x);
    double later = 0.0;
    for (Index i = n - 1; i >= 0; --i) {
      later += here.center_slopes(i);
      const double gap = i > 0 ? rule.centers(i) - rule.centers(i - 1) : rule.centers(0);
      const double by_weight = rule.weights(i) * (here.tails(i) - rule.copies(i) * here.tail);
      result.jacobian(k, i) = scale * gap * later / here.density;
      result.jacobian(k, n + i) = scale * by_weight / here.density;
    }
  }
  return result;
}

void normalize(HalfRule& rule) {
  double sum = 0.0;
  for (Index i = 0; i < rule.pairs(); ++i) sum += rule.copies(i) * rule.weights(i);
  rule.weights /= sum;
}

HalfRule moved(const HalfRule& rule, const Vector& change) {
  HalfRule result = rule;
  const Index n = rule.pairs();
  double before = 0.0;
  double center = 0.0;
  for (Index i = 0; i < n; ++i) {
    center += (rule.centers(i) - before) * std::exp(std::clamp(change(i), -2.0, 2.0));
    before = rule.centers(i);
    result.centers(i) = center;
    result.weights(i) = rule.weights(i) * std::exp(std::clamp(change(n + i), -2.0, 2.0));
  }
  normalize(result);
  return result;
}

/// Levenberg-Marquardt with relative damping; the common factor of the weights and the gap of a
/// center at zero change nothing, so a small absolute damping keeps the equations regular.
std::pair<HalfRule, double> minimize(HalfRule rule) {
  LeastSquares state = evaluate(rule);
  double damping = 1e-3;
  for (int step = 0; step < kMaxSteps && damping < kMaxDamping; ++step) {
    const Matrix normal = state.jacobian.transpose() * state.jacobian;
    const Vector gradient = state.jacobian.transpose() * state.residuals;
    const double floor = 1e-12 * normal.diagonal().maxCoeff();
    Matrix damped = normal;
    damped.diagonal() += damping * normal.diagonal() + Vector::Constant(normal.rows(), floor);
    const HalfRule trial = moved(rule, damped.ldlt().solve(-gradient));
    LeastSquares trial_state = evaluate(trial);
    if (!(trial_state.cost() < state.cost())) {
      damping *= 4.0;
      continue;
    }
    const double progress = 1.0 - trial_state.cost() / state.cost();
    rule = trial;
    state = std::move(trial_state);
    damping = std::max(1e-12, damping / 3.0);
    if (progress < kEnoughProgress) break;
  }
  return {rule, std::sqrt(state.cost())};
}

HalfRule half_of(const Vector& centers, const Vector& weights, double width) {
  const Index half = (centers.size() + 1) / 2;
  HalfRule rule{centers.size() % 2 == 1, width, centers.tail(half), weights.tail(half)};
  if (rule.odd) rule.centers(0) = 0.0;
  normalize(rule);
  return rule;
}

HalfRule contracted_quantizer(Index size, double width) {
  const NormalQuantizer& q = optimal_quantizer(size);
  const double spread = q.probabilities.dot(q.locations.cwiseAbs2());
  return half_of(q.locations * std::sqrt((1.0 - width * width) / spread), q.probabilities, width);
}

SplitRule mirrored(const HalfRule& half, double error) {
  const Index size = 2 * half.pairs() - (half.odd ? 1 : 0);
  SplitRule rule{Vector(size), Vector(size), half.width, error};
  rule.centers.head(half.pairs()) = -half.centers.reverse();
  rule.weights.head(half.pairs()) = half.weights.reverse();
  rule.centers.tail(half.pairs()) = half.centers;
  rule.weights.tail(half.pairs()) = half.weights;
  return rule;
}

}  // namespace

SplitRule optimize_split(Index size, double width, const SplitRule& start) {
  auto [best, error] = minimize(contracted_quantizer(size, width));
  if (start.size() == size) {
    auto [other, other_error] = minimize(half_of(start.centers, start.weights, width));
    if (other_error < error) return mirrored(other, other_error);
  }
  return mirrored(best, error);
}

}  // namespace mixcert::tools

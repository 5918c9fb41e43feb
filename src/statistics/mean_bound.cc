// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Statistical bounds, docs/theory/statistics.md: of a mean from above (C.4), of W2 from below (C.6).
#include "statistics/mean_bound.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <variant>

#include "activation/quadrature_rules.h"
#include "certificate/replaced_weights.h"
#include "core/normal.h"
#include "methods/moment/moment_error.h"
#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "network/graph/layer_graph.h"

namespace mixcert {

// Upper confidence bounds of means (C.4). Bounds that hold for every sample size (median of means, Catoni)
// need a proven bound of the variance, which nothing here gives.

namespace {

constexpr Index kMaxBatches = 100;
// Of the square of one normal variable: squared distances are rarely less skewed, and few samples may
// not show it.
const double kLeastSkewness = std::sqrt(8.0);

Vector batch_means(ConstVectorRef values) {
  const Index n = values.size();
  const Index batches = std::clamp<Index>(n / 2, 2, kMaxBatches);
  Vector means(batches);
  for (Index b = 0; b < batches; ++b) {
    const Index first = b * n / batches;
    means(b) = values.segment(first, (b + 1) * n / batches - first).mean();
  }
  return means;
}

/// skewness / sqrt(n), the skewness not below that of the square of a normal.
double skewness_of_mean(ConstVectorRef values, double mean) {
  const Vector centred = values.array() - mean;
  const double variance = centred.squaredNorm() / static_cast<double>(values.size());
  const double third = centred.array().cube().mean();
  const double skewness = variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0;
  return std::max(skewness, kLeastSkewness) / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

double student_quantile_bound(double tail, Index freedom) {
  require(tail > 0.0 && tail < 1.0,
          "student_quantile_bound: expected 0 < tail < 1, got " + std::to_string(tail));
  require(freedom >= 1, "student_quantile_bound: expected freedom >= 1, got " + std::to_string(freedom));
  if (tail >= 0.5) return 0.0;
  const double normal = -normal_quantile(tail);
  const auto degrees = static_cast<double>(freedom);
  return std::sqrt(degrees * std::expm1(normal * normal / (degrees - 0.5)));
}

MeanBound mean_upper_bound(ConstVectorRef values, double failure_probability) {
  require(values.size() >= 2,
          "mean_upper_bound: expected at least 2 values, got " + std::to_string(values.size()));
  require(values.allFinite(), "mean_upper_bound: a value is not finite");
  const Vector means = batch_means(values);
  MeanBound bound;
  bound.batches = means.size();
  bound.mean = values.mean();
  const double batches = static_cast<double>(means.size());
  const double square = (means.array() - means.mean()).square().sum() / (batches - 1.0);
  bound.standard_error = std::sqrt(square / batches);
  const double quantile = student_quantile_bound(failure_probability, bound.batches - 1);
  const double skew = skewness_of_mean(values, bound.mean);
  // Hall's transformation; beyond skew * quantile = 3 its cube root grows slower than the plain bound.
  const double corrected = 3.0 / skew * (1.0 - std::cbrt(1.0 - skew * (quantile + skew / 6.0)));
  bound.upper = bound.mean + bound.standard_error * larger_or_nan(quantile, corrected);
  return bound;
}

// Third cumulants of the output of one hidden layer, and the dual bound that they give: docs/theory,
// statistics.md (C.6).

namespace {

/// Directions of largest variance that the potential looks at: the cost grows with the cube.
constexpr Index kMostDirections = 20;
/// Of q, what may lie outside the ball.
constexpr double kOutside = 1e-8;
constexpr Index kBlock = 256;

/// P(chi^2_r > x), by P_{r+2} = P_r + (x/2)^{r/2} e^{-x/2} / Gamma(r/2 + 1).
double chi_square_tail(Index r, double x) {
  double tail = r % 2 == 0 ? 0.0 : std::erfc(std::sqrt(0.5 * x));
  // log Gamma(k/2 + 1), by its recursion: std::lgamma writes a variable that threads share.
  double log_gamma = r % 2 == 0 ? 0.0 : 0.5 * std::log(std::numbers::pi) - std::numbers::ln2;
  for (Index k = r % 2; k < r; k += 2) {
    const double half = 0.5 * static_cast<double>(k);
    tail += std::exp(half * std::log(0.5 * x) - 0.5 * x - log_gamma);
    log_gamma += std::log(half + 1.0);
  }
  return tail;
}

/// Of the ball: the smaller, the less the potential bends in it.
double ball_radius(Index r) {
  double radius = std::sqrt(static_cast<double>(r));
  while (chi_square_tail(r, radius * radius) > kOutside) radius += 1.0 / 64.0;
  return radius;
}

bool applies(const Network& network, const GaussianMixture& mixture) {
  // What is known of a graph without writing it out; shared weights correlate outputs.
  if (const LayerGraph* graph = network.graph();
      graph != nullptr &&
      (graph->nonlinear_count() > 1 || graph->has_shared_noise() || !graph->has_canonical_form()))
    return false;
  if (network.hidden_count() != 1 || network.has_masks() || mixture.size() != 1) return false;
  for (Index k = 0; k < 2; ++k) {
    if (!network.layer(k).has_independent_outputs() || !network.layer(k).is_gaussian()) return false;
  }
  return true;
}

/// Directions in which q is not singular, those of largest variance first.
struct Directions {
  Vector variances;
  Matrix basis;  // columns

  [[nodiscard]] Matrix standardised(const Matrix& points) const {
    return variances.cwiseSqrt().cwiseInverse().asDiagonal() * (basis.transpose() * points);
  }
};

Directions directions_of(const Gaussian& q) {
  const SymmetricEigen eigen = symmetric_eigen(q.covariance.to_dense());
  const Vector values = eigen.values.reverse();
  Index kept = 0;
  while (kept < std::min(values.size(), kMostDirections) && values(kept) > 1e-8 * values(0)) ++kept;
  return {values.head(kept), eigen.vectors.rowwise().reverse().leftCols(kept)};
}

/// Of one activation a = f(m + s x).
struct ActivationMoments {
  double mean = 0.0;
  double variance = 0.0;
  double cube = 0.0;         ///< E (a - E a)^3
  double with_square = 0.0;  ///< Cov(a, a^2)
};

ActivationMoments activation_moments(const Activation& activation, double m, double s) {
  if (!(s > 0.0)) return {activation(m), 0.0, 0.0, 0.0};
  WeightedNodes rule;
  place_graded_panels(std::clamp(-m / s, -kCut, kCut), std::clamp(0.5 / s, 1e-6, 0.5), kCut, rule);
  Eigen::ArrayXd values = rule.nodes;
  for (double& value : values) value = activation(m + s * value);
  const double mean = (rule.weights * values).sum();
  const Eigen::ArrayXd d = values - mean;
  const double variance = (rule.weights * d.square()).sum();
  const double cube = (rule.weights * d.cube()).sum();
  return {mean, variance, cube, cube + 2.0 * mean * variance};
}

/// Of the network's output in the directions, less q's mean.
struct OutputMoments {
  Vector mean;
  Matrix covariance;
  Matrix cumulants;  ///< third, r x r^2
};

/// (C.6): third cumulants are the sum over neurons of E d^3 p p p + Cov(a, a^2) (p U + its two transposes), p
/// and U being the neuron's mean weights and weight variances in the directions.
OutputMoments output_moments(const Network& network, ConstVectorRef input, const Vector& center,
                             const Directions& directions) {
  const Matrix points = network.activation(0).apply(network.features(input).values);
  const DenseLayer::Pushed hidden = network.layer(0).push(points, 1);
  const Vector deviations = hidden.covariances.front().variances().cwiseSqrt();
  const DenseLayer& last = network.layer(1);
  const Matrix* noise = independent_variances(last.weights());
  const Matrix weights = directions.standardised(last.weight_mean());
  const Matrix axes = directions.standardised(Matrix::Identity(last.outputs(), last.outputs()));
  const Index r = weights.rows();
  OutputMoments output{directions.standardised(last.bias_mean() - center),
                       axes * last.bias_variances().asDiagonal() * axes.transpose(), Matrix::Zero(r, r * r)};
  for (Index j = 0; j < last.inputs(); ++j) {
    const ActivationMoments moments =
        activation_moments(network.activation(1).at(j), hidden.means(j, 0), deviations(j));
    const Vector p = weights.col(j);
    Matrix u = Matrix::Zero(r, r);
    if (noise != nullptr) u = axes * noise->col(j).asDiagonal() * axes.transpose();
    output.mean += moments.mean * p;
    output.covariance += moments.variance * p * p.transpose();
    output.covariance += (moments.variance + moments.mean * moments.mean) * u;
    u *= moments.with_square;
    for (Index c = 0; c < r; ++c) {
      output.cumulants.middleCols(r * c, r) += (moments.cube * p(c) * p) * p.transpose() + p(c) * u +
                                               p * u.col(c).transpose() + u.col(c) * p.transpose();
    }
  }
  return output;
}

/// phi - 2 psi at samples: phi is the infimum over the ball, at most 2 sup |psi|.
Vector differences(const CubicPotential& potential, const Matrix& z) {
  Vector result(z.cols());
  for (Index first = 0; first < z.cols(); first += kBlock) {
    const Index count = std::min(kBlock, z.cols() - first);
    const Matrix block = z.middleCols(first, count);
    const Vector infima = potential.infima(block);
    const double limit = 2.0 * potential.largest();
    const Vector phi =
        infima.unaryExpr([&](double x) { return std::isnan(x) ? -limit : std::min(x, limit); });
    result.segment(first, count) = phi - 2.0 * potential.values(block);
  }
  return result;
}

}  // namespace

std::optional<DualLowerBound> dual_lower_bound(const Network& network, ConstVectorRef input,
                                               const GaussianMixture& mixture, ConstMatrixRef samples,
                                               double confidence) {
  if (!applies(network, mixture)) return std::nullopt;
  const Gaussian& q = mixture.component(0);
  const Directions directions = directions_of(q);
  const Index r = directions.variances.size();
  if (r == 0) return std::nullopt;
  const OutputMoments output = output_moments(network, input, q.mean, directions);
  const CubicPotential potential(directions.variances, output.cumulants, ball_radius(r));
  const Vector values = differences(potential, directions.standardised(samples.colwise() - q.mean));
  const double sampled = -mean_upper_bound(-values, 1.0 - confidence).upper;
  const double beyond = 2.0 * potential.largest() * kOutside;
  const double expected = 2.0 * potential.expectation(output.cumulants, output.mean, output.covariance);
  const double third = potential.expectation(output.cumulants, Vector::Zero(r), Matrix::Identity(r, r));
  return DualLowerBound{std::sqrt(positive_part(expected + sampled - beyond)),
                        std::sqrt(third / potential.scale()), confidence};
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Local errors of surrogates, docs/theory/moment-method.md. Signal: the mean weights' image of a - b, with
// the signs of the first two Hermite terms (H.1). Noise: the weights' variance depends on the activations;
// its root is compared with a constant (H.2).
#include "methods/moment/moment_error.h"

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"
#include "certificate/replaced_weights.h"
#include "core/elementary.h"
#include "mixcert/core/rounding.h"

namespace mixcert {

namespace {

// Covers the last few roundings of a bound that is itself a sum of positive terms.
constexpr double kFormSafety = 1.0 + 1e-12;

/// No less than the square roots of the diagonal of the noise's second moment.
Vector noise_roots(const NormTerm& norm) {
  return (1.0 + 1e-12) * positive_part(norm.noise_gram.diagonal()).cwiseSqrt();
}

}  // namespace

double root_deviation(double variance, double mean_low, double mean_high, double least) {
  if (!(mean_low > 0.0)) return 2.0 * mean_high;
  const double by_difference = variance / square(std::sqrt(mean_low) + std::sqrt(least));
  const double w = variance / square(mean_low);
  const double root = std::sqrt(1.0 + w);
  const double by_hoelder = 2.0 * mean_high * w / (root * (1.0 + root));
  // w overflows for tiny means; then 2 E S is what is left of the second bound.
  return std::min(by_difference, std::isfinite(by_hoelder) ? by_hoelder : 2.0 * mean_high);
}

Matrix correlation_of(const Covariance& covariance) {
  const Vector scale =
      covariance.variances().cwiseSqrt().unaryExpr([](double s) { return s > 0.0 ? 1.0 / s : 0.0; });
  const bool dense = covariance.block_count() == 1 && covariance.rank() == 0;
  Matrix correlation;
  if (!dense) correlation = covariance.to_dense();
  const Matrix& entries = dense ? covariance.stacked_blocks() : correlation;
  correlation.resize(entries.rows(), entries.cols());
  for (Index j = 0; j < entries.cols(); ++j) {
    correlation.col(j) = (entries.col(j).array() * scale.array() * scale(j)).unaryExpr([](double r) {
      return std::clamp(r, -1.0, 1.0);  // keeps NaN, as Eigen's min and max need not
    });
  }
  return correlation;
}

double covariance_slack(const DenseLayer& next, const NormTerm& norm) {
  const double outputs = static_cast<double>(next.outputs());
  // A dense Q is at most `outputs` times its diagonal.
  const double dense = norm.diagonal ? 1.0 : std::sqrt(outputs);
  return dense * std::sqrt(3.0 * outputs * rounding_gamma(covariance_operations(next) + 64));
}

double covariance_rounding(const DenseLayer& layer) {
  return static_cast<double>(layer.outputs()) *
         std::sqrt(3.0 * rounding_gamma(covariance_operations(layer) + 64));
}

PieceError::PieceError(const DenseLayer& next, const Gaussian& piece, const SurrogateLaw& law, NoiseRule rule)
    : next_(next),
      law_(law),
      independent_(piece.covariance.is_diagonal()),
      size_(std::sqrt((law.second + law.second_error).sum()) + law.error.sum()),
      pushed_(next, size_, 1) {
  if (!independent_) {
    correlation_ = correlation_of(piece.covariance);
    correlation_error_ =
        4.0 * static_cast<double>(piece.dimension()) * rounding_gamma(piece.covariance.rank() + 16);
  }
  compute_noise(next, rule);
  if (!next.has_independent_outputs() && !has_roots_) compute_scalar_noises(next, piece);
  if (!next.is_gaussian()) replaced_ = replaced_weight_errors(next, law.second + law.second_error, 1);
}

Vector PieceError::hermite_squares(const Vector& first_order) const {
  return first_order.array().square() + law_.quadratic.array().square() + law_.rest.array().square();
}

double PieceError::hermite_column(const Matrix& gram, const Vector& first_order, Index j) const {
  const auto p = first_order.array();
  const auto q = law_.quadratic.array();
  const auto t = law_.rest.array();
  const auto r = correlation_.col(j).array();
  const auto b = gram.col(j).array();
  return (b * r * (p * p(j) + q * q(j) * r) + b.abs() * r.abs().cube() * (t * t(j))).sum();
}

UpperBound PieceError::hermite_form(const Matrix& gram, const Vector& roots, const Vector& first_order,
                                    Index operations) const {
  const Index n = first_order.size();
  if (independent_) {
    const Vector squares = hermite_squares(first_order);
    const double sum = gram.diagonal().dot(squares);
    const double majorant = roots.cwiseAbs2().dot(squares);
    return {sum, next_up(sum + rounding_gamma(2 * n + operations + 32) * kFormSafety * majorant)};
  }
  double sum = 0.0;
  for (Index j = 0; j < n; ++j) sum += hermite_column(gram, first_order, j);
  // Entries of r are at most 1, those of B and its majorant at most the product of the roots: (H.5).
  const auto sizes = first_order.array().abs() + law_.quadratic.array().abs() + law_.rest.array();
  const double majorant = square((roots.array() * sizes).sum());
  const double relative =
      3.0 * correlation_error_ + rounding_gamma(operations + 16) + rounding_gamma(4 * n + 32);
  return {positive_part(sum), positive_part(next_up(sum + relative * kFormSafety * majorant))};
}

UpperBound PieceError::correlated_noise(const NormTerm& norm) const {
  if (norm.noise_gram.size() == 0 || has_roots_) return {};
  const Index columns = factor_count(next_.weights());
  const Index operations = 8 * (next_.inputs() + next_.outputs()) + 2 * columns * (next_.outputs() + 1) + 64;
  // c_1, not c_1 - gain: the weights meet the activation's whole deviation from its mean. Once for the
  // network's noise, once for the Gaussian's.
  UpperBound carried = hermite_form(norm.noise_gram, noise_roots(norm), law_.linear + law_.gain, operations);
  if (law_.is_masked()) {
    carried = carried + masked_form(norm.noise_gram, noise_roots(norm), law_.mask_variance, operations);
  }
  return carried + carried;
}

/// sum_j B_jj c_j: what masks add, independent over neurons and of mean zero given the activations (D.3).
UpperBound PieceError::masked_form(const Matrix& gram, const Vector& roots, const Vector& costs,
                                   Index operations) {
  const double sum = gram.diagonal().dot(costs);
  const double majorant = roots.cwiseAbs2().dot(costs);
  return {positive_part(sum), positive_part(next_up(sum + rounding_gamma(2 * costs.size() + operations + 32) *
                                                              kFormSafety * majorant))};
}

void PieceError::compute_noise(const DenseLayer& next, NoiseRule rule) {
  const Index outputs = next.outputs();
  noise_ = Vector::Zero(outputs);
  noise_slack_ = Vector::Zero(outputs);
  const Matrix* variances = independent_variances(next.weights());
  if (variances == nullptr) return;
  // Biases that depend on each other are noise of their own, the same on both sides (H.8).
  has_roots_ = !next.has_independent_outputs();
  const Matrix& v = *variances;
  const Index n = v.cols();
  Matrix columns(n, 4);
  columns << law_.second, law_.second_error,
      law_.square_slope.cwiseAbs() + law_.square_slope_error + law_.square_rest, law_.square_slope_error;
  const Matrix sums = v * columns;
  const double relative = 2.0 * rounding_gamma(3 * n + 32) + (independent_ ? 0.0 : 2.0 * correlation_error_);
  Vector variance = Vector::Zero(outputs);
  // By columns, which lie together in memory, as entries of a row do not.
  visit_variance(v, [&variance](const auto& part) {
    for (Index j = 0; j < part.cols(); ++j) variance += part.col(j);
  });
  for (Index l = 0; l < outputs; ++l) {
    const double least = has_roots_ ? 0.0 : next.bias_variances()(l);
    const double mean = least + sums(l, 0);
    const double mean_error = next_up(sums(l, 1) + relative * mean) * kFormSafety;
    const double upper =
        positive_part(variance(l) + relative * square(sums(l, 2)) + 2.0 * sums(l, 3) * sums(l, 2)) *
        kFormSafety;
    const double mean_low = std::max(least, mean - mean_error), mean_high = mean + mean_error;
    noise_(l) = root_deviation(upper, mean_low, mean_high, least) * kFormSafety;
    if (rule == NoiseRule::Convex && mean_low > 0.0) {
      noise_(l) =
          std::min(noise_(l), mean_high * convex_root_deviation(upper / square(mean_low) * kFormSafety));
    }
    noise_slack_(l) =
        mean_error < mean ? kFormSafety * mean_error / std::sqrt(mean) : kFormSafety * std::sqrt(mean_error);
  }
}

double PieceError::variance_bound(double variance, const Vector& weights) const {
  const double sizes = weights.dot(law_.square_slope.cwiseAbs() + law_.square_slope_error + law_.square_rest);
  const double relative = 2.0 * rounding_gamma(3 * weights.size() + 32) + 2.0 * correlation_error_;
  return kFormSafety * positive_part(variance + relative * square(sizes) +
                                     2.0 * weights.dot(law_.square_slope_error) * sizes);
}

UpperBound PieceError::signal_square(const NormTerm& norm) const {
  return hermite_form(norm.gram, norm.gram_roots, law_.linear, 4 * norm.metric.size());
}

UpperBound PieceError::mean_square(const NormTerm& norm) const {
  const UpperBound sum = signal_square(norm) + correlated_noise(norm) +
                         UpperBound::of_sum(norm.metric.dot(noise_), 2 * norm.metric.size() + 8);
  if (!law_.is_masked()) return sum;
  return sum + masked_form(norm.gram, norm.gram_roots, law_.mask_cost, 4 * norm.metric.size());
}

UpperBound PieceError::replaced_weights(const NormTerm& norm) const {
  if (replaced_.size() == 0) return {};
  return UpperBound::of_sum(norm.metric.dot(replaced_), 2 * norm.metric.size() + 8);
}

double PieceError::size_in(const NormTerm& norm) const {
  const Vector second = law_.second + law_.second_error;
  const Vector noise = next_.bias_variances() + second.sum() * next_.row_variances();
  return (norm.gram_roots.dot(positive_part(second).cwiseSqrt()) + std::sqrt(norm.metric.dot(noise))) *
         (1.0 + 1e-9);
}

double PieceError::slack(const NormTerm& norm) const {
  const auto roots = norm.gram_roots.array();
  double moments = (roots * law_.error.array()).sum();
  const double noise = std::sqrt(norm.metric.dot(noise_slack_.cwiseAbs2()));
  // Rounded means and variances of the pushed Gaussian (R.4), and its covariance: (H.5).
  const double pushed = pushed_.in(norm.metric);
  const Eigen::ArrayXd gains =
      law_.is_masked() ? (law_.gain.array().square() + law_.mask_gain.array().square()).sqrt().eval()
                       : law_.gain.array().abs().eval();
  double spread = independent_ ? (roots * gains).matrix().norm() : (roots * gains).sum();
  if (norm.noise_gram.size() > 0) {
    moments += noise_roots(norm).dot(law_.error);
    const Vector sizes = size_ * size_ * next_.row_variances() + next_.bias_variances();
    spread += std::sqrt(2.0 * norm.metric.dot(sizes));
  }
  const double dense = norm.diagonal ? 1.0 : std::sqrt(static_cast<double>(next_.outputs()));
  return (moments + noise + dense * pushed + covariance_slack(next_, norm) * spread) * (1.0 + 1e-9);
}

// 2 (1 - (1 - v/2)^{1/4}), (Y.27). Without convexity the root may be near zero too often for a number close
// to v/4: (H.2).

namespace {

bool has_convex_size(const Activation& f) {
  const Smooth* smooth = f.traits().smooth();
  // No function with several kinks, or with a kink and a curved side, has it.
  return smooth != nullptr ? smooth->has_convex_size.get() : f.traits().linear() != nullptr;
}

}  // namespace

bool has_convex_sizes(const ActivationMap& activation, Index neurons) {
  for (Index j = 0; j < neurons; ++j) {
    if (!has_convex_size(activation.at(j))) return false;
  }
  return true;
}

double convex_root_deviation(double variance) {
  const double square = 1.0 - 0.5 * variance;
  // E (r - 1)^2 = 2 - 2 E r is never more than 2. Written so that NaN gives no better bound.
  if (!(square > 0.0)) return 2.0;
  const double root = std::sqrt(square), fourth = std::sqrt(root);
  // 1 - s = (1 - s^4)/((1 + s)(1 + s^2)): no cancellation.
  return enlarged(variance / ((1.0 + fourth) * (1.0 + root)));
}

}  // namespace mixcert

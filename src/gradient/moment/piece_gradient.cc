// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md: the local error of one piece (Z.8), (Z.9), and the Hermite form in it (Z.7).
#include <cmath>
#include <utility>

#include "core/elementary.h"
#include "gradient/moment/moment_gradient.h"
#include "methods/moment/moment_error.h"

namespace mixcert {

// The Hermite form (Z.7).

namespace {

HermiteFormGradient independent_form(const Matrix& gram, const Vector& p, const Vector& q, const Vector& t) {
  const Vector squares = p.cwiseAbs2() + q.cwiseAbs2() + t.cwiseAbs2();
  const Vector weights = 2.0 * gram.diagonal();
  return {gram.diagonal().dot(squares), Matrix(squares.asDiagonal()), {},
          weights.cwiseProduct(p),      weights.cwiseProduct(q),      weights.cwiseProduct(t)};
}

}  // namespace

HermiteFormGradient hermite_form_gradient(const Matrix& gram, const Matrix& correlation, const Vector& linear,
                                          const Vector& quadratic, const Vector& rest) {
  if (correlation.size() == 0) return independent_form(gram, linear, quadratic, rest);
  const Index n = linear.size();
  HermiteFormGradient result{0.0, Matrix(n, n), Matrix(n, n), Vector(n), Vector(n), Vector(n)};
  for (Index j = 0; j < n; ++j) {
    const Eigen::ArrayXd r = correlation.col(j);
    const Eigen::ArrayXd b = gram.col(j);
    const Eigen::ArrayXd cubes = r.abs().cube();
    const Eigen::ArrayXd pp = linear.array() * linear(j);
    const Eigen::ArrayXd qq = quadratic.array() * quadratic(j);
    const Eigen::ArrayXd tt = rest.array() * rest(j);
    result.gram.col(j) = r * (pp + qq * r) + b.sign() * cubes * tt;
    result.correlation.col(j) = b * (pp + 2.0 * qq * r) + 3.0 * b.abs() * r * r.abs() * tt;
    result.linear(j) = 2.0 * (b * r * linear.array()).sum();
    result.quadratic(j) = 2.0 * (b * r.square() * quadratic.array()).sum();
    result.rest(j) = 2.0 * (b.abs() * cubes * rest.array()).sum();
    result.value += (b * result.gram.col(j).array()).sum();
  }
  result.correlation.diagonal().setZero();
  return result;
}

void add_correlation_gradient(const Matrix& correlation, const Matrix& correlation_bar, const Vector& s,
                              Matrix& covariance, Vector& deviations) {
  for (Index j = 0; j < s.size(); ++j) {
    for (Index i = 0; i < s.size(); ++i) {
      const double r = correlation(i, j);
      if (i == j || !(s(i) > 0.0) || !(s(j) > 0.0) || std::abs(r) >= 1.0) continue;
      covariance(i, j) += correlation_bar(i, j) / (s(i) * s(j));
      // Entries (i, j) and (j, i) both fall with s_i.
      deviations(i) -= 2.0 * correlation_bar(i, j) * r / s(i);
    }
  }
}

// The local error (Z.8), (Z.9).

namespace {

/// Derivatives in correlations; nothing is kept where coordinates are independent.
void add_to(Matrix& correlation_bar, double weight, const Matrix& more) {
  if (correlation_bar.size() > 0) correlation_bar += weight * more;
}

/// The signal's part of one norm and, as far as it depends on the same things, the covariance's slack.
void add_signal(const LocalError& local, const Matrix& correlation, const NormTerm& norm, double weight,
                double slack_weight, SurrogateGradient& surrogate, Matrix& correlation_bar,
                NormGradient& norm_bar) {
  const SurrogateLaw& law = local.law;
  const HermiteFormGradient form =
      hermite_form_gradient(norm.gram, correlation, law.linear, law.quadratic, law.rest);
  surrogate.linear += weight * form.linear;
  surrogate.quadratic += weight * form.quadratic;
  surrogate.rest += weight * form.rest;
  add_to(correlation_bar, weight, form.correlation);
  norm_bar.gram = weight * form.gram;
  // Spread: sum_j roots_j |gain_j|, or the root of the sum of squares.
  const Vector gains = law.gain.cwiseAbs();
  Vector direction = Vector::Constant(gains.size(), slack_weight);
  if (correlation.size() == 0) {
    const Vector parts = norm.gram_roots.cwiseProduct(gains);
    const double spread = parts.norm();
    direction = spread > 0.0 ? Vector(slack_weight / spread * parts) : Vector::Zero(gains.size());
  }
  norm_bar.gram_roots = direction.cwiseProduct(gains);
  surrogate.gain += direction.cwiseProduct(norm.gram_roots).cwiseProduct(law.gain.cwiseSign());
}

/// Derivatives in S's mean and variance, taken to the law, the weights' variances and the correlations.
class NoiseGradient {
 public:
  NoiseGradient(const LocalError& local, const Matrix& correlation)
      : local_(local), correlation_(correlation), v_(*independent_variances(local.next.weights())) {
    linear_ = v_ * local.law.square_slope.asDiagonal();
    rest_ = v_ * local.law.square_rest.asDiagonal();
    linear_image_ = correlation.size() == 0 ? linear_ : Matrix(linear_ * correlation);
    rest_image_ = correlation.size() == 0 ? rest_ : Matrix(rest_ * correlation.cwiseAbs2());
  }

  void add(const Vector& noise_bar, SurrogateGradient& surrogate, Matrix& correlation_bar,
           LayerGradient& layer) const {
    const Vector& beta = local_.next.bias_variances();
    const Vector mean = beta + v_ * local_.law.second;
    const Vector variance =
        linear_image_.cwiseProduct(linear_).rowwise().sum() + rest_image_.cwiseProduct(rest_).rowwise().sum();
    Vector mean_bar(mean.size());
    Vector variance_bar(mean.size());
    Vector least_bar(mean.size());
    for (Index l = 0; l < mean.size(); ++l) {
      const RootDeviationGradient d = root_deviation_gradient(variance(l), mean(l), beta(l));
      mean_bar(l) = noise_bar(l) * d.mean;
      variance_bar(l) = noise_bar(l) * d.variance;
      least_bar(l) = noise_bar(l) * (d.least + d.mean);
    }
    add_bias_variance(local_.next, least_bar, layer);
    surrogate.second += v_.transpose() * mean_bar;
    layer.weight_variance += mean_bar * local_.law.second.transpose();
    add_variance(variance_bar, surrogate, correlation_bar, layer);
  }

 private:
  void add_variance(const Vector& variance_bar, SurrogateGradient& surrogate, Matrix& correlation_bar,
                    LayerGradient& layer) const {
    const Matrix linear_bar = 2.0 * (variance_bar.asDiagonal() * linear_image_);
    const Matrix rest_bar = 2.0 * (variance_bar.asDiagonal() * rest_image_);
    layer.weight_variance +=
        linear_bar * local_.law.square_slope.asDiagonal() + rest_bar * local_.law.square_rest.asDiagonal();
    surrogate.square_slope += linear_bar.cwiseProduct(v_).colwise().sum().transpose();
    surrogate.square_rest += rest_bar.cwiseProduct(v_).colwise().sum().transpose();
    if (correlation_.size() == 0) return;
    const Matrix of_linear = linear_.transpose() * variance_bar.asDiagonal() * linear_;
    const Matrix of_rest = rest_.transpose() * variance_bar.asDiagonal() * rest_;
    correlation_bar += of_linear + 2.0 * of_rest.cwiseProduct(correlation_);
  }

  const LocalError& local_;
  const Matrix& correlation_;
  const Matrix& v_;
  Matrix linear_, rest_;              ///< V diag(square_slope), V diag(square_rest)
  Matrix linear_image_, rest_image_;  ///< times r, times r o r
};

}  // namespace

PieceGradient PieceGradient::zero(const Gaussian& piece) {
  const Index n = piece.dimension();
  return {Vector::Zero(n), Vector::Zero(n),
          piece.covariance.is_diagonal() ? Matrix() : Matrix::Zero(n, n).eval()};
}

Matrix PieceGradient::total_covariance(const Gaussian& piece) const {
  const Vector s = piece.covariance.variances().cwiseSqrt();
  const Vector variance =
      deviation.binaryExpr(s, [](double bar, double root) { return root > 0.0 ? 0.5 * bar / root : 0.0; });
  Matrix total = variance.asDiagonal();
  if (covariance.size() > 0) total += covariance;
  return total;
}

RootDeviationGradient root_deviation_gradient(double variance, double mean, double least) {
  if (!(mean > 0.0)) return {};
  const double roots = std::sqrt(mean) + std::sqrt(least);
  const double by_difference = variance / square(roots);
  const double w = variance / square(mean);
  const double root = std::sqrt(1.0 + w);
  const double of_mean = 2.0 * w / (root * (1.0 + root));
  if (!std::isfinite(of_mean)) return {0.0, 2.0, 0.0};
  if (by_difference <= mean * of_mean) {
    const double slope = -by_difference / roots;
    return {1.0 / square(roots), slope / std::sqrt(mean), least > 0.0 ? slope / std::sqrt(least) : 0.0};
  }
  const double cubed = root * root * root;
  return {1.0 / (mean * cubed), of_mean - 2.0 * w / cubed, 0.0};
}

std::vector<NormGradient> add_local_gradient(const LocalError& local, double weight, PieceGradient& piece,
                                             SurrogateGradient& surrogate, LayerGradient& layer) {
  const bool independent = local.piece.covariance.is_diagonal();
  const Matrix correlation = independent ? Matrix() : correlation_of(local.piece.covariance);
  Matrix correlation_bar = Matrix::Zero(correlation.rows(), correlation.cols());
  const PieceError error(local.next, local.piece, local.law);
  Vector noise_bar = Vector::Zero(local.next.outputs());
  std::vector<NormGradient> norms;
  for (const NormTerm& norm : local.error_norm.norms) {
    const double factor = weight * norm.factor;
    const double squared = error.mean_square(norm).nominal;
    const double of_square = squared > 0.0 ? 0.5 * factor / std::sqrt(squared) : 0.0;
    NormGradient bar;
    add_signal(local, correlation, norm, of_square, factor * covariance_slack(local.next, norm), surrogate,
               correlation_bar, bar);
    bar.metric = of_square * error.noise();
    noise_bar += of_square * norm.metric;
    norms.push_back(std::move(bar));
  }
  if (independent_variances(local.next.weights()) != nullptr) {
    NoiseGradient(local, correlation).add(noise_bar, surrogate, correlation_bar, layer);
  }
  if (!independent) {
    add_correlation_gradient(correlation, correlation_bar, local.piece.covariance.variances().cwiseSqrt(),
                             piece.covariance, piece.deviation);
  }
  return norms;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Moments, marginals, conditionals and density of Gaussian mixtures. Everything that
// forms an inverse works on dense submatrices of the requested coordinates.
#include "mixcert/mixture/gaussian_mixture.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr double kWeightTolerance = 1e-9;

double log_sum_exp(const Vector& x) {
  const double top = x.maxCoeff();
  if (!std::isfinite(top)) return top;
  return top + std::log((x.array() - top).exp().sum());
}

/// log N(x; mean, S) from a Cholesky factorisation of the correlations of S. Singular matrices
/// often factor by the grace of rounding; their condition number gives them away.
double gaussian_log_density(const Vector& deviation, const Matrix& covariance) {
  const std::string singular = "log density: a component's covariance is singular, so the law has none";
  const Index n = covariance.rows();
  const Vector scale = covariance.diagonal().cwiseSqrt();
  require(n == 0 || scale.minCoeff() > 0.0, singular);
  const Vector inverse = scale.cwiseInverse();
  const Eigen::LLT<Matrix> factor(inverse.asDiagonal() * covariance * inverse.asDiagonal());
  const double rounding = 4.0 * static_cast<double>(n) * rounding_gamma(n + 2);
  require(factor.info() == Eigen::Success && factor.rcond() > rounding, singular);
  const Vector whitened = factor.matrixL().solve(inverse.cwiseProduct(deviation));
  const double log_determinant =
      2.0 * (factor.matrixLLT().diagonal().array().log().sum() + scale.array().log().sum());
  return -0.5 * (whitened.squaredNorm() + log_determinant +
                 static_cast<double>(n) * std::log(2.0 * std::numbers::pi));
}

Vector select(ConstVectorRef from, const std::vector<Index>& indices) {
  Vector result(static_cast<Index>(indices.size()));
  for (std::size_t i = 0; i < indices.size(); ++i) result(static_cast<Index>(i)) = from(indices[i]);
  return result;
}

void check_indices(const std::vector<Index>& indices, Index dimension) {
  std::vector<bool> seen(static_cast<std::size_t>(dimension), false);
  for (const Index i : indices) {
    require(i >= 0 && i < dimension,
            "mixture: coordinate " + std::to_string(i) + " is outside 0.." + std::to_string(dimension - 1));
    require(!seen[static_cast<std::size_t>(i)],
            "mixture: coordinate " + std::to_string(i) + " is given twice");
    seen[static_cast<std::size_t>(i)] = true;
  }
}

std::vector<Index> complement(const std::vector<Index>& indices, Index dimension) {
  std::vector<bool> taken(static_cast<std::size_t>(dimension), false);
  for (const Index i : indices) taken[static_cast<std::size_t>(i)] = true;
  std::vector<Index> rest;
  for (Index i = 0; i < dimension; ++i) {
    if (!taken[static_cast<std::size_t>(i)]) rest.push_back(i);
  }
  return rest;
}

/// Covariance of coordinates `rows` with `given`, and what conditioning needs.
struct Split {
  Matrix given;  // covariance of the given coordinates
  Matrix cross;  // rest x given
  Matrix rest;
};

Split split(const Covariance& covariance, const std::vector<Index>& rest, const std::vector<Index>& given) {
  std::vector<Index> all = rest;
  all.insert(all.end(), given.begin(), given.end());
  const Matrix joint = covariance.submatrix(all);
  const auto r = static_cast<Index>(rest.size());
  const auto g = static_cast<Index>(given.size());
  return {joint.bottomRightCorner(g, g), joint.topRightCorner(r, g), joint.topLeftCorner(r, r)};
}

}  // namespace

GaussianMixture::GaussianMixture(Vector weights, std::vector<Gaussian> components)
    : weights_(std::move(weights)),
      components_(std::make_shared<const std::vector<Gaussian>>(std::move(components))) {
  require(weights_.size() == static_cast<Index>(components_->size()) && weights_.size() > 0,
          "GaussianMixture: needs one weight per component and at least one component");
  require(weights_.minCoeff() >= 0.0 && std::abs(weights_.sum() - 1.0) <= kWeightTolerance,
          "GaussianMixture: weights must be nonnegative and sum to one");
  for (const Gaussian& component : *components_) {
    require(component.dimension() == dimension() && component.covariance.dimension() == dimension(),
            "GaussianMixture: components differ in dimension");
  }
}

GaussianMixture::GaussianMixture(Gaussian gaussian)
    : GaussianMixture(Vector::Ones(1), std::vector<Gaussian>{std::move(gaussian)}) {}

const std::vector<Gaussian>& GaussianMixture::components() const {
  static const std::vector<Gaussian> none;
  return components_ ? *components_ : none;
}

Vector GaussianMixture::mean() const {
  Vector result = Vector::Zero(dimension());
  for (Index i = 0; i < size(); ++i) result += weights_(i) * component(i).mean;
  return result;
}

Matrix GaussianMixture::covariance() const {
  const Vector center = mean();
  Matrix result = Matrix::Zero(dimension(), dimension());
  for (Index i = 0; i < size(); ++i) {
    const Vector shift = component(i).mean - center;
    result += weights_(i) * (component(i).covariance.to_dense() + shift * shift.transpose());
  }
  return result;
}

Vector GaussianMixture::standard_deviation() const {
  const Vector center = mean();
  Vector variance = Vector::Zero(dimension());
  for (Index i = 0; i < size(); ++i) {
    const Vector shift = component(i).mean - center;
    variance += weights_(i) * (component(i).covariance.variances() + shift.cwiseAbs2());
  }
  return variance.cwiseSqrt();
}

double GaussianMixture::second_moment() const {
  double result = 0.0;
  for (Index i = 0; i < size(); ++i) {
    result += weights_(i) * (component(i).mean.squaredNorm() + component(i).covariance.trace());
  }
  return result;
}

GaussianMixture GaussianMixture::marginal(const std::vector<Index>& indices) const {
  check_indices(indices, dimension());
  std::vector<Gaussian> parts;
  for (const Gaussian& g : components()) {
    parts.push_back({select(g.mean, indices), Covariance::dense(g.covariance.submatrix(indices))});
  }
  return {weights_, std::move(parts)};
}

GaussianMixture GaussianMixture::permuted(const std::vector<Index>& order) const {
  require(static_cast<Index>(order.size()) == dimension(), "GaussianMixture::permuted: wrong length");
  return marginal(order);
}

GaussianMixture GaussianMixture::conditional(const std::vector<Index>& indices, ConstVectorRef values) const {
  check_indices(indices, dimension());
  require(values.size() == static_cast<Index>(indices.size()),
          "mixture conditional: one value per coordinate");
  if (indices.empty()) return *this;
  const std::vector<Index> rest = complement(indices, dimension());
  require(!rest.empty(), "mixture conditional: all coordinates are given, none is left");
  Vector log_weights(size());
  std::vector<Gaussian> parts;
  for (Index i = 0; i < size(); ++i) {
    const Split parts_of = split(component(i).covariance, rest, indices);
    const Vector deviation = values - select(component(i).mean, indices);
    log_weights(i) = std::log(weights_(i)) + gaussian_log_density(deviation, parts_of.given);
    const Matrix solved = parts_of.given.llt().solve(parts_of.cross.transpose());
    Matrix covariance = parts_of.rest - parts_of.cross * solved;
    covariance = 0.5 * (covariance + covariance.transpose()).eval();
    const Vector shift = solved.transpose() * deviation;
    parts.push_back({select(component(i).mean, rest) + shift, Covariance::dense(std::move(covariance))});
  }
  const Vector weights = (log_weights.array() - log_sum_exp(log_weights)).exp();
  return {weights / weights.sum(), std::move(parts)};
}

double GaussianMixture::log_density(ConstVectorRef point) const {
  require(point.size() == dimension(), "log density: the point has the wrong dimension");
  Vector terms(size());
  for (Index i = 0; i < size(); ++i) {
    terms(i) = std::log(weights_(i)) +
               gaussian_log_density(point - component(i).mean, component(i).covariance.to_dense());
  }
  return log_sum_exp(terms);
}

}  // namespace mixcert

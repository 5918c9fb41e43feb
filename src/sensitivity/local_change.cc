// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "sensitivity/local_change.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/stop.h"
#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "mixture/verified_norm.h"
#include "sensitivity/error_norm.h"
#include "sensitivity/mean_slopes.h"

namespace mixcert {
namespace {

/// Covers the roundings of sums of nonnegative numbers, and what is left out of A by a rounded root (M.12).
constexpr double kRaised = 1.0 + 1e-9;
/// Half-widths below this share of the widest count as this: their squares underflow.
constexpr double kNarrowest = 1e-140;
/// Of the metric of columns, which belongs to the network: one or two per cent farther than the best.
constexpr int kSweepsOnce = 4;
/// What underflow can hide of a deviation.
constexpr double kDeviationFloor = 1e-150;
/// Changes of neurons below this share of the largest count as this: their squares underflow.
constexpr double kLeastChange = 1e-150;
/// More than what underflow hides of a norm's sums where the largest change of a neuron is one: slopes and
/// weights whose squares underflow, times norms of 2^100 (R.9).
constexpr double kLost = 1e-120;

/// L' with L L' >= Q: of Q and what rounding in its factorisation can take away.
Matrix root_of(const OutputNorm& norm) {
  if (norm.diagonal) return norm.q.diagonal().cwiseSqrt().asDiagonal();
  const Index n = norm.q.rows();
  Matrix raised = norm.q;
  raised.diagonal().array() += 8.0 * rounding_gamma(n + 8) * norm.q.trace();
  const Eigen::LLT<Matrix> factor(raised);
  if (factor.info() != Eigen::Success) throw Error("local change: a norm has no Cholesky factor");
  return factor.matrixU();
}

/// Orthonormal combinations of a matrix' rows, those of the largest images.
Matrix leading_rows(const Matrix& matrix) {
  constexpr Index kMostRows = 16;
  const Matrix vectors = symmetric_eigen(matrix * matrix.transpose()).vectors;
  return vectors.rightCols(std::min(kMostRows, vectors.cols())).transpose();
}

/// y > 0 for which sum_j y_j times the largest eigenvalue of P diag(y)^-1 P' is small: the ascent of (M.7)
/// with vectors S'P_j of as many dimensions as P has rows, a few sweeps of it.
Vector column_metric(const Matrix& p, int sweeps) {
  const auto positive = [](const Vector& y) -> Vector { return y.cwiseMax(1e-9 * y.maxCoeff()); };
  Vector y = positive(p.colwise().norm().transpose());
  Matrix s = Matrix::Identity(p.rows(), p.rows());
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    s = p * (y.cwiseInverse().asDiagonal() * (p.transpose() * s));
    s /= s.norm();
    y = positive((s.transpose() * p).colwise().norm().transpose());
  }
  return y;
}

/// No less than |P e| for every e with |e_j| <= 1, from any y > 0: e'P'P e <= lambda sum_j y_j where
/// diag(lambda y) >= P'P.
double image_by(const Vector& y, const Matrix& p) {
  // What underflowed says nothing.
  if (!(y.minCoeff() > 0.0)) return std::numeric_limits<double>::infinity();
  return kRaised * spectral_norm(p * y.cwiseSqrt().cwiseInverse().asDiagonal()) * std::sqrt(y.sum());
}

/// The same, rows by themselves or together; the ascent looks at `leading` combinations of the rows alone.
double largest_image(const Matrix& leading, const Matrix& p) {
  constexpr int kSweeps = 8;
  const double apart = p.rowwise().lpNorm<1>().norm();
  if (p.rows() == 1 || p.cols() == 1 || !(apart > 0.0) || !std::isfinite(apart)) return apart;
  // In units of its size: eigenvalues of tiny numbers are not found.
  const Matrix unit = p / apart;
  return apart * std::min(1.0, image_by(column_metric(leading * unit, kSweeps), unit));
}

}  // namespace

/// The first hidden layer while the input is in the box. Changes of pre-activations are in units of `size`
/// times the widest side of the box: that of weights of 1e-150 at inputs of 1e150 is ordinary, and squares of
/// either are not.
struct LocalChange::Neurons {
  double size = 1.0;                        ///< a power of two
  Vector centre, radius, spread, steepest;  ///< of slopes
  Vector moved;                             ///< no less than the change of a mean
  Vector noise;                             ///< no less than the deviation of a change
  Matrix scaled;                            ///< M H, H the half-widths
  Vector unit;                              ///< the half-widths, in units of the widest alone

  /// Brings the largest change to between one and two: only exponents differ.
  void choose_size() {
    const double largest = std::max(moved.maxCoeff(), noise.maxCoeff());
    if (!(largest > 0.0) || !std::isfinite(largest)) return;
    size = std::ldexp(1.0, std::ilogb(largest));
    moved = larger_or_nan(moved / size, kLeastChange);
    noise = larger_or_nan(noise / size, kLeastChange);
    scaled /= size;
  }
};

bool LocalChange::covers(const Network& network) {
  if (network.hidden_count() == 0) return false;
  const DenseLayer& first = network.layer(0);
  return first.is_gaussian() && first.has_independent_outputs() && network.layer(1).has_independent_outputs();
}

LocalChange::LocalChange(const Network& network, const CancelFlag* cancel)
    : first_(network.layer(0)), activation_(network.activation(1)) {
  std::vector<OutputNorm> norms{identity_norm(network.outputs())};
  for (Index k = network.hidden_count() - 1; k >= 1; --k) {
    stop_where_set(cancel);
    norms = carry_back(norms, network, k, semidefinite_form());
  }
  const DenseLayer& next = network.layer(1);
  const double mask = (UpperBound::exact(1.0) + network.mask(1).variance()).upper;
  for (const OutputNorm& norm : norms) {
    stop_where_set(cancel);
    const Matrix root = root_of(norm);
    Behind behind;
    behind.factor = norm.factor;
    behind.root = root * next.weight_mean();
    const Vector squares = behind.root.colwise().squaredNorm();
    // What the rounded root can lack, against the sizes of what it was summed from.
    const Vector sizes = (root.cwiseAbs() * next.weight_mean().cwiseAbs()).colwise().squaredNorm();
    const double gamma = rounding_gamma(next.outputs() + 4);
    const Vector lacking = 2e9 * gamma * gamma * static_cast<double>(next.inputs()) * sizes;
    const Vector noise = next.centred_gram(norm.q.diagonal()).diagonal();
    behind.rest = kRaised * (mask * noise + (mask - 1.0) * squares + lacking);
    behind.diagonal = kRaised * (squares + behind.rest);
    behind.metric = feasible_diagonal(second_moment(norm, next, network.mask(1)), Vector::Ones(next.inputs()),
                                      semidefinite_form());
    behind.leading = leading_rows(behind.root);
    behind.columns =
        column_metric(behind.metric.cwiseSqrt().asDiagonal() * first_.weight_mean(), kSweepsOnce);
    behind_.push_back(std::move(behind));
  }
}

LocalChange::Neurons LocalChange::neurons_in(ConstVectorRef seen, ConstVectorRef unit, double widest) const {
  Neurons neurons;
  const Matrix sizes = first_.weight_mean().cwiseAbs();
  neurons.moved = kRaised * (sizes * unit);
  neurons.noise = Vector::Zero(first_.outputs());
  if (const Matrix* variances = independent_variances(first_.weights()))
    neurons.noise = kRaised * ((*variances * unit.cwiseAbs2()).cwiseSqrt().array() + kDeviationFloor);
  neurons.scaled = first_.weight_mean() * unit.asDiagonal();
  neurons.unit = unit;
  const DenseLayer::Pushed law = first_.push(seen, 1);
  const Vector deviations = positive_part(law.covariances.front().variances()).cwiseSqrt();
  const Vector rounding =
      rounding_gamma(seen.size() + 8) * (sizes * seen.cwiseAbs() + first_.bias_mean().cwiseAbs());
  neurons.centre = neurons.radius = neurons.spread = neurons.steepest = Vector::Zero(first_.outputs());
  for (Index i = 0; i < first_.outputs(); ++i) {
    const Activation& activation = activation_.at(i);
    const MeanSlope slope = mean_slope(
        activation, law.means(i, 0), deviations(i), enlarged(widest * neurons.moved(i) + rounding(i)),
        enlarged(widest * neurons.noise(i) + 1e-9 * deviations(i)) + kDeviationFloor);
    neurons.centre(i) = slope.centre;
    neurons.radius(i) = slope.radius;
    neurons.spread(i) = slope.spread;
    neurons.steepest(i) = activation.lipschitz().upper;
  }
  neurons.choose_size();
  return neurons;
}

/// No less than (sum_i weights_i (M d)_i^2)^{1/2} for every d of the box: each neuron by itself, or together,
/// with the metric of the columns that `behind` has.
double LocalChange::weighted_means(const Vector& weights, const Behind& behind, const Neurons& neurons) {
  const double apart = std::sqrt(weights.dot(neurons.moved.cwiseAbs2()));
  if (neurons.scaled.cols() == 1 || !(apart > 0.0) || !std::isfinite(apart)) return apart;
  const Matrix image = (weights.cwiseSqrt() / apart).asDiagonal() * neurons.scaled;
  return apart * std::min(1.0, image_by(behind.columns.cwiseProduct(neurons.unit), image));
}

double LocalChange::change_behind(const Behind& behind, const Neurons& neurons) {
  const Vector noise = neurons.noise.cwiseAbs2(), spread = neurons.spread.cwiseAbs2();
  const Matrix image = behind.root * neurons.centre.asDiagonal() * neurons.scaled;
  const Vector sizes = behind.root.cwiseAbs() * neurons.centre.cwiseAbs().cwiseProduct(neurons.moved);
  const double rounding = rounding_gamma(neurons.centre.size() + 8) * sizes.norm();
  const double coherent = kRaised * (largest_image(behind.leading, image) + rounding);
  const Vector apart =
      behind.rest.cwiseProduct(neurons.centre.cwiseAbs2()) + behind.diagonal.cwiseProduct(spread);
  const double scattered = weighted_means(apart, behind, neurons);
  const Vector unknown = behind.metric.cwiseProduct(neurons.radius.cwiseAbs2());
  const double bent = weighted_means(unknown, behind, neurons);
  const double of_means = std::sqrt(behind.metric.dot(spread.cwiseProduct(noise)));
  const double of_noise = std::sqrt(behind.diagonal.dot(neurons.steepest.cwiseAbs2().cwiseProduct(noise)));
  return kRaised * behind.factor * (std::hypot(coherent, scattered) + bent + of_means + of_noise + kLost);
}

UpperBound LocalChange::in_box(ConstVectorRef seen, ConstVectorRef half_widths) const {
  const double widest = half_widths.maxCoeff<Eigen::PropagateNaN>();
  if (widest == 0.0) return {};
  // In units of the widest, none so narrow that its square underflows.
  const Vector unit = larger_or_nan(half_widths / widest, kNarrowest);
  const Neurons neurons = neurons_in(seen, unit, widest);
  double sum = 0.0;
  for (const Behind& behind : behind_) sum += change_behind(behind, neurons);
  // One number up after each product, for what underflows in it.
  return UpperBound::exact(next_up(enlarged(widest * next_up(neurons.size * sum))));
}

}  // namespace mixcert

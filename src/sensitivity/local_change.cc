// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "sensitivity/local_change.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "core/stop.h"
#include "mixcert/core/error.h"
#include "mixture/verified_norm.h"
#include "sensitivity/error_norm.h"
#include "sensitivity/mean_slopes.h"

namespace mixcert {
namespace {

/// Covers the roundings of sums of nonnegative numbers, and what is left out of A by a rounded root (M.12).
constexpr double kRaised = 1.0 + 1e-9;
/// Half-widths below this share of the widest count as this: their squares underflow.
constexpr double kNarrowest = 1e-140;
/// What underflow can hide of a deviation.
constexpr double kDeviationFloor = 1e-150;
/// Of more features the largest singular value is closer than sums over pairs, and found in less time.
constexpr Index kMostPairs = 16;

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

/// No less than |P e| for every e with |e_j| <= 1: rows by themselves, pairs of columns, or the largest
/// singular value, which is the closest of them for many columns and several rows.
double largest_image(const Matrix& p) {
  const double by_rows = p.rowwise().lpNorm<1>().squaredNorm();
  const auto columns = static_cast<double>(p.cols());
  double least = by_rows;
  if (p.rows() > 1 && p.cols() <= kMostPairs)
    least = std::min(least, (p.transpose() * p).lpNorm<1>() + rounding_gamma(p.rows() + 2) * by_rows);
  if (p.rows() > 1 && p.cols() > 1 && least > 0.0 && std::isfinite(least)) {
    // In units of its size: eigenvalues of tiny numbers are not found.
    const double size = std::sqrt(by_rows);
    const double norm = spectral_norm(p / size);
    least = std::min(least, by_rows * columns * norm * norm);
  }
  return std::sqrt(least);
}

}  // namespace

/// The first hidden layer while the input is in the box, in units of its widest side.
struct LocalChange::Neurons {
  Vector centre, radius, spread, steepest;  ///< of slopes
  Vector moved;                             ///< no less than the change of a mean
  Vector noise;                             ///< no less than the deviation of a change
  Matrix scaled;                            ///< M H, H the half-widths
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
  return neurons;
}

namespace {

/// No less than (sum_i weights_i (M d)_i^2)^{1/2} for every d of the box: each neuron by itself, or together.
double weighted_means(const Vector& weights, const Vector& moved, const Matrix& scaled) {
  const double apart = std::sqrt(weights.dot(moved.cwiseAbs2()));
  if (scaled.cols() == 1) return apart;
  return std::min(apart, largest_image(weights.cwiseSqrt().asDiagonal() * scaled));
}

}  // namespace

double LocalChange::change_behind(const Behind& behind, const Neurons& neurons) {
  const Vector noise = neurons.noise.cwiseAbs2(), spread = neurons.spread.cwiseAbs2();
  const Matrix image = behind.root * neurons.centre.asDiagonal() * neurons.scaled;
  const Vector sizes = behind.root.cwiseAbs() * neurons.centre.cwiseAbs().cwiseProduct(neurons.moved);
  const double rounding = rounding_gamma(neurons.centre.size() + 8) * sizes.norm();
  const double coherent = kRaised * (largest_image(image) + rounding);
  const Vector apart =
      behind.rest.cwiseProduct(neurons.centre.cwiseAbs2()) + behind.diagonal.cwiseProduct(spread);
  const double scattered = weighted_means(apart, neurons.moved, neurons.scaled);
  const Vector unknown = behind.metric.cwiseProduct(neurons.radius.cwiseAbs2());
  const double bent = weighted_means(unknown, neurons.moved, neurons.scaled);
  const double of_means = std::sqrt(behind.metric.dot(spread.cwiseProduct(noise)));
  const double of_noise = std::sqrt(behind.diagonal.dot(neurons.steepest.cwiseAbs2().cwiseProduct(noise)));
  return kRaised * behind.factor * (std::hypot(coherent, scattered) + bent + of_means + of_noise);
}

UpperBound LocalChange::in_box(ConstVectorRef seen, ConstVectorRef half_widths) const {
  const double widest = half_widths.maxCoeff<Eigen::PropagateNaN>();
  if (widest == 0.0) return {};
  // In units of the widest, none so narrow that its square underflows.
  const Vector unit = larger_or_nan(half_widths / widest, kNarrowest);
  const Neurons neurons = neurons_in(seen, unit, widest);
  double sum = 0.0;
  for (const Behind& behind : behind_) sum += change_behind(behind, neurons);
  return UpperBound::exact(enlarged(widest * sum));
}

}  // namespace mixcert

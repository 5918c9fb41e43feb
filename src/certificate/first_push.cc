// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md (J.6). Signatures do not need this: they never use correlations as those of a
// law.
#include "certificate/first_push.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Inputs (columns) as one point: neuron-major over inputs.
Vector stack_inputs(ConstMatrixRef inputs) {
  const Matrix by_neuron = inputs.transpose();
  return Eigen::Map<const Vector>(by_neuron.data(), by_neuron.size());
}

/// p_i^2 of (R.4) at coordinate (neuron, input): entries of the first covariance are off by at most gamma p_i
/// p_j.
Vector first_majorant(const DenseLayer& layer, const Vector& point, const Vector& variances,
                      Index input_count) {
  if (layer.has_independent_outputs()) return variances;
  const Eigen::Map<const Matrix> by_input(point.data(), input_count, layer.inputs());
  const Vector squares = by_input.rowwise().squaredNorm();
  Vector majorant(layer.outputs() * input_count);
  for (Index l = 0; l < layer.outputs(); ++l) {
    majorant.segment(l * input_count, input_count) =
        2.0 * (layer.row_variances()(l) * squares.array() + layer.bias_variances()(l)) + 1e-300;
  }
  return majorant;
}

/// Raises the diagonal of q_1's covariance so that the stored matrix is positive semidefinite (J.6).
Covariance raised(const Covariance& covariance, const Vector& majorant, const DenseLayer& layer,
                  Index input_count, Vector& raise) {
  const bool blocks = covariance.rank() == 0;
  Matrix matrix = blocks ? covariance.stacked_blocks() : covariance.to_dense();
  const double gamma = 2.0 * static_cast<double>(matrix.cols()) *
                       rounding_gamma(4 * layer.inputs() + 2 * layer.outputs() + covariance.rank() + 64);
  raise = Vector::Zero(layer.outputs());
  for (Index i = 0; i < matrix.rows(); ++i) {
    const double added = gamma * majorant(i);
    matrix(i, i % matrix.cols()) += added;
    raise(i / input_count) += added * (1.0 + 1e-9);
  }
  return blocks ? Covariance::block_diagonal(std::move(matrix)) : Covariance::dense(std::move(matrix));
}

}  // namespace

FirstPoint first_point(const Network& network, ConstMatrixRef inputs) {
  require(inputs.rows() == network.inputs(), "inputs: expected " + std::to_string(network.inputs()) +
                                                 " features, got " + std::to_string(inputs.rows()));
  const Network::Features features = network.features(inputs);
  const Vector stacked = stack_inputs(features.values);
  FirstPoint first{network.activation(0).apply(stacked, inputs.cols()), {}};
  first.trace.norm = std::max(stacked.norm(), first.point.norm());
  first.trace.error = features.errors.norm() * (1.0 + 1e-9);
  first.trace.squares = first.point.cwiseAbs2();
  return first;
}

namespace {

/// The law of the first layer's outputs, its covariance made fit for (J.6).
FirstPush finish_push(const Network& network, FirstPoint first, Vector mean, Covariance covariance,
                      Index input_count) {
  const DenseLayer& layer = network.layer(0);
  // A diagonal, with or without a factor, is positive semidefinite as it stands.
  if (network.hidden_count() > 0 && covariance.block_size() > 1) {
    const Vector majorant = first_majorant(layer, first.point, covariance.variances(), input_count);
    covariance = raised(covariance, majorant, layer, input_count, first.trace.raise);
  }
  return {{std::move(mean), std::move(covariance)}, std::move(first.trace)};
}

}  // namespace

FirstPush push_first(const Network& network, ConstMatrixRef inputs) {
  FirstPoint first = first_point(network, inputs);
  DenseLayer::Pushed pushed = network.layer(0).push(first.point, inputs.cols());
  return finish_push(network, std::move(first), pushed.means.col(0), std::move(pushed.covariances.front()),
                     inputs.cols());
}

std::vector<FirstPush> push_first_separately(const Network& network, ConstMatrixRef inputs) {
  std::vector<FirstPoint> firsts;
  Matrix points(network.layer(0).inputs(), inputs.cols());
  for (Index i = 0; i < inputs.cols(); ++i) {
    firsts.push_back(first_point(network, inputs.col(i)));
    points.col(i) = firsts.back().point;
  }
  DenseLayer::Pushed pushed = network.layer(0).push(points, 1);
  std::vector<FirstPush> laws;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    laws.push_back(finish_push(network, std::move(firsts[i]), pushed.means.col(static_cast<Index>(i)),
                               std::move(pushed.covariances[i]), 1));
  }
  return laws;
}

}  // namespace mixcert

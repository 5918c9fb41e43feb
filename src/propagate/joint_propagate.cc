// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/joint-moments.md: affine, surrogate and noise, affine, ... at all inputs at once.
#include "propagate/joint_propagate.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "certify/cross_moments.h"
#include "certify/joint_noise.h"
#include "certify/surrogate_law.h"
#include "mixcert/core/error.h"
#include "propagate/joint_push.h"
#include "propagate/memory_guard.h"

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
  const auto& w = layer.weights();
  const bool independent =
      std::holds_alternative<DeterministicWeights>(w) || std::holds_alternative<MeanFieldWeights>(w);
  if (independent && !std::holds_alternative<CorrelatedBias>(layer.bias())) return variances;
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
                  Index input_count, JointTrace& trace) {
  const bool blocks = covariance.block_size() == input_count && covariance.rank() == 0;
  Matrix matrix = blocks ? covariance.stacked_blocks() : covariance.to_dense();
  const double gamma = 2.0 * static_cast<double>(matrix.cols()) *
                       rounding_gamma(4 * layer.inputs() + 2 * layer.outputs() + covariance.rank() + 64);
  trace.first_raise = Vector::Zero(layer.outputs());
  for (Index i = 0; i < matrix.rows(); ++i) {
    const double added = gamma * majorant(i);
    matrix(i, blocks ? i % input_count : i) += added;
    trace.first_raise(i / input_count) += added * (1.0 + 1e-9);
  }
  return blocks ? Covariance::block_diagonal(std::move(matrix)) : Covariance::dense(std::move(matrix));
}

Gaussian push_first(const Network& network, ConstMatrixRef inputs, const MemoryGuard& guard,
                    JointTrace& trace) {
  const DenseLayer& layer = network.layer(0);
  const Vector stacked = stack_inputs(inputs);
  const Vector point = network.activation(0).apply(stacked);
  trace.input_norm = std::max(stacked.norm(), point.norm());
  guard.check_push(layer, 1, trace.input_count);
  DenseLayer::Pushed first = layer.push(point, trace.input_count);
  Covariance covariance = std::move(first.covariances.front());
  if (network.hidden_count() == 0) return {first.means.col(0), std::move(covariance)};
  const Vector majorant = first_majorant(layer, point, covariance.variances(), trace.input_count);
  return {first.means.col(0), raised(covariance, majorant, layer, trace.input_count, trace)};
}

}  // namespace

JointTrace propagate_jointly(const Network& network, ConstMatrixRef inputs, const Options& options,
                             const Services& services) {
  JointTrace trace;
  trace.input_count = inputs.cols();
  const MemoryGuard guard(options.max_memory_in_gib);
  Gaussian law = push_first(network, inputs, guard, trace);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    if (services.cancel != nullptr && services.cancel->load()) throw Interrupted("interrupted");
    const DenseLayer& next = network.layer(k);
    const Activation& activation = network.activation(k);
    guard.check_joint_moments(next, trace.input_count);
    JointLayerTrace layer;
    layer.surrogate = surrogate_law(activation, law);
    layer.noise = joint_noise(next, law, cross_moments(activation, law, trace.input_count));
    layer.law = std::move(law);
    law = push_jointly(next, trace.input_count, layer);
    trace.layers.push_back(std::move(layer));
  }
  trace.output = std::move(law);
  return trace;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Forward as in certify_joint.cc, with the trace kept.
#include "gradient/joint/joint_moment_pass.h"

#include "gradient/joint/joint_gradient.h"
#include "methods/approximation_method.h"
#include "methods/joint/joint_certificate.h"
#include "methods/joint/joint_propagate.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

/// From input-major, dense, to the neuron-major structure of `law`.
GaussianGradient neuron_major(const Vector& mean, const Matrix& covariance, const Gaussian& law,
                              Index outputs, Index input_count) {
  GaussianGradient result = GaussianGradient::zero(law);
  const Index size = law.covariance.block_size();
  const auto place = [&](Index i) { return i % input_count * outputs + i / input_count; };
  for (Index i = 0; i < law.dimension(); ++i) {
    result.mean(i) = mean(place(i));
    for (Index c = 0; c < size; ++c) result.blocks(i, c) = covariance(place(i), place(i / size * size + c));
  }
  return result;
}

}  // namespace

JointMomentPass::JointMomentPass(const Network& network, ConstMatrixRef inputs, RidgeRule ridge,
                                 const Options& options)
    : network_(network), inputs_(inputs) {
  require_differentiable(network);
  check_inputs(network, inputs);
  error_norms_ = make_error_norms(network, SensitivityMode::Closed);
  trace_ = propagate_jointly(network, inputs, options, {}, ridge, true);
  certificate_ = evaluate_joint_certificate(network, analyse_sensitivity(network), error_norms_, trace_);
  mixture_ = input_major(GaussianMixture(trace_->output), network.outputs(), inputs.cols());
}

NetworkGradient JointMomentPass::backward(double bound_weight, const MixtureCotangent& cotangent) const {
  GaussianGradient output = GaussianGradient::zero(trace_->output);
  if (!cotangent.means.empty()) {
    output = neuron_major(cotangent.means.front(), cotangent.covariances.front(), trace_->output,
                          network_.outputs(), trace_->input_count);
  }
  NetworkGradient gradient = zero_gradient(network_);
  add_joint_gradient(network_, inputs_, error_norms_, *trace_, certificate_, bound_weight, output, gradient);
  return gradient;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/gradients.md (Z.68): from the last layer to the first, local error, push, noise, moments; and
// the pass that runs forward first, as certify() does, with the trace kept.
#include "gradient/joint/joint_gradient.h"

#include <algorithm>
#include <utility>

#include "certificate/first_push.h"
#include "gradient/weight_gradient.h"
#include "methods/approximation_method.h"
#include "methods/joint/cross_moments.h"
#include "methods/joint/joint_certificate.h"
#include "methods/joint/joint_tracer.h"
#include "mixcert/core/error.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {
namespace {

bool equal(const NeuronCotangent& a, const NeuronCotangent& b) {
  return a.mean == b.mean && a.covariance == b.covariance && a.error == b.error && a.fourth == b.fourth &&
         a.fourth_error == b.fourth_error;
}

/// One hidden layer, backwards.
class LayerPull {
 public:
  LayerPull(const ActivationMap& activation, const DenseLayer& next, const JointLayerTrace& layer,
            Index input_count)
      : activation_(activation),
        next_(next),
        layer_(layer),
        inputs_(input_count),
        neurons_(layer.law.dimension() / input_count),
        independent_(has_independent_neurons(layer.law.covariance, input_count)),
        total_(GaussianGradient::zero(layer.law)),
        deviations_(layer.law.covariance.variances().cwiseSqrt()),
        of_deviation_(Vector::Zero(layer.law.dimension())) {
    if (!independent_) total_.blocks = Matrix::Zero(layer.law.dimension(), layer.law.dimension());
  }

  /// Derivatives in the layer's law, from those in the next layer's law and in the local error.
  [[nodiscard]] GaussianGradient pull(const GaussianGradient& of_next, JointLocalGradient local,
                                      LayerGradient& gradient) {
    if (local.covariance.size() > 0) total_.blocks += local.covariance;
    PushCotangent push = pull_joint_push(next_, inputs_, layer_, of_next, gradient);
    if (push.covariance.size() > 0) total_.blocks += push.covariance;
    of_deviation_ += local.deviation + push.deviation;
    pull_moments({std::move(push.noise), local.cost}, gradient);
    local.surrogate.mean += push.mean;
    local.surrogate.gain += push.gain;
    const CoordinateGradient coordinates = surrogate_gradient(activation_, layer_.law.mean, deviations_,
                                                              inputs_, layer_.surrogate, local.surrogate);
    total_.mean += coordinates.mean;
    of_deviation_ += coordinates.deviation;
    add_deviations();
    return std::move(total_);
  }

 private:
  void pull_moments(const NoiseCotangent& of_noise, LayerGradient& gradient) {
    const auto& kept = layer_.neurons;
    require(static_cast<Index>(kept.size()) == neurons_, "gradient: the trace was made without neurons");
    const CrossMoments moments = written_moments(kept, inputs_);
    std::vector<NeuronCotangent> of_neurons(static_cast<std::size_t>(neurons_),
                                            NeuronCotangent::zero(inputs_));
    Matrix of_law;
    pull_noise(next_, layer_, moments, of_noise, gradient, of_neurons, of_law);
    if (of_law.size() > 0) total_.blocks += of_law;
    BlockCotangent block;
    for (Index j = 0; j < neurons_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      // All neurons of a prior are alike, and so is what is asked of them.
      const bool repeated = j > 0 && kept[at] == kept[at - 1] && equal(of_neurons[at], of_neurons[at - 1]);
      if (!repeated) block = NeuronGradient(*kept[at]).pull_back(of_neurons[at]);
      total_.mean.segment(j * inputs_, inputs_) += block.mean;
      own_block(j) += block.covariance;
    }
  }

  [[nodiscard]] Eigen::Block<Matrix> own_block(Index j) {
    return total_.blocks.block(j * inputs_, independent_ ? 0 : j * inputs_, inputs_, inputs_);
  }

  /// s = C_ii^{1/2}.
  void add_deviations() {
    for (Index i = 0; i < deviations_.size(); ++i) {
      if (deviations_(i) > 0.0) {
        total_.blocks(i, independent_ ? i % inputs_ : i) += of_deviation_(i) / (2.0 * deviations_(i));
      }
    }
  }

  const ActivationMap& activation_;
  const DenseLayer& next_;
  const JointLayerTrace& layer_;
  Index inputs_;
  Index neurons_;
  bool independent_;
  GaussianGradient total_;
  Vector deviations_;
  Vector of_deviation_;
};

std::size_t error_norm_index(const std::vector<ErrorNorm>& error_norms, const std::string& name) {
  const auto place = std::find_if(error_norms.begin(), error_norms.end(),
                                  [&](const ErrorNorm& error_norm) { return error_norm.name == name; });
  require(place != error_norms.end(), "gradient: the certificate used a error_norm that is not there");
  return static_cast<std::size_t>(place - error_norms.begin());
}

}  // namespace

void add_joint_gradient(const Network& network, ConstMatrixRef inputs, const ErrorNorms& error_norms,
                        const JointTrace& trace, const Certificate& certificate, double bound_weight,
                        const GaussianGradient& output, NetworkGradient& gradient) {
  const Index hidden = network.hidden_count();
  std::vector<ErrorNormGradient> of_error_norms(static_cast<std::size_t>(hidden));
  GaussianGradient of_law = output;
  for (Index k = hidden; k >= 1; --k) {
    const auto at = static_cast<std::size_t>(k - 1);
    const JointLayerTrace& layer = trace.layers[at];
    const std::size_t chosen = error_norm_index(error_norms[at], certificate.layers[at].metric);
    JointLocalGradient local =
        joint_local_gradient(layer, error_norms[at][chosen], trace.input_count, bound_weight);
    if (bound_weight != 0.0) of_error_norms[at] = {chosen, std::move(local.norms)};
    of_law = LayerPull(network.activation(k), network.layer(k), layer, trace.input_count)
                 .pull(of_law, std::move(local), gradient[static_cast<std::size_t>(k)]);
  }
  const Vector point = first_point(network, inputs).point;
  pull_back_push(network.layer(0), point, trace.input_count, of_law, gradient.front());
  add_error_norm_gradient(network, of_error_norms, gradient);
}

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

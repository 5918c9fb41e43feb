// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// propagate() and evaluate_signature_certificate() forwards; their trace backwards.
#include "gradient/signature/signature_gradient.h"

#include <string>
#include <utility>
#include <vector>

#include "certificate/first_push.h"
#include "gradient/weight_gradient.h"
#include "methods/approximation_method.h"
#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"
#include "mixcert/core/error.h"
#include "mixcert/transport/mixture_transport.h"

namespace mixcert {
namespace {

Services transport_services() {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

void check_options(const Options& options) {
  require(options.method == Method::Signature && !options.epsilon,
          "signature gradient: expected method signature with given sizes");
  options.validate();
}

/// From input-major and dense to the blocks of neuron-major components.
std::vector<GaussianGradient> by_neuron(const MixtureCotangent& cotangent, const GaussianMixture& output,
                                        Index outputs, Index inputs) {
  const bool constant = cotangent.means.empty() && cotangent.covariances.empty();
  const auto size = static_cast<std::size_t>(output.size());
  require(constant || (cotangent.means.size() == size && cotangent.covariances.size() == size),
          "signature gradient: expected derivatives in " + std::to_string(size) + " components, got " +
              std::to_string(cotangent.means.size()) + " and " +
              std::to_string(cotangent.covariances.size()));
  std::vector<GaussianGradient> result;
  for (std::size_t c = 0; c < size; ++c) {
    const Gaussian& component = output.component(static_cast<Index>(c));
    result.push_back(GaussianGradient::zero(component));
    if (constant) continue;
    const Vector& mean = cotangent.means[c];
    const Matrix& covariance = cotangent.covariances[c];
    require(mean.size() == output.dimension() && covariance.rows() == mean.size() &&
                covariance.cols() == mean.size(),
            "signature gradient: derivatives in a component have the wrong size");
    for (Index i = 0; i < mean.size(); ++i) {
      const Index neuron = i / inputs;
      const Index first = (i % inputs) * outputs + neuron;
      result.back().mean(i) = mean(first);
      for (Index e = 0; e < inputs; ++e) {
        const Index second = e * outputs + neuron;
        result.back().blocks(i, e) = 0.5 * (covariance(first, second) + covariance(second, first));
      }
    }
  }
  return result;
}

}  // namespace

SignaturePass::SignaturePass(const Network& network, ConstMatrixRef inputs, const Options& options)
    : network_(network), form_(certificate_form(options.certificate)) {
  check_options(options);
  require_differentiable(network);
  check_inputs(network, inputs);
  sensitivity_ = analyse_sensitivity(network);
  first_point_ = first_point(network, inputs).point;
  const SizePlanner sizes = [&](Index, const GaussianMixture&) {
    return LayerSizes{options.components, options.signature_size};
  };
  trace_ = propagate(network, inputs, sensitivity_, options, sizes, transport_services());
  certificate_ = evaluate_signature_certificate(network, sensitivity_, trace_, form_);
  mixture_ = input_major(trace_->output, network.outputs(), inputs.cols());
}

NetworkGradient SignaturePass::backward(double bound_weight, const MixtureCotangent& cotangent) const {
  NetworkGradient gradient = zero_gradient(network_);
  ChainGradient chains(network_, sensitivity_);
  const SignatureSweep sweep{network_, sensitivity_, trace_->input_count, form_ != CertificateForm::Paper,
                             bound_weight};
  std::vector<GaussianGradient> bars =
      by_neuron(cotangent, trace_->output, network_.outputs(), trace_->input_count);
  for (Index k = network_.hidden_count(); k >= 1; --k) {
    const auto at = static_cast<std::size_t>(k - 1);
    bars = pull_back_layer(sweep, k, trace_->layers[at], certificate_.layers[at], bars, chains, gradient);
  }
  pull_back_push(network_.layer(0), first_point_, trace_->input_count, bars.front(), gradient.front());
  chains.pull_back(gradient);
  return gradient;
}

}  // namespace mixcert

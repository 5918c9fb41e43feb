// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// beta * bound + (1 - beta) * MW2(mixture, target): one forward pass, one transport problem, one backward
// pass; which networks have derivatives, and zeros of their sizes.
#include "mixcert/gradient/objective.h"

#include <string>
#include <utility>
#include <variant>

#include "gradient/joint/joint_gradient.h"
#include "gradient/signature/signature_gradient.h"
#include "gradient/weight_gradient.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

MixtureCotangent scaled(MixtureTransportGradient gradient, double factor) {
  for (Vector& mean : gradient.means) mean *= factor;
  for (Matrix& covariance : gradient.covariances) covariance *= factor;
  return {std::move(gradient.means), std::move(gradient.covariances)};
}

template <class Pass>
ObjectiveValue evaluate(const Pass& pass, const GaussianMixture& target, double beta, bool with_gradient) {
  MixtureTransportGradient transport = mixture_transport_gradient(pass.mixture(), target);
  ObjectiveValue value;
  value.bound = pass.bound();
  value.distance = transport.distance;
  // A bound that does not exist must not make the objective infinite where nobody asked for it.
  value.objective = (beta > 0.0 ? beta * value.bound : 0.0) + (1.0 - beta) * value.distance;
  value.mixture = pass.mixture();
  if (with_gradient) value.gradient = pass.backward(beta, scaled(std::move(transport), 1.0 - beta));
  return value;
}

}  // namespace

ObjectiveValue evaluate_objective(const Network& network, ConstMatrixRef inputs,
                                  const GaussianMixture& target, const ObjectiveOptions& options,
                                  bool with_gradient) {
  require(options.beta >= 0.0 && options.beta <= 1.0, "objective: expected beta in [0,1]");
  require(target.dimension() == network.outputs() * inputs.cols(),
          "objective: expected a target over " + std::to_string(network.outputs() * inputs.cols()) +
              " numbers (outputs at all inputs), got " + std::to_string(target.dimension()));
  Options run;
  run.method = options.method;
  run.joint = true;
  run.seed = options.seed;
  if (options.method == Method::Moment) {
    const JointMomentPass pass(network, inputs, RidgeRule::Least, run);
    return evaluate(pass, target, options.beta, with_gradient);
  }
  require(options.method == Method::Signature, "objective: expected method moment or signature");
  run.signature_size = options.signature_size;
  run.components = options.components;
  const SignaturePass pass(network, inputs, run);
  return evaluate(pass, target, options.beta, with_gradient);
}

// Which networks have derivatives, and zeros of their sizes.

namespace {

bool has_differentiable_law(const DenseLayer& layer) {
  return layer.has_independent_outputs() && layer.is_gaussian();
}

}  // namespace

NetworkGradient zero_gradient(const Network& network) {
  NetworkGradient gradient;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    const Matrix weights = Matrix::Zero(layer.outputs(), layer.inputs());
    const Vector bias = Vector::Zero(layer.outputs());
    gradient.push_back({weights, weights, bias, bias});
  }
  return gradient;
}

void require_differentiable(const Network& network) {
  require(!network.has_masks() && !network.has_own_noise(),
          "gradient: expected a network without dropout and noise layers");
  for (Index k = 0; k < network.layer_count(); ++k) {
    require(has_differentiable_law(network.layer(k)),
            "gradient: layer '" + network.layer(k).name() +
                "': expected independent Gaussian or deterministic weights and biases");
  }
}

}  // namespace mixcert

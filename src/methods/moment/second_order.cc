// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/moment/second_order.h"

#include <utility>

#include "methods/moment/surrogate_law.h"

namespace mixcert {
namespace {

/// M K M' + E S(a), K the covariance of the activations, Hermite terms of rank three and more as if they were
/// alike (H.7).
Gaussian pushed(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  const Matrix activations = activation_covariance(piece, law);
  const Matrix& m = layer.weight_mean();
  Matrix covariance = m * activations * m.transpose();
  if (layer.has_independent_outputs()) {
    covariance.diagonal() += mean_noise(layer, law);
  } else {
    covariance += layer.expected_noise(law.mean, activations);
  }
  return {m * law.mean + layer.bias_mean(), Covariance::dense(0.5 * (covariance + covariance.transpose()))};
}

}  // namespace

Gaussian second_order_output(const Network& network, Gaussian first) {
  Gaussian law = std::move(first);
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const SurrogateLaw activations =
        masked_law(surrogate_law(network.activation(k), law), network.mask(k), MaskLeaf{});
    law = pushed(network.layer(k), law, activations);
  }
  return law;
}

}  // namespace mixcert

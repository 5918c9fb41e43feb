// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What floating-point arithmetic adds to a layer's error: docs/theory/rounding.md (R.3) to
// (R.6). All values are bounds of W2-type distances in the given metrics.
#pragma once

#include "certificate/trace_parts.h"
#include "mixcert/activation/activation.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

/// Rounding of the pushed means and covariances for activations of norm at most `norm` (R.4), for any number
/// of metrics.
class PushRounding {
 public:
  PushRounding(const DenseLayer& layer, double norm, Index input_count);

  /// In the metric diag(metric) on the layer's outputs, one weight per neuron.
  [[nodiscard]] double in(ConstVectorRef metric) const;

 private:
  Vector mean_error_squares_;
  Vector variances_;
  bool diagonal_;
  double factor_;  ///< of the root of the variance: relative, or the root of one of the trace norm
};

/// Roundings in an entry of a covariance that a surrogate is pushed to, whatever the family.
Index covariance_operations(const DenseLayer& layer);

/// What the first layer adds at the output, carried there by `chain`: weights that are not Gaussian (W.1),
/// and, beyond the nominal value, rounding of the features and of the push, what was added to variances, and
/// what underflow can hide in all layers together (R.9).
UpperBound first_layer_error(const Network& network, const Sensitivity& sensitivity, const MetricChain& chain,
                             const FirstLayerTrace& first, Index input_count);

/// The same by the best chain.
UpperBound first_layer_error(const Network& network, const Sensitivity& sensitivity,
                             const FirstLayerTrace& first, Index input_count);

// The output's covariances as they are handed out and stored: dense where they have a low-rank part (R.8).

/// Writes products of factors out, rounded and raised so that they stay positive semidefinite. Returns no
/// less than the W2 that this moves the mixture by: zero where nothing has a factor.
double settle_covariances(GaussianMixture& mixture);

}  // namespace mixcert

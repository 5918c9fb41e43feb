// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Choices of the signature method: grids, compressions and sizes that the options ask for. Nothing certified
// depends on a choice.
#pragma once

#include <vector>

#include "certificate/certificate.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/activation/activation.h"
#include "mixcert/certificate/options.h"
#include "mixcert/certificate/services.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "quantize/signature.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

// The grids of one hidden layer, chosen by what its certificate will say: for every chain of metrics the
// cheapest grids, then the cheapest chain (S.6).

/// How one hidden layer is approximated.
struct Placement {
  /// Weights per coordinate, one vector per candidate chain; compression uses the first.
  std::vector<Vector> metrics;
  ActivationMap activation;
  Index input_count = 1;  ///< coordinates are neuron * input_count + input
  /// Does the certificate use local slopes (S.4)?
  bool refine = false;
  QuantizerFamily family = optimal_quantizer;
  /// Which of Sensitivity::metrics each of `metrics` belongs to; empty: they are none of them.
  std::vector<std::size_t> chains = {};
};

struct LayerGrids {
  std::vector<GridAxes> axes;  ///< one per component
  std::size_t metric = 0;      ///< which of the placement's metrics they were made for
};

/// Grids of the components with at most `points` points each.
LayerGrids layer_grids(const GaussianMixture& mixture, const Placement& placement, Index points);

// The paper's main algorithm with compressions and grids that the options ask for.

/// Sizes for one hidden layer.
struct LayerSizes {
  Index components = 0;  ///< after compression; 0: all
  Index points = 1;      ///< grid points per component
};

/// Chooses the sizes of hidden layer `layer` (1..K) when its mixture is known.
using SizePlanner = std::function<LayerSizes(Index layer, const GaussianMixture& mixture)>;

/// Runs the algorithm at the columns of `inputs` jointly.
Sealed<SignatureTrace> propagate(const Network& network, ConstMatrixRef inputs,
                                 const Sensitivity& sensitivity, const Options& options,
                                 const SizePlanner& planner, const Services& services);

// Lines 2 to 4 of the paper's algorithm for one hidden layer: compression, its coupling, and the
// grids. The propagator and the planner of sizes share it.

/// Metrics, quantizers and refinement that the options ask for at hidden layer `layer` (1..K).
Placement place_layer(const Network& network, const Sensitivity& sensitivity, const Options& options,
                      Index layer, Index input_count);

/// All but the masks.
SignatureChoices approximate_layer(const GaussianMixture& mixture, const LayerSizes& sizes,
                                   const Placement& placement, const Options& options,
                                   const Services& services);

// Sizes for a wanted bound: the paper's convergence theorem in our metrics (E.1). Layer k
// may spend epsilon / K at the output; compression takes at most half of that with as few
// components as possible, the signature the rest with as few points as possible.

class EpsilonPlanner {
 public:
  /// All arguments must outlive the planner. options.epsilon must be set.
  EpsilonPlanner(const Network& network, const Sensitivity& sensitivity, const Options& options,
                 const Services& services, Index input_count);

  /// Sizes that meet the layer's share, or the largest the budget allows.
  LayerSizes plan(Index layer, const GaussianMixture& mixture);

  /// Did some layer need more than options.max_components?
  [[nodiscard]] bool budget_spent() const { return budget_spent_; }

 private:
  /// What compression left, and what it costs at the output.
  struct Reduced {
    GaussianMixture mixture;
    Index components = 0;
    double cost = 0.0;
  };
  [[nodiscard]] Sealed<SignatureLayerTrace> approximate(Index layer, const GaussianMixture& mixture,
                                                        const LayerSizes& sizes) const;
  [[nodiscard]] LayerTerms terms(Index layer, const Sealed<SignatureLayerTrace>& trace) const;
  [[nodiscard]] Reduced reduce(Index layer, const GaussianMixture& mixture, double share) const;
  [[nodiscard]] Index choose_points(Index layer, const Reduced& reduced, double share);

  const Network& network_;
  const Sensitivity& sensitivity_;
  const Options& options_;
  const Services& services_;
  Index input_count_;
  bool budget_spent_ = false;
};

/// The form of certificate that a mode asks for.
CertificateForm certificate_form(CertificateMode mode);

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sizes for a wanted bound: the paper's convergence theorem in our metrics (E.1). Layer k
// may spend epsilon / K at the output; compression takes at most half of that with as few
// components as possible, the signature the rest with as few points as possible.
#pragma once

#include "certificate/certificate.h"
#include "methods/signature/plan/signature_propagate.h"

namespace mixcert {

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

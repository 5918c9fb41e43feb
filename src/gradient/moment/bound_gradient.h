// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method at one input, with one Gaussian per layer: its certified bound, its law, and the
// derivatives of any function of the two in every parameter of the network.
#pragma once

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "methods/moment/moment_trace.h"
#include "mixcert/gradient/objective.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

/// Bound and law are those of certify() with method `moment`, theorems `coupling` and one piece.
class MomentBound {
 public:
  /// Propagates and certifies. `network` must outlive this. Throws InvalidArgument unless the network passes
  /// require_differentiable and the input is finite and fits.
  MomentBound(const Network& network, ConstVectorRef input);

  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  [[nodiscard]] const Gaussian& law() const { return trace_->output.component(0); }
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }

  /// Derivatives of  bound_weight * bound + mean_bar' m + <covariance_bar, C>,  m and C the moments of the
  /// law. `covariance_bar` is symmetric; both may be empty (zero). A pre-activation that is constant counts
  /// as one whatever its variance.
  [[nodiscard]] NetworkGradient gradient(double bound_weight, ConstVectorRef mean_bar = Vector(),
                                         ConstMatrixRef covariance_bar = Matrix()) const;

 private:
  const Network& network_;
  Vector point_;  ///< what the first layer sees
  ErrorNorms error_norms_;
  Sealed<MomentTrace> trace_;
  Certificate certificate_;
};

}  // namespace mixcert

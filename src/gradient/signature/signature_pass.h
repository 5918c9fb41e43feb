// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reverse mode of the signature method (docs/theory/gradients.md, Z.20 to Z.27): the certified forward pass,
// then derivatives of
//     bound_weight * bound + (whatever the caller made of the mixture)
// in every weight's mean and variance, read backwards from its trace.
#pragma once

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "gradient/cotangents.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/certificate/options.h"
#include "mixcert/gradient/objective.h"
#include "sensitivity/sensitivity.h"

namespace mixcert {

class SignaturePass {
 public:
  /// Runs the signature method at the columns of `inputs` jointly, with signature_size, components,
  /// certificate, grid and seed of `options`. Throws InvalidArgument where the network's parameters have no
  /// derivatives, or for epsilon. `network` must outlive this.
  SignaturePass(const Network& network, ConstMatrixRef inputs, const Options& options);

  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Certified W2 between network and mixture; infinite where there is none.
  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  /// Over outputs at all inputs, input-major: input * outputs + output.
  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] const SignatureTrace& trace() const { return *trace_; }

  /// Derivatives of bound_weight * bound + f, f with the given derivatives in the components of mixture();
  /// empty vectors: f is constant.
  [[nodiscard]] NetworkGradient backward(double bound_weight, const MixtureCotangent& cotangent) const;

 private:
  const Network& network_;
  CertificateForm form_;
  Vector first_point_;
  Sensitivity sensitivity_;
  Sealed<SignatureTrace> trace_;
  Certificate certificate_;
  GaussianMixture mixture_;
};

}  // namespace mixcert

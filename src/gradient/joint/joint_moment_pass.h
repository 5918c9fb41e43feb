// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly, forwards as certify() runs it and backwards: derivatives of
//     bound_weight * bound + (whatever the caller made of the Gaussian)
// in every weight's mean and variance (docs/theory/gradients.md, Z.60 to Z.68).
#pragma once

#include "certificate/certificate.h"
#include "certificate/sealed.h"
#include "gradient/cotangents.h"
#include "methods/joint/joint_trace.h"
#include "mixcert/certificate/options.h"
#include "mixcert/gradient/objective.h"
#include "sensitivity/error_norm.h"

namespace mixcert {

class JointMomentPass {
 public:
  /// Runs the forward pass at the columns of `inputs`. `network` must outlive this. Throws InvalidArgument
  /// where the network's parameters have no derivatives.
  JointMomentPass(const Network& network, ConstMatrixRef inputs, RidgeRule ridge, const Options& options);

  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Certified W2 between network and mixture; infinite where there is none.
  [[nodiscard]] double bound() const { return certificate_.w2.value; }
  /// One Gaussian over outputs at all inputs, input-major: input * outputs + output.
  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  [[nodiscard]] const JointTrace& trace() const { return *trace_; }

  /// Derivatives of bound_weight * bound + f, f with the given derivatives in the components of mixture();
  /// empty vectors: f is constant.
  [[nodiscard]] NetworkGradient backward(double bound_weight, const MixtureCotangent& cotangent) const;

 private:
  const Network& network_;
  Matrix inputs_;
  ErrorNorms error_norms_;
  Sealed<JointTrace> trace_;
  Certificate certificate_;
  GaussianMixture mixture_;
};

}  // namespace mixcert

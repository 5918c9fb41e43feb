// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method at one input: a Gaussian in place of each layer's activations.
#pragma once

#include "methods/approximation_method.h"
#include "methods/moment/theorem.h"

namespace mixcert {

class MomentMethod final : public ApproximationMethod {
 public:
  /// Local terms are bounded by the best of `theorems`. Both must outlive this.
  MomentMethod(const Prepared& prepared, const TheoremTable& theorems)
      : prepared_(prepared), theorems_(theorems) {}

  [[nodiscard]] Certified certify(ConstMatrixRef inputs) const override;
  /// Inputs go through the layers together.
  void certify_each(ConstMatrixRef inputs,
                    const std::function<void(Index, Certified&&)>& sink) const override;
  [[nodiscard]] BoundContributions explain(const Certified& made) const override;

 private:
  const Prepared& prepared_;
  const TheoremTable& theorems_;
};

}  // namespace mixcert

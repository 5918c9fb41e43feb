// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The moment method over several inputs jointly, one Gaussian per layer.
#pragma once

#include <string>

#include "methods/approximation_method.h"

namespace mixcert {

class JointMethod final : public ApproximationMethod {
 public:
  /// `prepared` must outlive this.
  explicit JointMethod(const Prepared& prepared) : prepared_(prepared) {}

  /// Why the network is not covered, in a sentence; empty when it is.
  static std::string refusal(const Network& network);
  /// Would so many inputs stay below the memory limit?
  static bool fits(const Prepared& prepared, Index input_count);

  [[nodiscard]] Certified certify(ConstMatrixRef inputs) const override;
  [[nodiscard]] BoundContributions explain(const Certified& made) const override;

 private:
  const Prepared& prepared_;
};

}  // namespace mixcert

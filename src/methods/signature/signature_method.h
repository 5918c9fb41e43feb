// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The paper's method: grid signatures of each layer's law (and cross signatures, which carry no bound).
#pragma once

#include "methods/approximation_method.h"

namespace mixcert {

class SignatureMethod final : public ApproximationMethod {
 public:
  /// `prepared` must outlive this.
  explicit SignatureMethod(const Prepared& prepared) : prepared_(prepared) {}

  [[nodiscard]] Certified certify(ConstMatrixRef inputs) const override;
  [[nodiscard]] BoundContributions explain(const Certified& made) const override;
  [[nodiscard]] double least_bound(const Certified& other) const override;

 private:
  const Prepared& prepared_;
};

}  // namespace mixcert

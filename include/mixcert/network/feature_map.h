// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Deterministic layers in front of a network, evaluated at the input instead of being propagated, with a
// proven bound of the rounding errors (L.1).
#pragma once

#include <memory>

#include "mixcert/core/types.h"

namespace mixcert {

class FeatureMap {
 public:
  FeatureMap() = default;
  FeatureMap(const FeatureMap&) = delete;
  FeatureMap& operator=(const FeatureMap&) = delete;
  virtual ~FeatureMap() = default;

  struct Features {
    Vector values;
    double error = 0.0;  ///< no less than |values - exact features|
  };

  [[nodiscard]] virtual Index inputs() const = 0;
  [[nodiscard]] virtual Index outputs() const = 0;
  [[nodiscard]] virtual Features evaluate(ConstVectorRef input) const = 0;
};

}  // namespace mixcert

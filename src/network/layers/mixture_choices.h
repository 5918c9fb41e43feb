// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// All ways to choose one alternative of every mixture layer, also of those inside residual blocks (L.6).
#pragma once

#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

class MixtureChoices {
 public:
  /// `layers` must outlive this.
  explicit MixtureChoices(const std::vector<LayerSpec>& layers);

  struct Choice {
    double weight = 1.0;
    std::vector<LayerSpec> layers;  ///< without mixtures
  };
  /// Number of choices.
  [[nodiscard]] double count() const;
  [[nodiscard]] Choice current() const;
  /// False after the last one.
  bool next();

 private:
  const std::vector<LayerSpec>& layers_;
  std::vector<std::size_t> sizes_;   // alternatives of each mixture, in reading order
  std::vector<std::size_t> digits_;  // those chosen
};

}  // namespace mixcert

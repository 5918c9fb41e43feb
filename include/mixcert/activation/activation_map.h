// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The activation of a layer: one function on every neuron but those that pass unchanged. The latter carry
// values past an activation: the skip of a residual block, the second argument of a maximum (L.4).
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"

namespace mixcert {

class ActivationMap {
 public:
  /// `unchanged[j]`: neuron j passes as it is; empty: none does.
  // NOLINTNEXTLINE(google-explicit-constructor): one activation for all neurons is a map.
  ActivationMap(Activation common = Activation(), std::vector<bool> unchanged = {});

  /// The function of the neurons that do not pass unchanged.
  [[nodiscard]] const Activation& common() const { return common_; }
  /// The function of one neuron.
  [[nodiscard]] const Activation& at(Index neuron) const;
  [[nodiscard]] const std::vector<bool>& unchanged() const { return unchanged_; }
  /// Does every neuron have the common function?
  [[nodiscard]] bool is_uniform() const { return unchanged_.empty(); }

  /// Rows of `x` are neuron * input_count + input.
  [[nodiscard]] Matrix apply(ConstMatrixRef x, Index input_count = 1) const;
  /// f(c x) = c f(x) for all c > 0, neuron by neuron. Neurons that pass unchanged always are.
  [[nodiscard]] bool is_positively_homogeneous() const { return common_.is_positively_homogeneous(); }
  /// Of the whole map: the largest of the neurons'.
  [[nodiscard]] Upper lipschitz() const;
  /// |computed - exact| of one value, all |x| <= magnitude.
  [[nodiscard]] double value_error(double magnitude) const { return common_.value_error(magnitude); }
  /// |f(0)| of the common function.
  [[nodiscard]] double at_zero() const;

 private:
  Activation common_;
  std::vector<bool> unchanged_;
};

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Mean functions of Gaussian processes, written as text:
//
//     zero        constant(value=1.5)        linear(weights=[1, -2], offset=0.5)
//
// The linear one is weights . x + offset; one number for `weights` serves all coordinates.
#pragma once

#include <string>
#include <string_view>

#include "mixcert/core/types.h"

namespace mixcert {

class MeanFunction {
 public:
  /// zero.
  MeanFunction() = default;
  static MeanFunction constant(double value);
  static MeanFunction linear(ConstVectorRef weights, double offset);

  /// Throws InvalidArgument with the place in the text and what was expected there.
  static MeanFunction parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  /// One value for each column.
  [[nodiscard]] Vector at(ConstMatrixRef inputs) const;

  /// None; the value; weights and then the offset.
  [[nodiscard]] Vector parameters() const;
  [[nodiscard]] Index parameter_count() const { return parameters().size(); }
  [[nodiscard]] MeanFunction with_parameters(ConstVectorRef parameters) const;
  /// Derivative of weights . at(inputs) in parameters().
  [[nodiscard]] Vector weighted_gradient(ConstMatrixRef inputs, ConstVectorRef weights) const;

 private:
  enum class Kind { Zero, Constant, Linear };
  Kind kind_ = Kind::Zero;
  Vector weights_;
  bool weights_are_list_ = false;
  double offset_ = 0.0;  ///< the value of a constant
};

}  // namespace mixcert

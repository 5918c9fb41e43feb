// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Elementwise activation functions: values, slopes, Lipschitz constants, and the
// mean-square change across a cell of a quantizer (the paper's local-Lipschitz remark).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

enum class ActivationFunction {
  Identity,
  Relu,
  LeakyRelu,
  Tanh,
  Sigmoid,
  Erf,
  Gelu,
  Silu,
  Softplus,
  Elu,
};

/// All functions, in the order of the enum. What the library knows of each: src/activation/functions.
const std::vector<ActivationFunction>& all_activation_functions();
std::string_view to_string(ActivationFunction function);
/// Throws InvalidArgument naming the known functions.
ActivationFunction parse_activation_function(std::string_view name);

/// What the library knows about a function; for its own sources.
struct ActivationTraits;

/// An interval.
struct SlopeRange {
  double low = 0.0;
  double high = 0.0;
};

class Activation {
 public:
  /// `slope` is the slope of leaky_relu on negative arguments; ignored by the others. Throws InvalidArgument
  /// for a slope that is not finite and for a number that is no function of the enum.
  explicit Activation(ActivationFunction function = ActivationFunction::Identity, double slope = 0.01);

  [[nodiscard]] ActivationFunction function() const { return function_; }
  [[nodiscard]] double slope() const { return slope_; }
  /// Does the function depend on slope()? leaky_relu does.
  [[nodiscard]] bool has_slope() const;
  /// f(c x) = c f(x) for all c > 0: identity, relu, leaky_relu.
  [[nodiscard]] bool is_positively_homogeneous() const;

  /// gelu is x Phi(x) (the exact one), elu has scale 1, softplus is log(1 + e^x).
  [[nodiscard]] double operator()(double x) const;
  [[nodiscard]] Matrix apply(ConstMatrixRef x) const;
  /// Right derivative.
  [[nodiscard]] double derivative(double x) const;
  /// The smallest l with |f(x) - f(y)| <= l |x - y|.
  [[nodiscard]] Upper lipschitz() const;
  /// Contains every difference quotient (A.1).
  [[nodiscard]] SlopeRange slope_range() const;
  /// sup |f'| over [lower, upper] (ends may be infinite): f' is monotone between the zeros of
  /// f'', so ends and zeros suffice (A.2).
  [[nodiscard]] Upper max_slope(double lower, double upper) const;
  /// |computed f(x) - f(x)| is at most this for all |x| <= magnitude.
  [[nodiscard]] double value_error(double magnitude) const;
  /// Upper bound of E[(f(m + s x) - f(m + s center))^2; lower < x <= upper] for x ~ N(0,1):
  /// exact for piecewise linear functions, piecewise local slopes for the others (A.3).
  /// Never above lipschitz^2 s^2 E[(x - center)^2; lower < x <= upper].
  [[nodiscard]] Upper mean_square_change(double mean, double deviation, double center, double lower,
                                         double upper) const;
  [[nodiscard]] const ActivationTraits& traits() const { return *traits_; }

 private:
  ActivationFunction function_;
  const ActivationTraits* traits_;
  double slope_;
};

}  // namespace mixcert

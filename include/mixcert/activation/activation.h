// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Activation functions, and which neuron of a layer has which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/rounding.h"
#include "mixcert/core/types.h"

namespace mixcert {

// Elementwise activation functions: values, slopes, Lipschitz constants, and the
// mean-square change across a cell of a quantizer (the paper's local-Lipschitz remark).

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
  Relu6,
  Hardtanh,
  Hardsigmoid,
  Hardswish,
  Selu,
  Celu,
  Softsign,
  Mish,
  LogSigmoid,
  Tanhshrink,
};

/// All functions, in the order of the enum. What the library knows of each: src/activation/functions.
const std::vector<ActivationFunction>& all_activation_functions();
std::string_view to_string(ActivationFunction function);
/// Throws InvalidArgument naming the known functions. prelu with one slope is leaky_relu, whose slope may be
/// any finite number.
ActivationFunction parse_activation_function(std::string_view name);

/// What functions depend on beside their argument; each reads its own members.
struct ActivationParameters {
  double slope = 0.01;               ///< of leaky_relu on negative arguments; finite
  double lower = -1.0, upper = 1.0;  ///< of hardtanh; finite, lower < upper
  double alpha = 1.0;                ///< of elu and celu; finite, positive

  friend bool operator==(const ActivationParameters&, const ActivationParameters&) = default;
};

/// A member of ActivationParameters by its name in files.
struct ActivationParameter {
  const char* name;
  double ActivationParameters::*member;
};

/// Those that a function depends on.
const std::vector<ActivationParameter>& parameters_of(ActivationFunction function);

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
  /// Throws InvalidArgument for parameters out of their ranges.
  Activation(ActivationFunction function, const ActivationParameters& parameters);

  [[nodiscard]] ActivationFunction function() const { return function_; }
  [[nodiscard]] const ActivationParameters& parameters() const { return parameters_; }
  [[nodiscard]] double slope() const { return parameters_.slope; }
  /// f(c x) = c f(x) for all c > 0: identity, relu, leaky_relu.
  [[nodiscard]] bool is_positively_homogeneous() const;

  /// gelu is x Phi(x) (the exact one), softplus is log(1 + e^x); all formulas: docs/theory/activations.md.
  [[nodiscard]] double operator()(double x) const;
  [[nodiscard]] Matrix apply(ConstMatrixRef x) const;
  /// Right derivative.
  [[nodiscard]] double derivative(double x) const;
  /// The smallest l with |f(x) - f(y)| <= l |x - y|.
  [[nodiscard]] UpperBound lipschitz() const;
  /// Contains every difference quotient (A.1).
  [[nodiscard]] SlopeRange slope_range() const;
  /// sup |f'| over [lower, upper] (ends may be infinite): f' is monotone between the zeros of
  /// f'', so ends and zeros suffice (A.2).
  [[nodiscard]] UpperBound max_slope(double lower, double upper) const;
  /// No less than |f|; infinite where f is not bounded.
  [[nodiscard]] double largest_value() const;
  /// |computed f(x) - f(x)| is at most this for all |x| <= magnitude.
  [[nodiscard]] double value_error(double magnitude) const;
  /// Upper bound of E[(f(m + s x) - f(m + s center))^2; lower < x <= upper] for x ~ N(0,1):
  /// exact for piecewise linear functions, piecewise local slopes for the others (A.3).
  /// Never above lipschitz^2 s^2 E[(x - center)^2; lower < x <= upper].
  [[nodiscard]] UpperBound mean_square_change(double mean, double deviation, double center, double lower,
                                              double upper) const;
  [[nodiscard]] const ActivationTraits& traits() const { return *traits_; }
  /// The same function with the same parameters.
  friend bool operator==(const Activation&, const Activation&) = default;

 private:
  ActivationFunction function_;
  ActivationParameters parameters_;
  const ActivationTraits* traits_;
};

// The activation of a layer: one function on every neuron but those that pass unchanged. The latter carry
// values past an activation: the skip of a residual block, the second argument of a maximum (L.4).

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
  [[nodiscard]] UpperBound lipschitz() const;
  /// |computed - exact| of one value, all |x| <= magnitude.
  [[nodiscard]] double value_error(double magnitude) const { return common_.value_error(magnitude); }
  /// |f(0)| of the common function.
  [[nodiscard]] double at_zero() const;

 private:
  Activation common_;
  std::vector<bool> unchanged_;
};

}  // namespace mixcert

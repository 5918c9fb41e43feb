// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Constants are those of (V.5), and of the slopes' ranges of docs/theory/activations.md.
#include "activation.h"

#include <map>

namespace mixcert_check {
namespace {

Ball piecewise_linear(const Activation& f, const Ball& z) {
  return f.right() * positive_part(z) - f.left() * positive_part(-z);
}

Ball tangent(const Activation&, const Ball& z) { return hyperbolic_tangent(z); }

/// 1 / (1 + e^-z), from the side where the exponential is small.
Ball logistic(const Activation&, const Ball& z) {
  const Ball power = exponential(z.is_negative() ? z : -z);
  return (z.is_negative() ? power : Ball(1.0)) / (Ball(1.0) + power);
}

Ball error(const Activation&, const Ball& z) { return error_function(z); }

Ball gaussian_linear_unit(const Activation&, const Ball& z) {
  return z * Ball(0.5) * complementary_error(-z / root(2.0));
}

Ball sigmoid_linear_unit(const Activation& f, const Ball& z) { return z * logistic(f, z); }

/// log(1 + e^z)
Ball soft_plus(const Activation&, const Ball& z) {
  return z.is_negative() ? log_one_plus(exponential(z)) : log_one_plus(exponential(-z)) + z;
}

struct Smooth {
  Ball (*value)(const Activation&, const Ball&);
  double width, slope;   ///< |f'| <= slope where |Im z| <= width
  Ball lowest, highest;  ///< slopes on the line
};

/// 2 / pi^{1/2}
Ball steepest_error_function() { return Ball(2.0) / root(Ball::pi()); }

/// P(N(0,1) < -t) - t phi(t), t = 2^{1/2}: gelu'' = phi(z) (2 - z^2), so that gelu' is least at -t; gelu'(-z)
/// = 1 - gelu'(z).
Ball least_gelu_slope() {
  const Ball t = root(2.0);
  return complementary_error(1.0) / 2.0 - t * exponential(-1.0) / root(Ball(2.0) * Ball::pi());
}

/// Numbers are rounded outward from those of (V.5): widths pi/4 = 0.7853.., pi/2 = 1.5707.. and 1.
const std::map<std::string, Smooth>& smooth_functions() {
  static const std::map<std::string, Smooth> functions = {
      {"tanh", {tangent, 0.7853, 2.0, 0.0, 1.0}},
      {"sigmoid", {logistic, 1.5707, 0.5, 0.0, 0.25}},
      {"softplus", {soft_plus, 1.5707, 1.0, 0.0, 1.0}},
      // (1 + t)/2 + 1/(4 c^{1/2}) + w/(4c), c = 1/2, t = 1: 2.1390; slopes: their least is
      // -0.09983932012886694 (A.2)
      {"silu", {sigmoid_linear_unit, 1.5707, 2.14, -0.099839320128867, 1.099839320128867}},
      // 1.12838 e^{w^2} = 3.0673
      {"erf", {error, 1.0, 3.0674, 0.0, steepest_error_function()}},
      // 1 + e^{1/2} (0.7979 + 0.24198) = 2.7146
      {"gelu", {gaussian_linear_unit, 1.0, 2.7147, least_gelu_slope(), Ball(1.0) - least_gelu_slope()}},
  };
  return functions;
}

}  // namespace

Activation Activation::of(const Json& entry) {
  const std::string& name = entry.at("function").text();
  const bool is_leaky = name == "leaky_relu" || name == "prelu";
  for (const auto& [key, value] : entry.object()) {
    if (key != "type" && key != "function" && key != "name" && key != "inputs" &&
        !(key == "slope" && is_leaky)) {
      throw BadFile("not covered: activation '" + name + "' with '" + key + "'");
    }
  }
  Activation made;
  const auto smooth = smooth_functions().find(name);
  if (smooth != smooth_functions().end()) {
    made.strip_ = Strip{smooth->second.width, smooth->second.slope};
    made.value_ = smooth->second.value;
    made.lowest_ = smooth->second.lowest;
    made.highest_ = smooth->second.highest;
    made.has_convex_size_ = name == "softplus";
    if (name == "tanh" || name == "sigmoid" || name == "erf") made.largest_value_ = Ball(1.0);
    return made;
  }
  if (name != "identity" && name != "relu" && !is_leaky) {
    throw BadFile("not covered: activation '" + name + "'");
  }
  const Json* slope = entry.find("slope");
  made.left_ = name == "identity" ? 1.0 : name == "relu" ? 0.0 : slope != nullptr ? slope->number() : 0.01;
  made.right_ = 1.0;
  made.lowest_ = smaller(made.left_, made.right_);
  made.highest_ = larger(made.left_, made.right_);
  made.value_ = piecewise_linear;
  return made;
}

}  // namespace mixcert_check

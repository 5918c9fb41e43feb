// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// All that the library knows about an activation function, one record each (src/activation/functions). No
// other source tells functions apart where a bound depends on it. Every field must be given: a function in
// the enum without its record, and a record without one of its fields, do not compile. What proofs assume of
// every smooth function is in docs/development.md, "Adding an activation".
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <variant>

#include "activation/quadrature_rules.h"
#include "core/given.h"
#include "mixcert/activation/activation.h"

namespace mixcert {

/// Bounds over the strip |Im z| <= half_width, (V.5).
struct StripBound {
  double half_width;
  double value;      ///< sup |f|, infinite if f is unbounded
  double slope;      ///< sup |f'|
  double curvature;  ///< sup |f''|
};

/// No less than sup |f''| and sup |f'''| (Y.11).
struct Bends {
  double second = 0.0;
  double third = 0.0;
};

/// f(z) = z for z >= 0, left z for z < 0: positively homogeneous, and |f| is convex.
struct PiecewiseLinear {
  Given<double (*)(double slope)> left;
  Given<bool> has_kink;
  Given<bool> is_computed_exactly;
};

/// Where f' of a smooth function turns, (A.1) and (A.2).
class SlopeShape {
 public:
  /// f' >= 0, largest at zero, falling on both sides.
  static constexpr SlopeShape peak_at_zero() { return {true, 0.0}; }
  /// f' >= 0, monotone.
  static constexpr SlopeShape monotone() { return {false, std::numeric_limits<double>::infinity()}; }
  /// f'(x) + f'(-x) = 1; f'' is zero at `turn` > 0 and at -turn and nowhere else.
  static constexpr SlopeShape symmetric_about_half(double turn) { return {false, turn}; }

  [[nodiscard]] constexpr bool has_peak() const { return has_peak_; }
  [[nodiscard]] constexpr bool is_monotone() const {
    return turn_ == std::numeric_limits<double>::infinity();
  }
  /// Can f' be negative? Then it is 1 - sup f' at least.
  [[nodiscard]] constexpr bool is_symmetric_about_half() const { return !has_peak_ && !is_monotone(); }
  /// Zeros of f''; infinite where there are none.
  [[nodiscard]] constexpr std::array<double, 2> turns() const { return {-turn_, turn_}; }

 private:
  constexpr SlopeShape(bool has_peak, double turn) : has_peak_(has_peak), turn_(turn) {}
  bool has_peak_;
  double turn_;
};

/// Replaces every z.
using NodeFunction = void (*)(NodeArray& z, double slope);
/// There is no faster way than the function of one point.
inline constexpr NodeFunction kOneByOne = nullptr;

/// What becomes of a smooth function far out: (V.6), (V.8).
class Limits {
 public:
  /// |f| <= 1 and sup f - inf f = 2 half.
  static constexpr Limits bounded(double half) { return {half, nullptr, nullptr}; }
  /// |f - relu| <= 1. For m > 0 values are taken less their line: f(z) - z, at a point and at nodes.
  static constexpr Limits line(double (*of_point)(double z), void (*of_nodes)(NodeArray& z)) {
    return {std::numeric_limits<double>::infinity(), of_point, of_nodes};
  }

  [[nodiscard]] constexpr bool is_bounded() const { return rest_ == nullptr; }
  /// No less than |f|.
  [[nodiscard]] constexpr double largest() const {
    return is_bounded() ? 1.0 : std::numeric_limits<double>::infinity();
  }
  /// Half of sup f - inf f.
  [[nodiscard]] constexpr double half_range() const { return half_range_; }
  [[nodiscard]] double rest(double z) const { return rest_(z); }
  void rest_at_nodes(NodeArray& z) const { rest_at_nodes_(z); }

 private:
  constexpr Limits(double half, double (*of_point)(double), void (*of_nodes)(NodeArray&))
      : half_range_(half), rest_(of_point), rest_at_nodes_(of_nodes) {}
  double half_range_;
  double (*rest_)(double z);
  void (*rest_at_nodes_)(NodeArray& z);
};

/// f(z) = constant + height tanh(rate z), whose size off the line is known point by point (Y.3).
struct TanhForm {
  Given<double> height;
  Given<double> rate;
  /// Functions without such a form have height zero.
  static constexpr TanhForm none() { return {0.0, 0.0}; }
  [[nodiscard]] constexpr bool exists() const { return height > 0.0; }
  [[nodiscard]] constexpr double steepest() const { return height * rate; }
};

/// Analytic in a strip around the real line.
struct Analytic {
  Given<StripBound (*)(double half_width)> strip;  ///< (V.5), before its margin for rounding
  /// The strip that makes the trapezoidal rule need few nodes: wide strips allow long steps, but the bounds
  /// grow. Six deviations at most are used.
  Given<double (*)(double deviation)> widest_strip;
  /// Of panels: |Im z|, and where f differs from its limits by a unit of roundoff or more, |z| <= zone (V.3).
  Given<double> panel_half_width;
  Given<double> zone;
  Given<TanhForm> tanh_form;
  /// On an interval, |z| between nearest and farthest; steepest >= |f'| at its ends, and of its own side of
  /// zero unless nearest = 0.
  Given<Bends (*)(double nearest, double farthest, double steepest)> bends;
};

/// f(z) = z for z >= 0, entire for z < 0, f' continuous.
struct LeftAnalytic {
  Given<ActiveZone> zone;         ///< where f is not linear up to a unit of roundoff (V.3)
  Given<StripBound> panel_bound;  ///< in the ellipses of panels
  /// In the ellipses of (Y.3): |f'| for panels of this deviation, |Im z|, |z - middle of the panel|.
  Given<double (*)(double deviation)> ellipse_slope;
  Given<double> ellipse_height;
  Given<double> ellipse_reach;
  /// On an interval of z < 0.
  Given<Bends (*)(double steepest)> bends;
};

struct Smooth {
  Given<Limits> limits;
  Given<SlopeShape> slopes;
  Given<double> curvature;  ///< sup |f''|, at most 1
  /// f'', given f and f' at the same point; of the left side at a kink of f'.
  Given<double (*)(double z, double value, double slope)> second_derivative;
  Given<bool> has_convex_size;  ///< is |f| convex? (Y.27)
  Given<std::variant<Analytic, LeftAnalytic>> domain;
};

struct ActivationTraits {
  Given<ActivationFunction> function;
  Given<std::string_view> name;
  Given<bool> has_slope;  ///< does f depend on Activation::slope()?
  /// f(x), and its right derivative, to 64 units of roundoff of numbers below 2.
  Given<double (*)(double x, double slope)> value;
  Given<double (*)(double x, double slope)> derivative;
  /// The same at many points.
  Given<NodeFunction> values_at_nodes;
  Given<NodeFunction> slopes_at_nodes;
  Given<std::variant<PiecewiseLinear, Smooth>> shape;

  /// Null where the function is of another kind.
  [[nodiscard]] const PiecewiseLinear* linear() const { return std::get_if<PiecewiseLinear>(&shape.get()); }
  [[nodiscard]] const Smooth* smooth() const { return std::get_if<Smooth>(&shape.get()); }
  [[nodiscard]] const Analytic* analytic() const {
    return smooth() != nullptr ? std::get_if<Analytic>(&smooth()->domain.get()) : nullptr;
  }
};

/// Null for a number that is no function of the enum.
const ActivationTraits* find_traits(ActivationFunction function);
/// Throws InvalidArgument there.
const ActivationTraits& traits_of(ActivationFunction function);

}  // namespace mixcert

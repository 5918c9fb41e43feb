// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// All that the library knows about an activation function, one record each (src/activation/functions). No
// other source tells functions apart where a bound depends on it. Every field must be given: a function in
// the enum without its record, and a record without one of its fields, do not compile. What proofs assume of
// every smooth function is in docs/development.md, "Adding an activation".
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
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
  double slope;      ///< sup |f'| and, where values are taken less their line, sup |f' - 1|
  double curvature;  ///< sup |f''|
};

/// No less than sup |f''| and sup |f'''| (Y.11).
struct Bends {
  double second = 0.0;
  double third = 0.0;
};

/// Which members of ActivationParameters a function depends on.
enum class ParameterSet {
  None,
  Slope,
  Range,  ///< lower and upper
  Alpha,
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
  static constexpr SlopeShape peak_at_zero() { return {Kind::Peak, 0.0, 0.0, 0.0}; }
  /// f' >= 0, zero at zero, rising on both sides.
  static constexpr SlopeShape trough_at_zero() { return {Kind::Trough, 0.0, 0.0, 0.0}; }
  /// f' >= 0, monotone.
  static constexpr SlopeShape monotone() { return {Kind::Monotone, -kNever, kNever, 0.0}; }
  /// f'(x) + f'(-x) = 1; f'' is zero at `turn` > 0 and at -turn and nowhere else.
  static constexpr SlopeShape symmetric_about_half(double turn) {
    return {Kind::Symmetric, -turn, turn, 0.0};
  }
  /// f'' is zero at `left` and `right` and nowhere else; f' is `least` at least.
  static constexpr SlopeShape two_turns(double left, double right, double least) {
    return {Kind::Other, left, right, least};
  }

  [[nodiscard]] constexpr bool has_peak() const { return kind_ == Kind::Peak; }
  [[nodiscard]] constexpr bool has_trough() const { return kind_ == Kind::Trough; }
  [[nodiscard]] constexpr bool is_monotone() const { return kind_ == Kind::Monotone; }
  /// Then f' is 1 - sup f' at least.
  [[nodiscard]] constexpr bool is_symmetric_about_half() const { return kind_ == Kind::Symmetric; }
  /// No more than f'; not of functions that are symmetric about half.
  [[nodiscard]] constexpr double least() const { return least_; }
  /// Zeros of f''; infinite where there are none.
  [[nodiscard]] constexpr std::array<double, 2> turns() const { return {left_, right_}; }

 private:
  enum class Kind { Peak, Trough, Monotone, Symmetric, Other };
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  constexpr SlopeShape(Kind kind, double left, double right, double least)
      : kind_(kind), left_(left), right_(right), least_(least) {}
  Kind kind_;
  double left_, right_, least_;
};

/// Replaces every z.
using NodeFunction = void (*)(NodeArray& z, const ActivationParameters& with);
/// There is no faster way than the function of one point.
inline constexpr NodeFunction kOneByOne = nullptr;

/// What becomes of a smooth function far out: (V.6), (V.8).
class Limits {
 public:
  /// |f| <= 1 and sup f - inf f = 2 half.
  static constexpr Limits bounded(double half) { return {half, 0.0, 0.0, nullptr, nullptr}; }
  /// |f - relu| <= 1. For m > 0 values are taken less their line: f(z) - z, at a point and at nodes.
  static constexpr Limits line(double (*of_point)(double z), void (*of_nodes)(NodeArray& z)) {
    return lines(0.0, 1.0, of_point, of_nodes);
  }
  /// |f(z) - left z| <= 1 for z < 0, |f(z) - right z| <= 1 for z >= 0. Slopes are 0 or 1; where m lies on a
  /// side of slope 1, values are taken less their line.
  static constexpr Limits lines(double left, double right, double (*of_point)(double z),
                                void (*of_nodes)(NodeArray& z)) {
    return {std::numeric_limits<double>::infinity(), left, right, of_point, of_nodes};
  }

  [[nodiscard]] constexpr bool is_bounded() const { return rest_ == nullptr; }
  /// No less than |f|.
  [[nodiscard]] constexpr double largest() const {
    return is_bounded() ? 1.0 : std::numeric_limits<double>::infinity();
  }
  /// Half of sup f - inf f.
  [[nodiscard]] constexpr double half_range() const { return half_range_; }
  [[nodiscard]] constexpr double left() const { return left_; }
  [[nodiscard]] constexpr double right() const { return right_; }
  /// Are values taken less their line for this mean?
  [[nodiscard]] constexpr bool follows_line(double mean) const {
    return (mean > 0.0 ? right_ : left_) == 1.0;
  }
  [[nodiscard]] double rest(double z) const { return rest_(z); }
  void rest_at_nodes(NodeArray& z) const { rest_at_nodes_(z); }

 private:
  constexpr Limits(double half, double left, double right, double (*of_point)(double),
                   void (*of_nodes)(NodeArray&))
      : half_range_(half), left_(left), right_(right), rest_(of_point), rest_at_nodes_(of_nodes) {}
  double half_range_, left_, right_;
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

/// A few numbers, rising.
class Cuts {
 public:
  constexpr Cuts() = default;
  constexpr Cuts(std::initializer_list<double> list) {
    for (const double z : list) push_back(z);
  }
  constexpr void push_back(double z) { at_[count_++] = z; }
  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  [[nodiscard]] constexpr double operator[](std::size_t i) const { return at_[i]; }
  [[nodiscard]] constexpr const double* begin() const { return at_.data(); }
  [[nodiscard]] constexpr const double* end() const { return at_.data() + count_; }

 private:
  std::array<double, 48> at_{};
  std::size_t count_ = 0;
};

/// |f(z) - left z| <= distance for z < 0, |f(z) - right z| <= distance for z >= 0; |f| <= largest.
struct FarLines {
  double left, right, distance, largest;
};

/// Analytic pieces with kinks between them (V.9). No fact of (Y.3), (Y.11) and (Y.24) is known of such a
/// function: theorems that need one have that as a precondition (has_neuron_nodes).
struct Pieced {
  Given<Cuts (*)(const ActivationParameters& with)> kinks;  ///< ends of pieces
  /// Kinks and, between them, further ends of panels: f continued from such a stretch is analytic in the
  /// ellipses of its panels, however it is cut.
  Given<Cuts (*)(const ActivationParameters& with)> panel_ends;
  /// f(from + step) - f(from), both ends in this piece, counted from the left: to 64 units of roundoff of
  /// sup |f'| |step|.
  Given<double (*)(std::size_t piece, double from, double step, const ActivationParameters& with)> difference;
  /// Contains f' on [lower, upper]; ends may be infinite.
  Given<SlopeRange (*)(double lower, double upper, const ActivationParameters& with)> slopes;
  /// No less than |f'|, continued from its stretch, in the ellipses of panels of [lower, upper].
  Given<double (*)(double lower, double upper, const ActivationParameters& with)> panel_slope;
  Given<FarLines (*)(const ActivationParameters& with)> far;
  /// Beyond, only `far` is used.
  Given<double (*)(const ActivationParameters& with)> largest_deviation;
  Given<bool> is_linear;  ///< are all pieces lines?
};

struct ActivationTraits {
  Given<ActivationFunction> function;
  Given<std::string_view> name;
  Given<ParameterSet> parameters;
  /// f(x), and its right derivative, to 64 units of roundoff of numbers below 2.
  Given<double (*)(double x, const ActivationParameters& with)> value;
  Given<double (*)(double x, const ActivationParameters& with)> derivative;
  /// The same at many points.
  Given<NodeFunction> values_at_nodes;
  Given<NodeFunction> slopes_at_nodes;
  Given<std::variant<PiecewiseLinear, Smooth, Pieced>> shape;

  /// Null where the function is of another kind.
  [[nodiscard]] const PiecewiseLinear* linear() const { return std::get_if<PiecewiseLinear>(&shape.get()); }
  [[nodiscard]] const Smooth* smooth() const { return std::get_if<Smooth>(&shape.get()); }
  [[nodiscard]] const Pieced* pieced() const { return std::get_if<Pieced>(&shape.get()); }
  [[nodiscard]] const Analytic* analytic() const {
    return smooth() != nullptr ? std::get_if<Analytic>(&smooth()->domain.get()) : nullptr;
  }
};

/// Null for a number that is no function of the enum.
const ActivationTraits* find_traits(ActivationFunction function);
/// Throws InvalidArgument there.
const ActivationTraits& traits_of(ActivationFunction function);
/// elu with alpha = 1 is smooth, with another alpha it is not.
const ActivationTraits& traits_of(ActivationFunction function, const ActivationParameters& parameters);

}  // namespace mixcert

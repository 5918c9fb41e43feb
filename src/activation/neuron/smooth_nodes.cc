// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Rules of smooth activations: docs/theory/stein.md (Y.3). They take the trapezoidal rule (V.4) in the strip
// that allows the longest step; elu, and strips too narrow for it, take panels (V.3). How small the error has
// to be follows from what the nodes are for.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <variant>

#include "activation/neuron/neuron_nodes.h"
#include "activation/strip_bound.h"

namespace mixcert {
namespace {

// e^-28: the accuracy aimed at where nothing is damped; exponential moments are bounds only, and need less.
constexpr double kWantedExponent = 28.0;
constexpr double kWantedForMoments = 10.0;
// log(2 * 1.01) of (V.4), log(6e-18) of (V.3).
constexpr double kLogTrapezoid = 0.7032;
constexpr double kLogPanels = -39.65;
// Ellipses of panels reach this far from the middle of their panel, and from the line.
constexpr double kReach = 1.6;
constexpr double kHeight = 1.41;
constexpr double kLargestRadius = 1e3;
// One reach is enough where growth is below this, as a logarithm.
constexpr double kSmallGrowth = 8.0;
// With less growth than this a narrower strip allows no longer step.
constexpr double kLittleGrowth = 4.0;
// The coarsest rule's step.
constexpr double kLongEnough = 0.8;
// Half widths that are tried, as parts of the widest. Wide neurons of gelu and silu, which grow fast off the
// line, have a rule in narrow strips only; where a wider one has a rule they are not tried.
constexpr double kStripShares[] = {1.0, 0.75, 0.5, 0.35, 0.25, 0.18};
constexpr double kNarrowStrips = 0.5;

/// The largest p t + q t^2, 0 <= t <= most; p >= 0.
double largest_square(double p, double q, double most) {
  if (q < 0.0 && p < -2.0 * q * most) return -0.25 * p * p / q;
  return most * (p + q * most);
}

/// Zone outside of which the function is linear up to a unit of roundoff, and the strip of its panels (V.3).
struct PanelStrip {
  ActiveZone zone;
  double slope;   ///< of f in the ellipses
  double height;  ///< |Im z| there
  double reach;   ///< |z - middle of the panel| there
};

PanelStrip panel_strip(const Analytic& function, double /*deviation*/) {
  const double width = function.panel_half_width;
  return {panel_zone(function), strip_bound(function, width).slope, width, 1.14 * width};
}

PanelStrip panel_strip(const LeftAnalytic& function, double deviation) {
  return {function.zone, function.ellipse_slope(deviation), function.ellipse_height, function.ellipse_reach};
}

TanhForm tanh_form(const Activation& f) {
  const Analytic* analytic = f.traits().analytic();
  return analytic != nullptr ? analytic->tanh_form.get() : TanhForm::none();
}

/// |Im f| in a strip: |Im tanh(x + iy)| = |sin 2y|/(cosh 2x + cos 2y) <= tan |y|, and 1/cos^2 = 1 + tan^2.
double imaginary_part(const TanhForm& form, const StripBound& strip) {
  return form.exists() ? enlarged(form.height * std::sqrt(strip.slope / form.steepest() - 1.0)) : INFINITY;
}

/// sup |f'| around the mean.
struct LocalSlope {
  double on_line;      ///< |z - m| <= distance
  double sinh_square;  ///< of rate times the point of that interval nearest to zero
  TanhForm form;

  LocalSlope(const Activation& f, double m, double distance) : form(tanh_form(f)) {
    on_line = distance < INFINITY ? f.max_slope(m - distance, m + distance).upper : kSteepest;
    const double nearest = reduced(positive_part(std::abs(m) - distance));
    const double sine = std::sinh(std::min(50.0, form.rate * nearest));
    sinh_square = reduced(sine * sine);
  }
  /// |tanh'| = 1/(sinh^2 x + cos^2 y); infinite for functions without such a formula.
  [[nodiscard]] double in_strip(double width) const {
    if (!form.exists()) return INFINITY;
    const double cosine = std::cos(form.rate * width);
    return enlarged(form.steepest() / (sinh_square + cosine * cosine));
  }
};

}  // namespace

double NeuronNodes::growth_for(const NeuronReach& reach, const NodeDemand& demand) const {
  const double moved = reach.imaginary * neuron_.noise;
  return largest_square(std::abs(neuron_.weight) * reach.imaginary, 0.5 * (moved * moved - demand.decay),
                        demand.frequency);
}

double NeuronNodes::wanted_exponent(const NeuronReach& reach, const NodeDemand& demand) const {
  const double transform =
      (demand.decay > 0.0 ? demand.exponent : kWantedExponent) + growth_for(reach, demand);
  if (!(demand.order > 0.0)) return transform;
  return std::max(transform, kWantedForMoments + growth(demand.order, reach).peak());
}

double NeuronNodes::radius_for(const NeuronReach& reach, const NodeDemand& demand) const {
  const double alpha = demand.frequency * std::abs(neuron_.weight);
  const double beta = 0.5 * demand.frequency * demand.frequency * neuron_.noise * neuron_.noise;
  const GrowthExponent g = growth(demand.order, reach);
  const double for_moments = (g.linear + std::sqrt(2.0 * g.peak() + 60.0)) / (1.0 - 2.0 * g.square);
  const double for_transform = std::sqrt(2.0 * reach.imaginary * (alpha + beta * reach.imaginary) + 60.0);
  const double radius = std::max({11.0, for_moments, for_transform});
  return radius < kLargestRadius ? radius : INFINITY;
}

template <class ReachOf>
void NeuronNodes::shrink(const ReachOf& reach_of, const NodeDemand& demand) {
  reaches_ = NeuronReaches(reach_of(INFINITY));
  if (!(demand.order > 0.0) && growth_for(reaches_.front(), demand) < kSmallGrowth) return;
  while (reaches_.size() < NeuronReaches::kMost) {
    const double radius = radius_for(reaches_.front(), demand);
    if (!(radius < 0.9 * reaches_.front().radius)) break;
    NeuronReach inner = reach_of(radius);
    inner.radius = radius;
    const bool gains =
        inner.excursion < 0.9 * reaches_.front().excursion || inner.slope < 0.9 * reaches_.front().slope;
    if (!gains) break;
    reaches_.push_front(inner);
  }
}

void NeuronNodes::place_smooth(const NodeDemand& demand) {
  const Activation& f = *neuron_.activation;
  const Analytic* function = f.traits().analytic();
  if (function == nullptr) return place_smooth_panels(demand);
  const TanhForm& form = function->tanh_form;
  const double s = neuron_.deviation;
  const double widest = favourable_half_width(*function, s);
  const auto shrink_in = [&](double width) {
    const StripBound strip = strip_bound(*function, width);
    const double imaginary = imaginary_part(form, strip);
    bound_ = strip.value;
    shrink(
        [&](double radius) {
          double slope = strip.slope, on_line = kSteepest;
          if (radius < INFINITY) {
            const LocalSlope local(f, neuron_.mean, radius * s);
            slope = std::min(slope, local.in_strip(width));
            on_line = std::min(on_line, local.on_line);
          }
          const double moved = enlarged(slope * width);
          return NeuronReach{on_line * s, std::min(moved, imaginary), moved};
        },
        demand);
  };
  double longest = 0.0, half_width = 0.0, bound = 0.0;
  NeuronReaches best;
  for (const double share : kStripShares) {
    if (share < kNarrowStrips && trapezoid_rule(longest) != nullptr) break;
    const double width = share * widest;
    shrink_in(width);
    const double a = width / s;
    const double exponent = wanted_exponent(reaches_.front(), demand);
    const double step = 2.0 * std::numbers::pi * a / (0.5 * a * a + exponent);
    if (step < longest) break;
    longest = step;
    half_width = width;
    best = reaches_;
    bound = bound_;
    if (longest > kLongEnough || exponent < demand.exponent + kLittleGrowth) break;
  }
  const WeightedNodes* rule = longest > 0.0 ? trapezoid_rule(longest) : nullptr;
  if (rule == nullptr) return place_smooth_panels(demand);
  reaches_ = best;
  bound_ = bound;
  charge_trapezoid(*function, half_width, rule->step, demand);
  set_values(rule->nodes, rule->weights);
}

/// (V.4) in the strip of this half width, and in half of it where the factor decays.
void NeuronNodes::charge_trapezoid(const Analytic& function, double half_width, double step,
                                   const NodeDemand& demand) {
  const double a = half_width / neuron_.deviation;
  log_rule_error_ = kLogTrapezoid + a * (0.5 * a - 2.0 * std::numbers::pi / step);
  if (!(demand.decay > 0.0)) return;
  const StripBound narrow = strip_bound(function, 0.5 * half_width);
  log_narrow_error_ = kLogTrapezoid + 0.5 * a * (0.25 * a - 2.0 * std::numbers::pi / step);
  narrow_imaginary_ =
      std::min(enlarged(narrow.slope * narrow.half_width), imaginary_part(function.tanh_form, narrow));
}

void NeuronNodes::place_smooth_panels(const NodeDemand& demand) {
  const Activation& f = *neuron_.activation;
  const Smooth& smooth = *f.traits().smooth();
  const Analytic* analytic = f.traits().analytic();
  const PanelStrip strip = std::visit(
      [&](const auto& function) { return panel_strip(function, neuron_.deviation); }, smooth.domain.get());
  const double s = neuron_.deviation;
  WeightedNodes rule;
  place_panels(strip.zone, neuron_.mean, s, rule);
  const bool is_bounded = smooth.limits.get().is_bounded();
  const double beyond = is_bounded ? 0.0 : 1.0;
  bound_ = is_bounded && analytic != nullptr ? strip_bound(*analytic, strip.height).value : INFINITY;
  shrink(
      [&](double radius) {
        const LocalSlope local(f, neuron_.mean, radius * s);
        const double on_line = std::min(kSteepest, local.on_line);
        const double in_strip = std::min(strip.slope, local.in_strip(strip.height));
        return NeuronReach{
            on_line * s,
            enlarged(std::max(in_strip * std::min(kHeight * s, strip.height), beyond * kHeight * s)),
            enlarged(kReach * s * on_line +
                     std::max(in_strip * std::min(kReach * s, strip.reach), beyond * kReach * s))};
      },
      demand);
  log_rule_error_ = kLogPanels;
  set_values(rule.nodes, rule.weights);
}

}  // namespace mixcert

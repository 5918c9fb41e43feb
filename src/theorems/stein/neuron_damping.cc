// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "activation/activation_traits.h"
#include "core/normal.h"
#include "mixcert/core/rounding.h"
#include "theorems/stein/noise_transform.h"

namespace mixcert {

namespace {

/// Where y^2 E a^4 is below this part of y E a^2, moments are good enough.
constexpr double kFewMoments = 0.02;

/// int_k^inf phi(x) exp(-y (x - k)^2) dx. `exponent` is y k^2, which is ordinary where y may underflow and
/// k^2 overflow: a neuron that is nearly constant.
double branch(double k, double y, double exponent) {
  const double scale = 1.0 / (1.0 + 2.0 * y);
  const double root = std::sqrt(scale);
  return std::exp(-exponent * scale) * root * normal_tail(k * root);
}

}  // namespace

NeuronDamping::NeuronDamping(const Activation& activation, double m, double s, const NeuronKernels& kernels)
    : kernels_(&kernels),
      is_linear_(s > 0.0 && activation.traits().linear() != nullptr),
      kink_(is_linear_ ? -m / s : 0.0),
      right_(s * s),
      mean_(m),
      least_(positive_part(kernels.second.lower())),
      most_(kernels.second.magnitude()),
      fourth_(kernels.fourth) {
  if (!is_linear_) return;
  below_ = normal_tail(-kink_);
  left_slope_ = activation.traits().linear()->left(activation.slope());
}

bool NeuronDamping::is_small(double y) const { return y * fourth_ <= kFewMoments * least_; }

NeuronDamping::Range NeuronDamping::of_lines(double y) const {
  // Products from the left: y m is ordinary where m^2 alone might not be.
  const double left = y * left_slope_ * left_slope_;
  const double sum = branch(kink_, y * right_, y * mean_ * mean_) +
                     (left_slope_ != 0.0 ? branch(-kink_, left * right_, left * mean_ * mean_) : below_);
  return {reduced(sum), enlarged(sum)};
}

NeuronDamping::Range NeuronDamping::of_nodes(double y) const {
  const NeuronNodes& nodes = *kernels_->nodes;
  const double mean = (nodes.weights() * (-y * nodes.values().square()).exp()).sum();
  // |d/da exp(-y a^2)| < y^{1/2}.
  const double error = nodes.transform_error(0.0, y) + std::sqrt(y) * nodes.value_error() + 1e-12;
  return {mean - error, mean + error};
}

NeuronDamping::Range NeuronDamping::at(double y) const {
  // exp(-t) >= 1 - t and exp(-t) <= 1 - t + t^2/2 for t >= 0; log(1 + t) <= t.
  const double moments = std::min(0.0, enlarged(0.5 * y * y * fourth_) - y * least_);
  if (is_small(y))
    return {std::max(1.0 - enlarged(y * most_), kLeastDamping), 1.0 + reduced(moments), moments};
  Range range{};
  if (is_linear_) {
    range = of_lines(y);
  } else if (kernels_->nodes) {
    range = of_nodes(y);
    range = {std::max(range.lower, std::exp(-y * most_)), std::min(range.upper, 1.0 + moments)};  // Jensen
  } else {  // a is constant
    range = {std::exp(-y * most_), std::exp(-y * least_)};
  }
  range.lower = std::max(reduced(range.lower), kLeastDamping);
  range.upper = std::clamp(enlarged(range.upper), kLeastDamping, 1.0);
  range.logarithm = std::log(range.upper);
  return range;
}

// docs/theory/stein.md (Y.12).

namespace {

// The last argument needs the node behind it.
constexpr int kTableNodes = kBelow + kArgumentCount + 1;
constexpr double kRootOfTwo = 1.4142135623730951;

/// Nodes for the scale 1.
struct UnitNodes {
  std::array<double, kTableNodes + 1> at;

  UnitNodes() {
    for (int i = 0; i <= kTableNodes; ++i) {
      const double power = std::ldexp(i % 2 == 0 ? 1.0 : kRootOfTwo, i / 2);
      at[static_cast<std::size_t>(i)] = kLeastArgument * std::ldexp(power, -kBelow / 2);
    }
  }
};

/// From a node to the next one: `second` is E a^2 times what y grows by. e^t - 1 <= t/(1 - t).
double first_rise(double second) { return second < 0.5 ? second / (1.0 - second) : INFINITY; }

/// The same, where phi was divided by p from the last node to this one: at most p^{root of 2} - 1, and p^r <=
/// 1 + r (p - 1).
double next_rise(double p) { return p * (1.0 + (kRootOfTwo - 1.0) * (p - 1.0)) - 1.0; }

}  // namespace

DampingTables::DampingTables(std::vector<NeuronDamping> neurons, Vector scales)
    : neurons_(std::move(neurons)), scales_(std::move(scales)) {
  const auto count = static_cast<Index>(neurons_.size());
  logarithm_ = upper_ = inverse_ = rise_ = Matrix::Zero(kTableNodes, count);
}

void DampingTables::know(int arguments) {
  const int wanted = std::min(kTableNodes, kBelow + arguments + 1);
  for (Index j = 0; j < upper_.cols(); ++j) {
    if (!(scales_(j) > 0.0)) continue;
    for (int i = known_; i < wanted; ++i) know_node(j, i);
  }
  known_ = std::max(known_, wanted);
}

/// Rounding of places is covered: y |psi'| <= |psi| for the logarithm psi, because it is convex and zero at
/// zero, and phi moves by less than 1e-12 phi.
void DampingTables::know_node(Index j, int i) {
  static const UnitNodes nodes;
  const double* const unit = &nodes.at[static_cast<std::size_t>(i)];
  const NeuronDamping::Range range = neurons_[static_cast<std::size_t>(j)].at(scales_(j) * unit[0]);
  logarithm_(i, j) = reduced(range.logarithm);
  upper_(i, j) = enlarged(range.upper);
  inverse_(i, j) = enlarged(1.0 / range.lower);
  double rise = first_rise(second(j) * scales_(j) * (unit[1] - unit[0]));
  if (i > 0) {  // they fall, and are convex
    rise = std::min(rise, next_rise(upper_(i - 1, j) * inverse_(i, j)));
    logarithm_(i, j) = std::min(logarithm_(i, j), logarithm_(i - 1, j));
    upper_(i, j) = std::min(upper_(i, j), upper_(i - 1, j));
  }
  rise_(i, j) = enlarged(inverse_(i, j) * rise);
}

DampingTables::Place DampingTables::place(Index neuron, double scale) const {
  const double share = scale / scales_(neuron) * (1.0 - 4.0 * kUnitRoundoff);
  int exponent = 0;
  const double mantissa = std::frexp(share, &exponent);  // in [1/2, 1)
  const bool is_upper = 2.0 * mantissa >= kRootOfTwo;
  const int i = kBelow + 2 * (exponent - 1) + (is_upper ? 1 : 0);
  if (!(share > 0.0) || i < 0) return {nullptr, nullptr, nullptr, nullptr, 0.0, false};
  const double above = 2.0 * mantissa / (is_upper ? kRootOfTwo : 1.0) - 1.0;
  const double x = std::clamp(above / (kRootOfTwo - 1.0), 0.0, 1.0);
  return {&logarithm_(i, neuron), &upper_(i, neuron), &inverse_(i, neuron), &rise_(i, neuron), x, true};
}

}  // namespace mixcert

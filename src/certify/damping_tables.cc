// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12).
#include "certify/damping_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

// The last argument needs the node behind it.
constexpr int kTableNodes = kBelow + kArgumentCount + 1;
constexpr double kRootOfTwo = 1.4142135623730951;

}  // namespace

DampingTables::DampingTables(std::vector<NeuronDamping> neurons, const Vector& scales)
    : neurons_(std::move(neurons)), scales_(scales) {
  const auto count = static_cast<Index>(neurons_.size());
  upper_ = lower_ = step_ = Matrix::Zero(kTableNodes, count);
}

double DampingTables::node(Index neuron, int i) const {
  const int power = i - kBelow;
  const int half = power >= 0 ? power / 2 : -((1 - power) / 2);
  const double root = power - 2 * half == 1 ? kRootOfTwo : 1.0;
  return kLeastArgument * scales_(neuron) * std::ldexp(root, half);
}

void DampingTables::know(int arguments) {
  const int wanted = std::min(kTableNodes, kBelow + arguments + 1);
  for (Index j = 0; j < upper_.cols(); ++j) {
    if (!(scales_(j) > 0.0)) continue;
    for (int i = known_; i < wanted; ++i) know_node(j, i);
  }
  known_ = std::max(known_, wanted);
}

/// Rounding of places is covered: y |psi'| <= |psi|, because psi is convex and zero at zero.
void DampingTables::know_node(Index j, int i) {
  const double y = node(j, i), next = node(j, i + 1);
  NeuronDamping::Range range = neurons_[static_cast<std::size_t>(j)].logarithm(y);
  double slope = -second(j) * kSafety;  // of the logarithm at zero
  range = {range.lower * kSafety - 1e-15, range.upper * (1.0 - 1e-9)};
  if (i > 0) {  // it falls, and is convex
    range = {std::min(range.lower, lower_(i - 1, j)), std::min(range.upper, upper_(i - 1, j))};
    slope = std::max(slope, (range.lower - upper_(i - 1, j)) / (y - node(j, i - 1)) * kSafety);
  }
  upper_(i, j) = range.upper;
  lower_(i, j) = range.lower;
  step_(i, j) = slope * (next - y);
}

DampingTables::Place DampingTables::place(Index neuron, double scale) const {
  const double share = scale / scales_(neuron) * (1.0 - 4.0 * kUnitRoundoff);
  int exponent = 0;
  const double mantissa = std::frexp(share, &exponent);  // in [1/2, 1)
  const bool is_upper = 2.0 * mantissa >= kRootOfTwo;
  const int i = kBelow + 2 * (exponent - 1) + (is_upper ? 1 : 0);
  if (!(share > 0.0) || i < 0) return {nullptr, nullptr, nullptr, 0.0, false};
  const double above = 2.0 * mantissa / (is_upper ? kRootOfTwo : 1.0) - 1.0;
  const double x = std::clamp(above / (kRootOfTwo - 1.0), 0.0, 1.0);
  return {&upper_(i, neuron), &lower_(i, neuron), &step_(i, neuron), x, true};
}

}  // namespace mixcert

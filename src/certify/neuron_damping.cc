// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.12).
#include "certify/neuron_damping.h"

#include <algorithm>
#include <cmath>

#include "activation/activation_traits.h"
#include "mixcert/core/normal.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Where y^2 E a^4 is below this part of y E a^2, moments are good enough.
constexpr double kFewMoments = 0.02;

/// int_k^inf phi(x) exp(-y (x - k)^2) dx.
double branch(double k, double y) {
  const double scale = 1.0 / (1.0 + 2.0 * y);
  const double root = std::sqrt(scale);
  return std::exp(-y * k * k * scale) * root * normal_tail(k * root);
}

}  // namespace

NeuronDamping::NeuronDamping(const Activation& activation, double m, double s, const NeuronKernels& kernels)
    : kernels_(&kernels),
      is_linear_(s > 0.0 && activation.traits().linear() != nullptr),
      kink_(is_linear_ ? -m / s : 0.0),
      right_(s * s),
      least_(positive_part(kernels.second.lower())),
      most_(kernels.second.magnitude()),
      fourth_(kernels.fourth) {
  if (!is_linear_) return;
  below_ = normal_tail(-kink_);
  const double left = activation.traits().linear()->left(activation.slope());
  left_ = right_ * left * left;
}

bool NeuronDamping::is_small(double y) const { return y * fourth_ <= kFewMoments * least_; }

NeuronDamping::Range NeuronDamping::of_lines(double y) const {
  const double sum = branch(kink_, y * right_) + (left_ > 0.0 ? branch(-kink_, y * left_) : below_);
  return {sum * (1.0 - 1e-9), sum * kSafety};
}

NeuronDamping::Range NeuronDamping::of_nodes(double y) const {
  const LineNodes& nodes = *kernels_->nodes;
  const double mean = (nodes.weights() * (-y * nodes.values().square()).exp()).sum();
  // |d/da exp(-y a^2)| < y^{1/2}.
  const double error = nodes.transform_error(0.0, y) + std::sqrt(y) * nodes.value_error() + 1e-12;
  return {mean - error, mean + error};
}

NeuronDamping::Range NeuronDamping::at(double y) const {
  // exp(-t) >= 1 - t and exp(-t) <= 1 - t + t^2/2 for t >= 0; log(1 + t) <= t.
  const double moments = std::min(0.0, 0.5 * y * y * fourth_ * kSafety - y * least_);
  if (is_small(y))
    return {std::max(1.0 - y * most_ * kSafety, kLeastDamping), 1.0 + moments * (1.0 - 1e-9), moments};
  Range range{};
  if (is_linear_) {
    range = of_lines(y);
  } else if (kernels_->nodes) {
    range = of_nodes(y);
    range = {std::max(range.lower, std::exp(-y * most_)), std::min(range.upper, 1.0 + moments)};  // Jensen
  } else {  // a is constant
    range = {std::exp(-y * most_), std::exp(-y * least_)};
  }
  range.lower = std::max(range.lower * (1.0 - 1e-9), kLeastDamping);
  range.upper = std::clamp(range.upper * kSafety, kLeastDamping, 1.0);
  range.logarithm = std::log(range.upper);
  return range;
}

}  // namespace mixcert

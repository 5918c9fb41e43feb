// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Deterministic layers evaluated at one input, each with a running bound of the rounding errors (L.1):
// |values - exact values| <= errors, coordinate by coordinate.
#pragma once

#include <memory>

#include "mixcert/core/rounding.h"
#include "mixcert/network/layer_spec.h"
#include "mixcert/network/network.h"

namespace mixcert {

class GraphPlan;
class MemoryBudget;

struct BoundedValues {
  Vector values;
  Vector errors;
};

class FeatureStep {
 public:
  FeatureStep() = default;
  FeatureStep(const FeatureStep&) = delete;
  FeatureStep& operator=(const FeatureStep&) = delete;
  virtual ~FeatureStep() = default;

  [[nodiscard]] virtual BoundedValues apply(BoundedValues input) const = 0;
};

/// What underflow can hide in a sum of up to 2^40 products, and more.
inline constexpr double kFeatureUnderflow = 1e-300;

/// A computed bound of at most `operation_count` operations on nonnegative numbers, raised above its exact
/// value.
inline Vector raised(const Eigen::Ref<const Vector>& bound, Index operation_count) {
  return ((1.0 + 2.0 * rounding_gamma(operation_count + 4)) * bound).array() + kFeatureUnderflow;
}

/// feature_convolution.cc; steps of other layers are in their kinds' sources.
std::unique_ptr<FeatureStep> convolution_step(const Conv2dSpec& spec);

/// Takes what the steps of the first `last` nodes will need.
void charge_steps(const GraphPlan& plan, Index last, MemoryBudget& budget);

/// The first `cut` nodes, all of them deterministic: the features are plan.live_at(cut), one after the other.
/// Null where these are the inputs as they are.
std::shared_ptr<const FeatureMap> make_feature_map(const GraphPlan& plan, Index cut);

}  // namespace mixcert

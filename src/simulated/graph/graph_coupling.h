// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Any network beside its Gaussian, from the same random numbers, docs/theory/graphs.md (O.7): the mean cost
// bounds W2 from above. Pilot, centre and costs are of draws of their own.
#pragma once

#include <optional>

#include "mixcert/certificate/result.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "simulated/graph/graph_slopes.h"
#include "simulated/graph/linear_surrogate.h"
#include "simulated/simulation_settings.h"

namespace mixcert {

class GraphCoupling {
 public:
  /// `graph` must outlive this; at most `components` where masks are enumerated, 0: as many as are of use.
  /// Masks may be replaced by normals where that is closer, unless it is `for_bound`, which needs masks.
  GraphCoupling(const LayerGraph& graph, GraphInput input, const SimulationSettings& settings,
                Index components = 1, bool for_bound = true);

  [[nodiscard]] const Vector& input() const { return input_.values; }

  /// N(c, sum_k L_k L_k'), or a mixture where masks are enumerated (O.10).
  [[nodiscard]] const GaussianMixture& mixture() const { return mixture_; }
  /// What a bound of the distance adds to the root of the mean cost.
  [[nodiscard]] double beyond_cost() const { return beyond_cost_; }
  /// y - c - (y^ - E y^) of draws, a column each.
  [[nodiscard]] Matrix differences(DrawUse use, Index draws) const;
  /// |y - y^|^2 of draws.
  [[nodiscard]] Vector costs(DrawUse use, Index draws) const;
  /// The same with masks that stay masks, none below the exact one (O.22).
  [[nodiscard]] Vector proven_costs(DrawUse use, Index draws, const GraphNorms& norms) const;
  /// A bound of W2 to mixture() certified by simulation (O.7), (O.22); a gap where there is none.
  [[nodiscard]] SimulatedBound bound(const GraphNorms& norms) const;

 private:
  void choose_masks(Index components, bool for_bound);
  [[nodiscard]] DrawRow proven_costs(const BlockRandomness& randomness, const GraphNorms& norms) const;
  /// No less than what the jumps of the surrogate's masks add to its squared slope (O.22).
  [[nodiscard]] double jumps_of_surrogate() const;

  const LayerGraph& graph_;
  GraphInput input_;
  SimulationSettings settings_;
  LinearSurrogate surrogate_;
  MaskForm form_ = MaskForm::Normal;
  Vector centre_;
  GaussianMixture mixture_;
  double beyond_cost_ = 0.0;
  double factor_size_ = 0.0;  ///< |L|_F
  Index normals_ = 0;         ///< of one draw
};

}  // namespace mixcert

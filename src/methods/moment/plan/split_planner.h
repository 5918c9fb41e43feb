// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which components of a hidden layer are merged, which Gaussians are split and which masks are enumerated,
// for a budget of pieces: heuristics. Whatever they answer is checked and certified by src/certify.
#pragma once

#include "certificate/mask_tree.h"
#include "methods/moment/moment_trace.h"
#include "methods/moment/moment_tracer.h"
#include "methods/prepared.h"

namespace mixcert {

// Splitting one Gaussian along neurons (P.1), (P.3): which neurons, and by which rules.

/// Chooses directions and rules greedily by the predicted fall of the certificate per added piece.
class ComponentSplitter {
 public:
  ComponentSplitter(const Prepared& prepared, Index layer);

  /// At most `budget` pieces.
  [[nodiscard]] std::vector<SplitDirection> choose(const Gaussian& component, Index budget) const;

 private:
  struct Neuron;
  class Choice;
  [[nodiscard]] Neuron describe(const Gaussian& component, Index j) const;
  [[nodiscard]] double local_error(double mean, double deviation, Index j) const;

  const ActivationMap& activation_;
  Vector split_weight_;   ///< G_k of the pre-activations
  Vector signal_weight_;  ///< what E (a_j - b_j)^2 costs at the output
  Vector noise_weight_;   ///< what Var(a_j^2) costs at the output, relative to the noise of the layer
};

// Which masks to enumerate: those whose randomness costs most at the output (D.4).

/// A tree of at most `leaves` leaves for hidden layer `layer` whose law is `mixture`.
MaskTree plan_masks(const Prepared& prepared, Index layer, const GaussianMixture& mixture, Index leaves);

// All of it.

class SplitPlanner {
 public:
  /// At most `budget` pieces in every layer. `prepared` must outlive the planner.
  SplitPlanner(const Prepared& prepared, Index budget) : prepared_(prepared), budget_(budget) {}

  /// Compression, splits and masks of hidden layer `layer`; the best of a few component counts by the
  /// certificate's terms.
  [[nodiscard]] MomentChoices plan(Index layer, const GaussianMixture& mixture) const;

 private:
  /// Merges to `components`, enumerates masks by a tree of `leaves` leaves and splits with what is left.
  [[nodiscard]] MomentChoices reduce_and_split(Index layer, const GaussianMixture& mixture, Index components,
                                               Index leaves) const;
  /// The candidate whose terms add up to least.
  [[nodiscard]] std::size_t cheapest(Index layer, const GaussianMixture& mixture,
                                     const std::vector<MomentChoices>& candidates) const;

  const Prepared& prepared_;
  Index budget_;
};

}  // namespace mixcert

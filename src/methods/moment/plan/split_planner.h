// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Which components of a hidden layer are merged and which Gaussians are split, for a budget of pieces: a
// heuristic. Whatever it answers is checked and certified by src/certify.
#pragma once

#include "methods/moment/moment_tracer.h"
#include "methods/prepared.h"

namespace mixcert {

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

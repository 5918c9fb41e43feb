// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds that hold at more inputs than one: the distance between the laws at two inputs,
// docs/theory/metrics.md (M.9), (M.10), added to a bound at one of them.
#pragma once

#include <memory>
#include <vector>

#include "mixcert/certificate/options.h"
#include "mixcert/certificate/result.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/rounding.h"
#include "mixcert/network/ensemble.h"
#include "sensitivity/input_norms.h"
#include "sensitivity/local_change.h"

namespace mixcert {

/// How far the output law of an ensemble can move with its input.
class InputChange {
 public:
  /// Throws InvalidArgument where the options keep a member a graph, whose norms are not known.
  InputChange(const Ensemble& ensemble, const Options& options, const CancelFlag* cancel);

  // No less than W2 between the laws at `input` and at any x of the set.

  /// |x_i - input_i| <= half_widths_i.
  [[nodiscard]] UpperBound in_box(ConstVectorRef input, ConstVectorRef half_widths) const;
  /// The same by the steepest slopes of activations (M.9): larger, and at hand.
  [[nodiscard]] UpperBound in_box_at_a_glance(ConstVectorRef input, ConstVectorRef half_widths) const;
  /// |x - input| <= radius.
  [[nodiscard]] UpperBound in_euclidean_ball(ConstVectorRef input, double radius) const;

 private:
  [[nodiscard]] UpperBound member_in_box(Index i, ConstVectorRef input, ConstVectorRef half_widths) const;

  Ensemble ensemble_;
  // One per member, at least one of the two; null where it is not covered or not needed.
  std::vector<std::shared_ptr<const InputNorms>> norms_;
  std::vector<std::shared_ptr<const LocalChange>> local_;
};

/// Makes bounds hold at every input whose law is no farther than `change` from the one that was certified,
/// and drops what is about that one alone.
void widen(const UpperBound& change, Result& result);

/// Makes bounds hold in the ball of options.radius; leaves them as they are where there is none.
class BallWidening {
 public:
  /// `inputs` and `options` must outlive this.
  BallWidening(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
               const Services& services);
  /// Of the input that it names. Called by several threads at once.
  void apply(Result& result) const;
  /// Hands results on to `sink` with such bounds; both must outlive it.
  [[nodiscard]] ResultSink in_front_of(const ResultSink& sink) const;

 private:
  ConstMatrixRef inputs_;
  const Options& options_;
  std::unique_ptr<const InputChange> change_;  ///< null without a radius
};

}  // namespace mixcert

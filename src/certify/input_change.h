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

namespace mixcert {

/// How far the output law of an ensemble can move with its input.
class InputChange {
 public:
  /// Throws InvalidArgument where the options keep a member a graph, whose norms are not known.
  InputChange(const Ensemble& ensemble, const Options& options, const CancelFlag* cancel);

  // No less than W2 between the laws at `input` and at any x of the set.

  /// |x_i - input_i| <= half_widths_i.
  [[nodiscard]] UpperBound in_box(ConstVectorRef input, ConstVectorRef half_widths) const;
  /// |x - input| <= radius.
  [[nodiscard]] UpperBound in_euclidean_ball(ConstVectorRef input, double radius) const;

 private:
  Ensemble ensemble_;
  std::vector<std::shared_ptr<const InputNorms>> norms_;  ///< one per member
};

/// Makes bounds hold at every input whose law is no farther than `change` from the one that was certified,
/// and drops what is about that one alone.
void widen(const UpperBound& change, Result& result);

/// Hands results on with bounds that hold in the ball of options.radius; as they are where there is none.
class BallSink {
 public:
  /// All must outlive this.
  BallSink(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options, const Services& services,
           const ResultSink& sink);
  void operator()(Result&& result) const;

 private:
  ConstMatrixRef inputs_;
  const Options& options_;
  const ResultSink& sink_;
  std::shared_ptr<const InputChange> change_;  ///< null without a radius
};

}  // namespace mixcert

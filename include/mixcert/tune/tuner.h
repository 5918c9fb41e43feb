// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prior selection, one step at a time: Adam on the objective at batches of inputs drawn anew for every step.
// A step depends on the options, its number and the state alone, so that a run may be continued anywhere.
#pragma once

#include <vector>

#include "mixcert/tune/tune_options.h"
#include "mixcert/tune/tune_problem.h"

namespace mixcert {

/// What a step saw, at its batch and before it moved.
struct TuneStep {
  Index step = 0;  ///< from one
  double objective = 0.0;
  double bound = 0.0;         ///< certified, between network and mixture; infinite where there is none
  double distance = 0.0;      ///< MW2 between mixture and target
  double target_scale = 0.0;  ///< sqrt(E |target|^2)
};

/// All that changes.
struct TuneState {
  Index step = 0;
  Vector parameters;
  Vector momentum;  ///< Adam's averages of gradients and of their squares
  Vector squares;
};

class Tuner {
 public:
  /// Throws InvalidArgument where options, inputs and target do not fit. `problem` must outlive this.
  Tuner(const TuneProblem& problem, const TuneOptions& options);

  [[nodiscard]] bool is_done() const { return state_.step >= options_.steps; }
  TuneStep step();

  [[nodiscard]] Network network() const { return parameters_.network(state_.parameters); }
  [[nodiscard]] Index parameter_count() const { return parameters_.size(); }
  [[nodiscard]] const TuneState& state() const { return state_; }
  /// Throws InvalidArgument where sizes do not fit.
  void restore(TuneState state);

  /// Inputs that no step sees, in increasing order.
  [[nodiscard]] const std::vector<Index>& held_out() const { return held_out_; }

 private:
  [[nodiscard]] std::vector<Index> draw_batch(Index step) const;
  void move(const Vector& gradient);

  const TuneProblem& problem_;
  TuneOptions options_;
  PriorParameters parameters_;
  std::vector<Index> training_;
  std::vector<Index> held_out_;
  TuneState state_;
};

}  // namespace mixcert

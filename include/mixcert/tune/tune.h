// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Prior selection: the problem, one step, a whole run.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/gp/gaussian_process.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/tune/tune_options.h"

namespace mixcert {

// Inputs, and the law that the network's outputs should have at any of them.

struct TuneProblem {
  Matrix inputs;  ///< one column per input
  Index outputs = 1;
  /// Law of the outputs at the chosen inputs (columns), input-major.
  std::function<GaussianMixture(const std::vector<Index>& chosen)> target;
  std::string description;  ///< of the target, equal for equal targets

  [[nodiscard]] Matrix inputs_at(const std::vector<Index>& chosen) const;
};

/// Sixteen hexadecimal digits that differ where numbers do.
std::string fingerprint(ConstMatrixRef numbers);

/// `outputs` independent copies of a Gaussian process. Throws where the kernel does not fit the inputs.
TuneProblem process_problem(const GaussianProcess& process, Matrix inputs, Index outputs);

/// A mixture over `outputs` numbers at every input, input-major. Throws where sizes do not fit.
TuneProblem mixture_problem(GaussianMixture mixture, Matrix inputs, Index outputs);

// Prior selection, one step at a time: Adam on the objective at batches of inputs drawn anew for every step.
// A step depends on the options, its number and the state alone, so that a run may be continued anywhere.

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

// Prior selection from options to prior: the whole run in memory, or with files, where a run that was
// interrupted goes on from its checkpoint and ends with the same prior, bit for bit.

struct TuneServices {
  std::function<void(const TuneStep&)> step;  ///< after every step; may be null
  const CancelFlag* cancel = nullptr;
};

struct TuneRun {
  Network network;
  std::vector<TuneStep> history;
  std::vector<Index> held_out;  ///< inputs that no step saw
  Index parameter_count = 0;
  double seconds = 0.0;  ///< of steps, earlier runs included
  bool resumed = false;
};

/// Throws InvalidArgument or Interrupted.
TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneServices& services = {});

struct TuneFiles {
  std::filesystem::path out;         ///< the prior, a model file
  std::filesystem::path checkpoint;  ///< empty: `out` with ".checkpoint" behind it
  bool restart = false;              ///< begin anew where a checkpoint exists
  double checkpoint_seconds = 30.0;
  std::map<std::string, std::string> metadata;  ///< for the prior's file
};

/// The same with files. The checkpoint is removed at the end. Throws FileError too, among others where the
/// checkpoint belongs to another run.
TuneRun tune(const TuneProblem& problem, const TuneOptions& options, const TuneFiles& files,
             const TuneServices& services = {});

}  // namespace mixcert

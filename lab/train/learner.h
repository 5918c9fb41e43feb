// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the training loop knows of an inference method: it takes steps, predicts, and its whole state
// can be written and read.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "mixcert/io/array.h"
#include "train/stack_net.h"

namespace mixcert::lab {

/// Named arrays; floats are exact in doubles.
using State = std::map<std::string, Array>;

struct StepInfo {
  Index step = 0;  ///< 0 for the first
  double learning_rate = 0.0;
};

class Learner {
 public:
  virtual ~Learner() = default;

  /// One step on these rows of the examples; returns the mean log likelihood there.
  virtual double step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) = 0;

  /// Outputs of the mean network, or of the network drawn with this number.
  [[nodiscard]] virtual FloatRows outputs(const FloatRows& inputs, std::optional<Index> sample) const = 0;
  [[nodiscard]] virtual const Likelihood& likelihood() const = 0;
  /// Log density of the prior at the weights, or minus the divergence of the posterior from the prior:
  /// what is added to the log likelihood to give what the training maximises.
  [[nodiscard]] virtual double regulariser() const = 0;
  [[nodiscard]] virtual bool is_stochastic() const = 0;
  /// Is every prediction a pass through convolutions? Many draws of all examples then take too long.
  [[nodiscard]] virtual bool has_convolutions() const = 0;

  [[nodiscard]] virtual State state() const = 0;
  /// Throws FileError where an array is missing or has another size.
  virtual void restore(const State& state) = 0;
};

Array float_array(const FloatVector& values);
/// Throws FileError unless `name` is there with this many values.
FloatVector read_float_array(const State& state, const std::string& name, Index size);
/// A state of one number.
Array number_array(double value);
double read_number(const State& state, const std::string& name);

/// Running maximum-likelihood estimate of the noise variance: for fixed weights the ELBO is largest at
/// the mean square residual. The mean forgets over two epochs.
double updated_noise_variance(double old, double square_residual, Index batch, Index examples);

}  // namespace mixcert::lab

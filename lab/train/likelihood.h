// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How outputs f explain targets: classification p(y|f) = softmax(f)_y, regression
// p(y|f) = N(y; f, v I) with noise variance v in units of the standardised target.
#pragma once

#include "mixcert/core/rng.h"
#include "train/random_stream.h"

namespace mixcert::lab {

class Likelihood {
 public:
  explicit Likelihood(Task task, double noise_variance = 1.0)
      : task_(task), noise_variance_(noise_variance) {}

  [[nodiscard]] Task task() const { return task_; }
  [[nodiscard]] double noise_variance() const { return noise_variance_; }
  void set_noise_variance(double variance) { noise_variance_ = variance; }
  /// Factor of all derivatives: 1/v in regression, 1 in classification.
  [[nodiscard]] double scale() const { return task_ == Task::Regression ? 1.0 / noise_variance_ : 1.0; }

  /// log p(y_n|f_n) of each example; `targets` has as many examples as `outputs` rows.
  [[nodiscard]] Vector log_likelihoods(const FloatRows& outputs, const Examples& targets) const;
  /// Derivatives of -log p(y_n|f_n) by f_n.
  [[nodiscard]] FloatRows output_gradient(const FloatRows& outputs, const Examples& targets) const;
  /// Random rows r_n with E[r_n r_n'] = Hessian of -log p by f_n: sign / sqrt(v) for each output in
  /// regression (for one output r^2 is exact), softmax(f) - e_c with c drawn from softmax(f) in
  /// classification.
  [[nodiscard]] FloatRows hessian_root(const FloatRows& outputs, Generator& generator) const;
  /// Mean of |y_n - f_n|^2 / outputs; 0 in classification.
  [[nodiscard]] double mean_square_residual(const FloatRows& outputs, const Examples& targets) const;

 private:
  Task task_;
  double noise_variance_;
};

/// Row by row.
FloatRows softmax(const FloatRows& outputs);

/// The examples with these numbers, in this order.
Examples gather(const Examples& examples, const Index* begin, Index count);

}  // namespace mixcert::lab

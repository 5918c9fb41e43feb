// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Variational online Gauss-Newton (Khan et al. 2018, Osawa et al. 2019) and improved variational
// online Newton (Shen et al. 2024): a Gaussian with independent entries over all weights and biases,
// fitted by natural-gradient steps on the ELBO. docs/training.md has the formulas.
#pragma once

#include "train/learner.h"
#include "train/prior.h"
#include "train/train_options.h"

namespace mixcert::lab {

class VognLearner : public Learner {
 public:
  /// `net` has no convolutions and must outlive the learner; `examples` is the number of training
  /// examples.
  VognLearner(const StackNet& net, const TrainOptions& options, DiagonalPrior prior,
              const Likelihood& likelihood, Index examples);

  double step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) override;
  [[nodiscard]] FloatRows outputs(const FloatRows& inputs, std::optional<Index> sample) const override;
  [[nodiscard]] const Likelihood& likelihood() const override { return likelihood_; }
  /// Minus the Kullback-Leibler divergence from the prior.
  [[nodiscard]] double regulariser() const override;
  [[nodiscard]] bool is_stochastic() const override { return true; }
  [[nodiscard]] bool has_convolutions() const override { return net_.conv.has_value(); }
  [[nodiscard]] State state() const override;
  void restore(const State& state) override;

  /// Begins at this mean and this noise.
  void start_from(const FloatVector& mean, double noise_variance);
  [[nodiscard]] const FloatVector& mean() const { return mean_; }
  [[nodiscard]] FloatVector variance() const { return precision().cwiseInverse(); }

 private:
  [[nodiscard]] FloatVector precision() const;
  /// Gives the posterior the initial standard deviation where the prior's is larger.
  void reset_curvature();
  /// Raises the curvature to that of the first batch: the first steps would otherwise be far too long
  /// where the initial standard deviation is above what the data allow.
  void raise_curvature(const Examples& examples, std::span<const Index> rows);
  /// Averages of gradient and curvature over the weight samples of a step.
  void average_samples(const Examples& examples, std::span<const Index> rows, Index step);
  void update_posterior(const StepInfo& info);

  const StackNet& net_;
  TrainOptions options_;
  DiagonalPrior prior_;
  Likelihood likelihood_;
  Index examples_;
  bool learns_noise_;
  int threads_;

  FloatVector mean_;
  FloatVector curvature_;  ///< mean over examples, without the factor 1 / noise variance
  FloatVector momentum_;

  BatchDerivatives derivatives_;
  BatchMeans one_;  ///< of one weight sample
  BatchMeans all_;  ///< of all of the step
  FloatVector noise_, deviation_, weights_;
};

}  // namespace mixcert::lab

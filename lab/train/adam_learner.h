// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Adam (Kingma and Ba 2015) on -log p(D|w) - log p(w): one network, with dropout where its layers
// have a rate. The prior is N(0, 1/precision) on all parameters unless one is given; no decoupled weight
// decay.
#pragma once

#include "train/learner.h"
#include "train/prior.h"
#include "train/train_options.h"

namespace mixcert::lab {

class AdamLearner : public Learner {
 public:
  /// `net` must outlive the learner.
  AdamLearner(const StackNet& net, const TrainOptions& options, const Likelihood& likelihood, Index examples);
  /// Networks without convolutions only.
  AdamLearner(const StackNet& net, const TrainOptions& options, const Likelihood& likelihood, Index examples,
              DiagonalPrior prior);

  double step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) override;
  [[nodiscard]] FloatRows outputs(const FloatRows& inputs, std::optional<Index> sample) const override;
  [[nodiscard]] const Likelihood& likelihood() const override { return likelihood_; }
  /// Log density of the prior at the weights, less its constant.
  [[nodiscard]] double regulariser() const override;
  [[nodiscard]] bool is_stochastic() const override { return net_.has_dropout(); }
  [[nodiscard]] bool has_convolutions() const override { return net_.conv.has_value(); }
  [[nodiscard]] State state() const override;
  void restore(const State& state) override;

  [[nodiscard]] const FloatVector& weights() const { return weights_; }

 private:
  const StackNet& net_;
  TrainOptions options_;
  Likelihood likelihood_;
  Index examples_;
  bool learns_noise_;
  int threads_;
  DiagonalPrior prior_;
  FloatVector weights_;
  FloatVector first_, second_;  ///< running means of gradient and squared gradient
  BatchDerivatives derivatives_;
  BatchMeans means_;
};

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A head that learns behind fixed convolutions whose dropout is on. The masks of each step are its own, and
// so are those of every network drawn, so that the head meets the features that the whole network has when it
// is used. Features cannot be computed once for all steps, as they can where nothing is dropped.
#pragma once

#include "train/learner.h"

namespace mixcert::lab {

class FeatureLearner : public Learner {
 public:
  /// `head` learns on features of `conv` with these `kernels`. All three must outlive this object.
  FeatureLearner(Learner& head, const ConvNet& conv, const FloatVector& kernels, std::uint64_t seed,
                 int threads)
      : head_(head), conv_(conv), kernels_(kernels), seed_(seed), threads_(threads) {}

  double step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) override;
  [[nodiscard]] FloatRows outputs(const FloatRows& inputs, std::optional<Index> sample) const override;
  [[nodiscard]] const Likelihood& likelihood() const override { return head_.likelihood(); }
  [[nodiscard]] double regulariser() const override { return head_.regulariser(); }
  [[nodiscard]] bool is_stochastic() const override { return true; }
  [[nodiscard]] bool has_convolutions() const override { return true; }
  [[nodiscard]] State state() const override { return head_.state(); }
  void restore(const State& state) override { head_.restore(state); }

 private:
  Learner& head_;
  const ConvNet& conv_;
  const FloatVector& kernels_;
  std::uint64_t seed_;
  int threads_;
};

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Features with the masks of a step or of a draw.
#include "train/feature_learner.h"

#include <numeric>
#include <vector>

namespace mixcert::lab {

double FeatureLearner::step(const Examples& examples, std::span<const Index> rows, const StepInfo& info) {
  Examples batch = gather(examples, rows.data(), static_cast<Index>(rows.size()));
  const MaskKey key{{seed_, static_cast<std::uint64_t>(info.step)}, TrainStream::Dropout};
  batch.inputs = conv_features(conv_, kernels_.data(), batch.inputs, threads_, &key);
  std::vector<Index> all(rows.size());
  std::iota(all.begin(), all.end(), Index{0});
  return head_.step(batch, all, info);
}

FloatRows FeatureLearner::outputs(const FloatRows& inputs, std::optional<Index> sample) const {
  if (!sample) return head_.outputs(conv_features(conv_, kernels_.data(), inputs, threads_), sample);
  const MaskKey key{{seed_, static_cast<std::uint64_t>(*sample)}, TrainStream::EvaluationDropout};
  return head_.outputs(conv_features(conv_, kernels_.data(), inputs, threads_, &key), sample);
}

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "train/divergence.h"

#include <cmath>

#include "mixcert/core/option_table.h"

namespace mixcert::lab {
namespace {

/// Random weights are one to two times as bad as a constant; what has begun to grow is soon far beyond this.
constexpr double kFarWorse = 4.0;

/// Root mean square error of the best constant.
double deviation_of_targets(const Examples& train) {
  const Matrix targets = train.targets.cast<double>();
  return std::sqrt((targets.rowwise() - targets.colwise().mean()).squaredNorm() /
                   static_cast<double>(targets.size()));
}

/// Is it far above `constant`, or no number?
bool is_far_worse(double error, double constant) { return !(error <= kFarWorse * constant); }

std::string worse(const std::string& what, double error, double constant) {
  return what + " is " + format_number(error) + ", and " + format_number(constant) + " for a constant";
}

}  // namespace

std::string divergence(const Dataset& data, const TrainSummary& summary) {
  if (data.task == Task::Classification) {
    const double constant = std::log(static_cast<double>(data.classes));
    const double loss = summary.train_mean.negative_log_likelihood;
    return is_far_worse(loss, constant) ? worse("the loss on the training data", loss, constant) : "";
  }
  const double constant = deviation_of_targets(data.train);
  // Targets that are all equal are learned to within rounding at best.
  if (constant == 0.0) return "";
  if (is_far_worse(summary.train_mean.score, constant))
    return worse("the RMSE on the training data", summary.train_mean.score, constant);
  if (summary.train_samples && is_far_worse(summary.train_samples->score, constant))
    return worse("the RMSE of drawn networks on the training data", summary.train_samples->score, constant);
  if (summary.noise_std && is_far_worse(*summary.noise_std, constant))
    return worse("the noise that was learned", *summary.noise_std, constant);
  return "";
}

}  // namespace mixcert::lab

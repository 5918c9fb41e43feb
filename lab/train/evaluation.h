// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How well a network does: by its mean, and by the average over networks drawn from its law.
#pragma once

#include <vector>

#include "mixcert/core/parallel.h"
#include "train/learner.h"

namespace mixcert::lab {

struct Metrics {
  double score = 0.0;                    ///< accuracy in classification, root mean square error in regression
  double negative_log_likelihood = 0.0;  ///< mean over examples, of the averaged prediction
  double expected_log_likelihood = 0.0;  ///< mean over examples of the average of log p
};

/// Of the mean network.
Metrics evaluate_mean(const Learner& learner, const Examples& examples);
/// Of the average over samples first..first+count-1: p(y|x) = average of p(y|f_s(x)). Throws
/// Interrupted where `cancel` is set.
Metrics evaluate_samples(const Learner& learner, const Examples& examples, Index first, Index count,
                         const CancelFlag* cancel);
/// The same of the average over networks with these weights.
Metrics evaluate_networks(const StackNet& net, const Likelihood& likelihood, const Examples& examples,
                          const std::vector<FloatVector>& weights, int threads);
/// The average of log p per example, over these samples alone.
double expected_log_likelihood(const Learner& learner, const Examples& examples, Index first, Index count);

/// The first `count` examples, or all of them.
Examples first_examples(const Examples& examples, Index count);

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The predictive law: what an observation at the input will be, y* = mean + deviation * n with independent
// standard normal n. Its variance is split into what the weights do not know (epistemic) and the noise of
// observations (aleatoric), (U.14); density, score and distribution function at a label (U.15), (U.18).
#pragma once

#include <vector>

#include "mixcert/answer/certified_law.h"
#include "mixcert/answer/options.h"

namespace mixcert {

/// Of one target. Variances, not deviations.
struct PredictiveMoments {
  Interval mean;
  Interval epistemic;  ///< variance of the mean output
  Interval aleatoric;  ///< expected variance of the noise; no upper end with a log-variance head
  Interval total;      ///< variance of the observation: the sum of both
};

/// How many targets the outputs stand for. Throws InvalidArgument where a head meets an odd number.
Index target_count(Index outputs, const AnswerOptions& options);

/// Mean and variances of each target's observation (U.14).
std::vector<PredictiveMoments> predictive_moments(const CertifiedLaw& law, const AnswerOptions& options);

/// The law of one target's observation. With a head it is a mixture of Gaussians drawn from the mixture,
/// which nothing bounds the distance to: estimates only. `index` selects their random stream.
CertifiedLine observation(const CertifiedLaw& law, Index target, const AnswerOptions& options,
                          std::uint64_t index = 0);

/// -log of the observation's density at `label`, `output` the law of the mean, noise N(0, noise_std^2),
/// noise_std > 0 (U.15). The upper end is finite wherever there is a bound.
Interval negative_log_density(const CertifiedLine& output, double noise_std, double label);

/// CRPS of the law `line` at `label`; `noise_std` is that of the noise which `line` has in it, 0 for none
/// (U.18). More than 4096 components: no estimate (NaN), and the range is that of every law.
Interval certified_crps(const CertifiedLine& line, double noise_std, double label);

}  // namespace mixcert

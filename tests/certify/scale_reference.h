// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a network at an extreme scale really gives, from z_{k+1} = W_k (m_k s_k(z_k)) + b_k alone: samples in
// long double, whose exponents reach 1e4932, and moments in fifty digits. Nothing here shares code with the
// engine, and nothing here underflows where a double would.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/network.h"
#include "support/high_precision.h"

namespace mixcert::testing {

using Wide = long double;
using WideVector = std::vector<Wide>;

/// [coordinate][sample]; coordinates are input * outputs + output, as in a joint result.
using WideSamples = std::vector<WideVector>;

/// One draw of all weights per sample, shared by the columns of `inputs`; every input has masks of its own.
WideSamples wide_samples(const Network& network, const Matrix& inputs, Index samples, std::uint64_t seed);

/// The same of a mixture.
WideSamples wide_samples(const GaussianMixture& mixture, Index samples, std::uint64_t seed);

/// No more than W2, but for the noise of the samples: the root of the sum over coordinates of W2^2 of the
/// marginals, each by sorting and less three times what two samples of one law are apart.
Wide sampled_lower_bound(const WideSamples& samples, const GaussianMixture& mixture, std::uint64_t seed);

/// Do all layers but the first see an identity or a network without randomness, so that moments are exact?
bool is_linear(const Network& network);
bool is_deterministic(const Network& network);

struct PreciseMoments {
  std::vector<Precise> mean;
  std::vector<Precise> variance;
};

/// Of the outputs at one input, in fifty digits: the network must be linear or deterministic.
PreciseMoments precise_moments(const Network& network, const Vector& input);
PreciseMoments precise_moments(const GaussianMixture& mixture);

/// Gelbrich's lower bound of W2 coordinate by coordinate, from the first two moments of both laws.
Precise moment_lower_bound(const PreciseMoments& a, const PreciseMoments& b);

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Monte Carlo: samples of networks and mixtures, distances between samples, and the two estimates that stand
// beside a certificate.
#pragma once

#include <cstdint>
#include <vector>

#include "mixcert/certify/certify.h"
#include "mixcert/core/parallel.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"
#include "mixcert/network/ensemble.h"
#include "mixcert/network/network.h"

namespace mixcert {

// Monte Carlo simulation of a network, of an ensemble and of a mixture. Samples are drawn in fixed-size
// pieces, each with its own generator, so they do not depend on the number of threads.

struct SimulationOptions {
  Index samples = 10000;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: one per processor
  const CancelFlag* cancel = nullptr;
};

/// Output samples at one input, outputs x samples. Each sample has its own weights,
/// drawn by local reparametrisation: given the activations, the layer's output is drawn
/// directly from its Gaussian (weights that are not normal are drawn one by one), and its own masks, also
/// at each input of a joint law. `input_index` selects the random stream.
Matrix simulate(const Network& network, ConstVectorRef input, Index input_index,
                const SimulationOptions& options);

/// Samples of the outputs at several inputs jointly (columns of `inputs`), one weight
/// draw shared by all inputs: (outputs * inputs) x samples, input-major
/// (entry input * outputs + output).
Matrix simulate_joint(const Network& network, ConstMatrixRef inputs, const SimulationOptions& options);

/// The same of an ensemble: each sample draws its member first. One member: exactly its samples.
Matrix simulate(const Ensemble& ensemble, ConstVectorRef input, Index input_index,
                const SimulationOptions& options);
Matrix simulate_joint(const Ensemble& ensemble, ConstMatrixRef inputs, const SimulationOptions& options);

/// The seed of member `member` of an ensemble: members are independent, the first has the ensemble's seed.
std::uint64_t member_seed(std::uint64_t seed, Index member);

/// Samples of a mixture, dimension x samples.
Matrix sample_mixture(const GaussianMixture& mixture, Index samples, std::uint64_t seed, Stream stream,
                      std::uint64_t index);

// Estimates of W2(p, q) from samples of p: the empirical W2 with its floor, and
// Gelbrich's lower bound with its upward bias removed. These are statistics, not bounds
// that hold for certain; their names say so.

struct EmpiricalDistance {
  double distance = 0.0;  ///< empirical W2 between n samples of p and n of q
  double floor = 0.0;     ///< the same estimator on two samples of q: what zero looks like
};

/// `samples`: dimension x n, drawn from p.
EmpiricalDistance empirical_distance(ConstMatrixRef samples, const GaussianMixture& mixture,
                                     std::uint64_t seed, std::uint64_t index);

struct GelbrichLowerBound {
  double plug_in = 0.0;  ///< Gelbrich distance of the estimated moments (biased upward)
  double bias = 0.0;     ///< `confidence` quantile of the estimate's distance to itself under resampling
  double lower = 0.0;    ///< max(0, plug_in - bias)
  double confidence = 0.0;
};

/// W2_lower = Gelbrich(moments of samples, moments of mixture) - bootstrap quantile of
/// Gelbrich(resampled moments, moments of samples): triangle inequality, (C.2). Resamples
/// batches of samples; asymptotic confidence.
GelbrichLowerBound gelbrich_lower_bound(ConstMatrixRef samples, const GaussianMixture& mixture,
                                        std::uint64_t seed, std::uint64_t index, double confidence = 0.999);

// A statistical lower and upper bound of W2(p, q) for a certified result, to set beside the certificate.

/// Gelbrich's lower bound from options.statistics samples of the network (C.2), or the dual one (C.6) where
/// that applies and is larger; the coupled simulation's upper bound where `trace` is given (C.3, C.5), NaN
/// where not. `inputs` has several columns for a joint law. One input runs on one thread, for inputs are what
/// certify() does in parallel; a joint law on options.threads.
TwoSidedStatistics two_sided_statistics(const Network& network, ConstMatrixRef inputs, Index input_index,
                                        const CouplingTrace& trace, const GaussianMixture& mixture,
                                        const Options& options, const CancelFlag* cancel = nullptr);

/// The same of an ensemble: the lower bound from samples of the ensemble, the upper one from the members'
/// coupled simulations, whose squares average with the weights (B.3); NaN unless every member has a trace.
TwoSidedStatistics two_sided_statistics(const Ensemble& ensemble, ConstMatrixRef inputs, Index input_index,
                                        const std::vector<CouplingTrace>& traces,
                                        const GaussianMixture& mixture, const Options& options,
                                        const CancelFlag* cancel = nullptr);

/// The same as what Services::statistics and Services::ensemble_statistics expect.
StatisticsService statistics_service(const CancelFlag* cancel = nullptr);
EnsembleStatisticsService ensemble_statistics_service(const CancelFlag* cancel = nullptr);

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Traces by repetition of the moment method.
#include "coupled_upper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/moment/moment_propagate.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/coupled_simulation.h"
#include "terminal.h"

namespace mixcert::cli {
namespace {

constexpr double kSame = 1e-9;

bool is_same(const Gaussian& a, const Gaussian& b) {
  const Matrix covariance = a.covariance.to_dense();
  const double variance = covariance.cwiseAbs().maxCoeff();
  const double size = std::max(a.mean.cwiseAbs().maxCoeff(), std::sqrt(variance));
  return (a.mean - b.mean).cwiseAbs().maxCoeff() <= kSame * size &&
         (covariance - b.covariance.to_dense()).cwiseAbs().maxCoeff() <= kSame * variance;
}

/// The same components in the same order, to 1e-9.
bool is_same(const GaussianMixture& a, const GaussianMixture& b) {
  if (a.size() != b.size() || a.dimension() != b.dimension()) return false;
  if ((a.weights() - b.weights()).cwiseAbs().maxCoeff() > kSame) return false;
  return std::equal(a.components().begin(), a.components().end(), b.components().begin(),
                    [](const Gaussian& x, const Gaussian& y) { return is_same(x, y); });
}

/// Why no coupling can be simulated; "" where one can.
std::string coupling_gap(const Ensemble& ensemble, bool joint) {
  for (Index i = 0; i < ensemble.size(); ++i) {
    std::string gap = ensemble.member(i).correlated_layer();
    if (!gap.empty()) return gap;
    if (joint && ensemble.member(i).has_masks()) return "several inputs jointly meet dropout";
  }
  return "";
}

}  // namespace

CoupledUpper::CoupledUpper(const Ensemble& ensemble, const std::vector<StoredResult>& results, bool joint)
    : results_(results), gap_(coupling_gap(ensemble, joint)) {}

bool CoupledUpper::is_stored(const GaussianMixture& mixture, Index index) const {
  return is_same(mixture, results_[static_cast<std::size_t>(index)].mixture);
}

Services CoupledUpper::services(const std::function<void(Index, double)>& found) const {
  Services services;
  services.cancel = &cancel_flag();
  services.statistics = [this, found](const Network& net, ConstMatrixRef input, Index index,
                                      const CouplingTrace& trace, const GaussianMixture& mixture,
                                      const Options& used) {
    TwoSidedStatistics statistics;
    if (!trace.is_empty() && is_stored(mixture, index)) {
      const int threads = used.joint ? used.threads : 1;
      const CoupledSamples samples =
          simulate_coupled(net, input, index, trace, {used.statistics, used.seed, threads, &cancel_flag()});
      statistics.w2_upper = coupled_distance(samples, used.failure_probability).w2_upper;
    }
    found(index, statistics.w2_upper);
    return statistics;
  };
  services.ensemble_statistics = [this, found](const Ensemble& all, ConstMatrixRef input, Index index,
                                               const std::vector<CouplingTrace>& traces,
                                               const GaussianMixture& mixture, const Options& used) {
    TwoSidedStatistics statistics;
    if (is_stored(mixture, index))
      statistics = two_sided_statistics(all, input, index, traces, mixture, used, &cancel_flag());
    found(index, statistics.w2_upper);
    return statistics;
  };
  return services;
}

}  // namespace mixcert::cli

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Traces by repetition of the moment method.
#include "coupled_upper.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/propagate/certify.h"
#include "mixcert/propagate/moment_propagate.h"
#include "mixcert/statistics/joint_coupling.h"
#include "mixcert/statistics/two_sided.h"
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
    std::string gap = correlated_layer(ensemble.member(i));
    if (!gap.empty()) return gap;
    if (joint && ensemble.member(i).has_masks()) return "several inputs jointly meet dropout";
  }
  return "";
}

}  // namespace

CoupledUpper coupled_upper(const Ensemble& ensemble, const Matrix& inputs,
                           const std::vector<StoredResult>& results, Options options) {
  CoupledUpper upper;
  upper.values.assign(results.size(), std::numeric_limits<double>::quiet_NaN());
  upper.gap = coupling_gap(ensemble, options.joint);
  if (!upper.gap.empty()) return upper;
  options.method = Method::Moment;
  Services services;
  services.cancel = &cancel_flag();
  services.statistics = [&](const Network& net, ConstMatrixRef input, Index index, const CouplingTrace& trace,
                            const GaussianMixture& mixture, const Options& used) {
    TwoSidedStatistics statistics;
    if (trace.is_empty() || !is_same(mixture, results[static_cast<std::size_t>(index)].mixture)) {
      return statistics;
    }
    const int threads = used.joint ? used.threads : 1;
    const CoupledSamples samples =
        simulate_coupled(net, input, index, trace, {used.statistics, used.seed, threads, &cancel_flag()});
    statistics.w2_upper = coupled_distance(samples, used.failure_probability).w2_upper;
    return statistics;
  };
  services.ensemble_statistics = [&](const Ensemble& all, ConstMatrixRef input, Index index,
                                     const std::vector<CouplingTrace>& traces, const GaussianMixture& mixture,
                                     const Options& used) {
    if (!is_same(mixture, results[static_cast<std::size_t>(index)].mixture)) return TwoSidedStatistics();
    return two_sided_statistics(all, input, index, traces, mixture, used, &cancel_flag());
  };
  certify(
      ensemble, inputs, options,
      [&](Result&& result) {
        upper.values[static_cast<std::size_t>(result.input)] = result.statistics->w2_upper;
        upper.found += std::isnan(result.statistics->w2_upper) ? 0 : 1;
      },
      services);
  if (upper.found < static_cast<Index>(results.size())) {
    upper.gap = "the result is another method's, or certify was given other options; give the same here";
  }
  return upper;
}

}  // namespace mixcert::cli

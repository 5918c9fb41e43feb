// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What people read first: means and deviations of auto, for every kind of layer, against 1e5 samples of the
// network, and no component without width where the output has a density.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/layer_kinds.h"

namespace mixcert::testing {
namespace auto_deviations_test {

constexpr Index kSamples = 100000;

TEST(AutoDeviations, AreTheNetworksForEveryKindOfLayer) {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  for (const LayerKindCase& one : layer_kind_cases(17)) {
    SCOPED_TRACE(one.name);
    const Result result = certify(one.ensemble, one.input, Options{}, services).front();
    SimulationOptions simulation;
    simulation.samples = kSamples;
    const Matrix drawn = simulate(one.ensemble, one.input, 0, simulation);
    const Vector means = drawn.rowwise().mean();
    const Matrix centred = drawn.colwise() - means;
    double worst = 0.0;
    for (Index i = 0; i < drawn.rows(); ++i) {
      const double n = static_cast<double>(kSamples);
      const double variance = centred.row(i).squaredNorm() / n, deviation = std::sqrt(variance);
      const double kurtosis = centred.row(i).array().pow(4).sum() / n / (variance * variance);
      const double ratio = result.mixture.standard_deviation()(i) / deviation;
      // Four standard errors of the sampled deviation.
      EXPECT_NEAR(ratio, 1.0, one.tolerance + 4.0 * std::sqrt((kurtosis - 1.0) / (4.0 * n)))
          << "output " << i;
      EXPECT_NEAR(result.mixture.mean()(i), means(i), deviation * (one.tolerance + 4.0 / std::sqrt(n)))
          << "output " << i;
      worst = std::max(worst, std::abs(ratio - 1.0));
      for (Index k = 0; k < result.mixture.size() && one.has_density; ++k)
        EXPECT_GT(result.mixture.component(k).covariance.variances()(i), 0.0);
    }
    std::printf("%-46s deviations within %.2f %%, method %s, %d component(s)\n", one.name, 100.0 * worst,
                std::string(to_string(result.method)).c_str(), static_cast<int>(result.mixture.size()));
  }
}

}  // namespace auto_deviations_test
}  // namespace mixcert::testing

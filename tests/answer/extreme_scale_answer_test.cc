// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Answers about laws whose variances are hardly doubles any more. The law is the mixture itself, so that
// everything is known exactly: each range holds it, or the library refuses by an exception.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "mixcert/answer/answers.h"
#include "mixcert/answer/questions.h"
#include "mixcert/core/error.h"

namespace mixcert::testing {
namespace extreme_scale_answer_test {

using Wide = long double;

/// Two Gaussians with weights 1/4 and 3/4.
struct TwoGaussians {
  std::array<double, 2> mean;
  std::array<double, 2> variance;

  [[nodiscard]] CertifiedLaw law() const {
    std::vector<Gaussian> parts;
    for (const std::size_t i : {0U, 1U}) {
      parts.push_back({Vector::Constant(1, mean[i]), Covariance::diagonal(Vector::Constant(1, variance[i]))});
    }
    return {GaussianMixture((Vector(2) << 0.25, 0.75).finished(), std::move(parts)), 0.0, 0.0};
  }
  template <typename Function>
  [[nodiscard]] Wide average(Function function) const {
    return 0.25L * function(Wide{mean[0]}, Wide{variance[0]}) +
           0.75L * function(Wide{mean[1]}, Wide{variance[1]});
  }
  [[nodiscard]] Wide deviation() const {
    const Wide centre = average([](Wide m, Wide) { return m; });
    return std::sqrt(average([&](Wide m, Wide v) { return v + (m - centre) * (m - centre); }));
  }
  [[nodiscard]] Wide above(double threshold) const {
    return average([&](Wide m, Wide v) { return std::erfc((threshold - m) / std::sqrt(2 * v)) / 2; });
  }
  [[nodiscard]] Wide negative_log_density(double noise, double label) const {
    return -std::log(average([&](Wide m, Wide v) {
      const Wide total = v + static_cast<Wide>(noise) * noise;
      return std::exp(-(label - m) * (label - m) / (2 * total)) /
             std::sqrt(2 * std::numbers::pi_v<Wide> * total);
    }));
  }
};

/// `slack`: what long double itself leaves open.
void expect_holds(const Interval& range, Wide truth, Wide slack) {
  EXPECT_LE(range.lower, truth + slack);
  EXPECT_GE(range.upper, truth - slack);
}

TEST(ExtremeScaleAnswer, RangesHoldTheMixtureItself) {
  for (const double scale : {1e-100, 1e-150, 1e-154, 1e-156, 1e-158, 1e-160, 1e100, 1e150}) {
    SCOPED_TRACE("scale " + std::to_string(std::log10(scale)));
    const TwoGaussians known{{0.3 * scale, -0.7 * scale}, {0.9 * scale * scale, 0.37 * scale * scale}};
    try {
      const CertifiedLine line = coordinate(known.law(), 0);
      expect_holds(certified_deviation(line), known.deviation(), 1e-18L * known.deviation());
      for (const double at : {-1.3, -0.2, 0.0, 0.45}) {
        expect_holds(probability_above(line, at * scale).interval, known.above(at * scale), 1e-17L);
        const Wide exact = known.negative_log_density(0.3 * scale, at * scale);
        expect_holds(negative_log_density(line, 0.3 * scale, at * scale), exact, 1e-16L * std::fabs(exact));
      }
    } catch (const Error&) {
      SUCCEED() << "refused";
    }
  }
}

}  // namespace extreme_scale_answer_test
}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Heavy: certified answers about random networks against 250,000 samples of each, and soft tails in fifty
// digits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "answer/dual_bounds.h"
#include "certify/bound_property.h"
#include "certify/moment_property.h"
#include "core/normal.h"
#include "mixcert/answer/answers.h"
#include "mixcert/statistics/simulate.h"
#include "support/high_precision.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace answer_property_heavy_test {

constexpr double kErrors = 5.0;  // standard errors that Monte Carlo may be off

using Widths = std::map<std::string, std::vector<double>>;

/// Mean of `values` with its standard error must meet the interval.
void expect_within(const Interval& interval, const Eigen::ArrayXd& values, const std::string& what) {
  const auto count = static_cast<double>(values.size());
  const double mean = values.mean();
  const double variance = (values - mean).square().mean();
  const double error = kErrors * std::sqrt(variance / count) + 10.0 / count * std::abs(mean) + 1e-12;
  EXPECT_GE(mean + error, interval.lower) << what;
  EXPECT_LE(mean - error, interval.upper) << what;
}

/// A share of samples; an event that was never seen may still have a few in 1e6.
void expect_probability(const Interval& interval, double share, Index samples, const std::string& what) {
  const auto count = static_cast<double>(samples);
  const double error = kErrors * std::sqrt(share * (1.0 - share) / count) + 12.0 / count;
  EXPECT_GE(share + error, interval.lower) << what;
  EXPECT_LE(share - error, interval.upper) << what;
}

void check_moments(const CertifiedLaw& law, const Matrix& samples, Widths& widths) {
  const MomentAnswers answers = certified_moments(law);
  const CovarianceAnswers covariances = certified_covariances(law);
  const Vector mean = samples.rowwise().mean();
  for (Index i = 0; i < law.dimension(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const double scale = std::max(answers.deviations[place].estimate, 1e-12);
    expect_within(answers.means[place], samples.row(i).array(), "mean");
    widths["mean / sd"].push_back(answers.means[place].width() / scale);
    widths["deviation / sd"].push_back(answers.deviations[place].width() / scale);
    for (Index j = 0; j <= i; ++j) {
      const Eigen::ArrayXd products = (samples.row(i).array() - mean(i)) * (samples.row(j).array() - mean(j));
      expect_within(covariances.entry(i, j), products, i == j ? "variance" : "covariance");
      const double other = std::max(answers.deviations[static_cast<std::size_t>(j)].estimate, 1e-12);
      if (i != j) widths["covariance / sd^2"].push_back(covariances.entry(i, j).width() / (scale * other));
    }
  }
}

void check_lines(const CertifiedLaw& law, const Matrix& samples, Generator& generator, Widths& widths) {
  for (int repeat = 0; repeat < 4; ++repeat) {
    const Vector direction = repeat == 0 ? Vector(Vector::Unit(law.dimension(), 0))
                                         : Vector(random_matrix(generator, law.dimension(), 1));
    const CertifiedLine line = project(law, direction);
    const Eigen::ArrayXd values = samples.transpose() * direction;
    const double spread = line.mixture().deviation();
    const double t = line.mixture().mean() + (1e-3 + spread) * random_matrix(generator, 1, 1)(0);
    const Interval half = probability_above(line, t).interval;
    expect_probability(half, (values > t).cast<double>().mean(), values.size(), "half-space");
    widths["half-space"].push_back(half.width());
    const Interval slab = probability_between(line, t, t + spread + 1e-3).interval;
    expect_probability(slab, (values > t && values < t + spread + 1e-3).cast<double>().mean(), values.size(),
                       "slab");
    const double noise = 0.5 * spread + 1e-3;
    const Interval noisy = probability_above(line.with_noise(noise), t).interval;
    expect_within(noisy, values.unaryExpr([&](double y) { return normal_tail((t - y) / noise); }), "noisy");
    widths["half-space with noise"].push_back(noisy.width());
    const CredibleInterval credible = credible_interval(line, 0.9);
    const double mass = (values >= credible.lower && values <= credible.upper).cast<double>().mean();
    expect_probability({0.9, 0.9, 1.0}, mass, values.size(), "credible");
    if (spread > 1e-9) {
      widths["credible 0.9, length / that of q"].push_back(
          (credible.upper - credible.lower) /
          (line.mixture().quantile(0.95) - line.mixture().quantile(0.05)));
    }
  }
}

void check_statements(const CertifiedLaw& law, const Matrix& samples, Widths& widths) {
  const Index n = std::min<Index>(4, law.dimension());
  const Vector mean = law.mixture().mean();
  const Vector spread = 1.5 * law.mixture().standard_deviation().array() + 1e-3;
  Statement box{Matrix::Zero(2 * n, law.dimension()), Vector(2 * n)};
  box.rows.topLeftCorner(n, n).setIdentity();
  box.rows.bottomLeftCorner(n, n) = -Matrix::Identity(n, n);
  box.thresholds << (mean - spread).head(n), -(mean + spread).head(n);
  const auto share = [&](const Statement& statement) {
    const Matrix slack = (statement.rows * samples).colwise() - statement.thresholds;
    return (slack.colwise().minCoeff().array() > 0.0).cast<double>().mean();
  };
  const Interval boxed = probability(law, box).interval;
  expect_probability(boxed, share(box), samples.cols(), "box");
  widths["box"].push_back(boxed.width());
  if (n < 2) return;
  const MostLikelyClass classes = most_likely_class(law, 0, n);
  for (Index c = 0; c < n; ++c) {
    const Interval one = classes.probabilities[static_cast<std::size_t>(c)].interval;
    expect_probability(one, share(class_statement(law.dimension(), 0, n, c)), samples.cols(), "class");
    widths["class"].push_back(one.width());
  }
}

void check_answers(const Result& result, const Matrix& samples, std::uint64_t seed, Widths& widths) {
  Generator generator = make_generator(seed, Stream::Example, 77);
  const CertifiedLaw law(result);
  widths["bound / root of second moment"].push_back(law.w2() / std::sqrt(law.mixture().second_moment()));
  check_moments(law, samples, widths);
  check_lines(law, samples, generator, widths);
  check_statements(law, samples, widths);
}

void print_medians(const char* title, Widths& widths) {
  std::printf("%s, median widths:", title);
  for (auto& [name, values] : widths) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    std::printf(" %s %.3g;", name.c_str(), *middle);
  }
  std::printf("\n");
}

std::uint64_t network_count() {
  const char* wanted = std::getenv("MIXCERT_PROPERTY_NETWORKS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 100;
}

SimulationOptions simulation() {
  SimulationOptions options;
  options.samples = 250000;
  options.seed = 5;
  return options;
}

TEST(AnswerPropertiesHeavy, MomentMethod) {
  Widths widths;
  for (std::uint64_t index = 0; index < network_count(); ++index) {
    SCOPED_TRACE("moment case " + std::to_string(index));
    const MomentCase tested = moment_case(index);
    Options options;
    options.method = Method::Moment;
    options.theorems = TheoremSet::Coupling;
    options.pieces = tested.pieces;
    const Result result = certify(tested.network, tested.input, options).front();
    check_answers(result, simulate(tested.network, tested.input, 0, simulation()), index, widths);
  }
  print_medians("moment method", widths);
}

TEST(AnswerPropertiesHeavy, SignatureMethod) {
  Widths widths;
  for (std::uint64_t index = 0; index < network_count(); ++index) {
    SCOPED_TRACE("signature case " + std::to_string(index));
    const PropertyCase tested = property_case(index);
    const Result result =
        certify(tested.network, tested.inputs, tested.options, transport_services()).front();
    const Matrix samples = tested.options.joint
                               ? simulate_joint(tested.network, tested.inputs, simulation())
                               : simulate(tested.network, tested.inputs.col(0), 0, simulation());
    check_answers(result, samples, index, widths);
  }
  print_medians("signature method", widths);
}

/// E(1 - ((z - Z)/k)^order; z - k < Z <= z) + P(Z > z) in fifty digits, of exact numbers.
Precise precise_soft_tail(double threshold, double mean, double deviation, double width, int order) {
  const Precise z = (Precise(threshold) - mean) / deviation;
  const Precise k = Precise(width) / deviation;
  const Precise moved = order == 2 ? Precise(precise_square_about(z, z - k, z) / (k * k))
                                   : Precise(-precise_mean_about(z, z - k, z) / k);
  return precise_tail(z - k) - moved;
}

TEST(AnswerPropertiesHeavy, SoftTailsAreNeverBelowTheTruth) {
  Generator generator = make_generator(8, Stream::Example);
  double largest_slack = 0.0;
  for (int repeat = 0; repeat < 20000; ++repeat) {
    const double deviation = std::pow(10.0, 4.0 * uniform(generator) - 2.0);
    const double mean = random_matrix(generator, 1, 1)(0);
    const double threshold = mean + deviation * 8.0 * random_matrix(generator, 1, 1)(0);
    const double width = deviation * std::pow(10.0, 10.0 * uniform(generator) - 8.0);
    const LineMixture line(Vector::Ones(1), Vector::Constant(1, mean), Vector::Constant(1, deviation));
    for (const int order : {1, 2}) {
      const double upper = soft_tail_upper(line, threshold, width, static_cast<TransportOrder>(order));
      const Precise truth = precise_soft_tail(threshold, mean, deviation, width, order);
      ASSERT_GE(Precise(upper), truth) << threshold << ' ' << mean << ' ' << deviation << ' ' << width;
      largest_slack = std::max(largest_slack, static_cast<double>(Precise(upper) - truth));
    }
  }
  EXPECT_LT(largest_slack, 1e-12);
  std::printf("soft tails: largest slack for rounding %.2g\n", largest_slack);
}

}  // namespace answer_property_heavy_test
}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Splits of samples: the monotone map against the distribution function, its cost against the table's error,
// and the law of the moved samples given their piece.
#include <gtest/gtest.h>

#include <cmath>

#include "core/normal.h"
#include "methods/moment/split_pieces.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/coupled_simulation.h"
#include "statistics/sample_statistics.h"
#include "support/random_laws.h"

namespace mixcert {
namespace split_map_test {

double mixture_cdf(const SplitRule& rule, double x) {
  double sum = 0.0;
  for (Index c = 0; c < rule.size(); ++c) {
    sum += rule.weights(c) * normal_cdf((x - rule.centers(c)) / rule.width);
  }
  return sum / rule.weights.sum();
}

TEST(MonotoneSplit, InvertsTheDistributionFunction) {
  for (const SplitRule& rule : split_rules()) {
    for (double x = -6.0; x <= 0.0; x += 0.37) {
      const double place = monotone_split(rule, x);
      const double wanted = normal_cdf(x);
      // An error d of the place changes log F by about |x| d / width.
      EXPECT_NEAR(mixture_cdf(rule, place) / wanted, 1.0, 1e-11 / rule.width)
          << "size " << rule.size() << ", width " << rule.width << ", x " << x;
      EXPECT_EQ(monotone_split(rule, -x), -place);
    }
  }
}

/// The map is nearly a step function between centers where the width is small: the step follows it.
TEST(MonotoneSplit, CostsTheTablesError) {
  for (std::size_t r = 0; r < split_rules().size(); r += 3) {
    const SplitRule& rule = split_rules()[r];
    const double step = std::min(1.0 / 64.0, rule.width * rule.width / 2.0);
    double square = 0.0;
    for (double x = step / 2.0; x <= 8.0; x += step) {
      const double change = monotone_split(rule, x) - x;
      square += 2.0 * step * normal_density(x) * change * change;
    }
    EXPECT_LE(std::sqrt(square), rule.error * (1.0 + 1e-5)) << rule.size() << " " << rule.width;
    EXPECT_GE(std::sqrt(square), rule.error * 0.9 - 1e-6) << rule.size() << " " << rule.width;
  }
}

enum class Kind { Diagonal, Dense, Singular, Partial };

class SplitMapOf : public ::testing::TestWithParam<Kind> {};

const SplitRule& rule_of_size(Index size) {
  for (const SplitRule& rule : split_rules()) {
    if (rule.size() == size && rule.width < 0.7) return rule;
  }
  return split_rules().back();
}

/// C = sum u u' + rest; `Partial` directions determine nothing alone, as half of an eigenvector does not.
struct SplitCase {
  Gaussian component;
  std::vector<SplitDirection> splits;
};

SplitCase make_case(Kind kind) {
  Generator generator = make_generator(4, Stream::Example);
  const Index n = 4;
  const Vector mean = testing::random_matrix(generator, n, 1);
  const Matrix factor = testing::random_matrix(generator, n, kind == Kind::Singular ? 2 : n);
  if (kind == Kind::Diagonal) {
    const Vector variances = factor.col(0).cwiseAbs2();
    Vector u = Vector::Zero(n);
    Vector v = Vector::Zero(n);
    u(2) = std::sqrt(variances(2));
    v(0) = std::sqrt(variances(0));
    return {{mean, Covariance::diagonal(variances)}, {{u, &rule_of_size(3)}, {v, &rule_of_size(2)}}};
  }
  const Gaussian component{mean, Covariance::dense(factor * factor.transpose())};
  const double part = kind == Kind::Partial ? 0.5 : 1.0;
  return {component, {{part * factor.col(1), &rule_of_size(3)}, {part * factor.col(0), &rule_of_size(2)}}};
}

TEST_P(SplitMapOf, GivesEachPieceItsLaw) {
  const SplitCase tested = make_case(GetParam());
  constexpr Index kSamples = 60000;
  Matrix samples = sample_mixture(GaussianMixture(tested.component), kSamples, 3, Stream::Example, 1);
  Generator generator = make_generator(6, Stream::Example);
  const SplitMap map(tested.component, tested.splits);
  const std::vector<Index> labels = map.apply(samples, generator);
  const GaussianMixture pieces = split_component(tested.component, tested.splits);
  ASSERT_EQ(map.piece_count(), pieces.size());
  for (Index piece = 0; piece < pieces.size(); ++piece) {
    std::vector<Index> mine;
    for (std::size_t s = 0; s < labels.size(); ++s) {
      if (labels[s] == piece) mine.push_back(static_cast<Index>(s));
    }
    const double share = static_cast<double>(mine.size()) / kSamples;
    const double weight = pieces.weights()(piece);
    EXPECT_NEAR(share, weight, testing::kSigmas * std::sqrt(weight / kSamples));
    const Gaussian& law = pieces.component(piece);
    EXPECT_LE(testing::moment_z(samples(Eigen::all, mine), law.mean, law.covariance.to_dense()),
              testing::kSigmas);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SplitMapOf,
                         ::testing::Values(Kind::Diagonal, Kind::Dense, Kind::Singular, Kind::Partial));

TEST(SplitMap, WithoutSplitsMovesNothing) {
  const SplitCase tested = make_case(Kind::Dense);
  const std::vector<SplitDirection> none;
  Matrix samples = Matrix::Ones(4, 3);
  Generator generator = make_generator(6, Stream::Example);
  EXPECT_EQ(SplitMap(tested.component, none).apply(samples, generator), std::vector<Index>(3, 0));
  EXPECT_EQ(samples, Matrix::Ones(4, 3));
}

}  // namespace split_map_test
}  // namespace mixcert

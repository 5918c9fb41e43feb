// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds of sums of masks against exact distances on the line and in rotated products of two lines, and what
// else the function promises: docs/theory/mask-sums.md (D.12), (D.13).
#include "network/mask_sums/mask_sum_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/normal.h"
#include "mixcert/core/error.h"
#include "network/mask_sums/mask_flow.h"

namespace mixcert {
namespace mask_sum_distance_test {

struct Masks {
  std::vector<double> sizes, rates;
  double noise = 0.0;  ///< variance

  [[nodiscard]] double variance() const {
    double sum = noise;
    for (const double c : sizes) sum += c * c;
    return sum;
  }
};

/// All values of the sum without noise, with their probabilities, in increasing order.
std::vector<std::pair<double, double>> atoms(const Masks& masks) {
  std::vector<std::pair<double, double>> all{{0.0, 1.0}};
  for (std::size_t j = 0; j < masks.sizes.size(); ++j) {
    const double p = masks.rates[j], c = masks.sizes[j];
    std::vector<std::pair<double, double>> next;
    for (const auto& [value, mass] : all) {
      next.emplace_back(value - c * std::sqrt((1.0 - p) / p), mass * p);
      next.emplace_back(value + c * std::sqrt(p / (1.0 - p)), mass * (1.0 - p));
    }
    all = next;
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// W2^2 = 2 Var - 2 E y x of the monotone coupling: for atoms E[x; a < x <= b] = phi(a) - phi(b) in units.
double exact_square_of_atoms(const Masks& masks) {
  const double deviation = std::sqrt(masks.variance());
  double mass = 0.0, product = 0.0, before = 0.0;
  for (const auto& [value, probability] : atoms(masks)) {
    mass += probability;
    const double after = mass < 1.0 - 1e-15 ? normal_density(normal_quantile(mass)) : 0.0;
    product += value * deviation * (before - after);
    before = after;
  }
  return 2.0 * masks.variance() - 2.0 * product;
}

/// The same with noise: int (y - sd Phi^{-1}(F(y)))^2 f(y) dy over a fine grid, each tail from its own side.
double exact_square(const Masks& masks) {
  if (masks.noise == 0.0) return exact_square_of_atoms(masks);
  const auto points = atoms(masks);
  const double sd = std::sqrt(masks.variance()), s = std::sqrt(masks.noise);
  const double step = s / 40.0;
  double sum = 0.0;
  for (double y = points.front().first - 8.0 * s; y <= points.back().first + 8.0 * s; y += step) {
    double below = 0.0, above = 0.0, density = 0.0;
    for (const auto& [value, mass] : points) {
      const double x = (y - value) / s;
      below += mass * normal_cdf(x);
      above += mass * normal_tail(x);
      density += mass * normal_density(x) / s;
    }
    const double quantile = below < above ? normal_quantile(below) : -normal_quantile(above);
    sum += step * density * (y - sd * quantile) * (y - sd * quantile);
  }
  return sum;
}

std::vector<MaskGroup> groups(const Masks& masks, const Vector& axis) {
  std::vector<MaskGroup> all;
  for (std::size_t j = 0; j < masks.sizes.size(); ++j) all.push_back({masks.rates[j], masks.sizes[j] * axis});
  return all;
}

MaskSumBound bound_on_line(const Masks& masks, const MaskSumSettings& settings = {}) {
  return mask_sum_distance(groups(masks, Vector::Ones(1)), Matrix::Constant(1, 1, masks.noise), settings);
}

class RandomMasks {
 public:
  explicit RandomMasks(unsigned seed) : random_(seed) {}

  /// Equal, normal or log-normal sizes, or one that dominates; rates .02 to .9; with and without noise.
  Masks draw(int most) {
    Masks masks;
    const int count = 1 + static_cast<int>(random_() % static_cast<unsigned>(most));
    const unsigned kind = random_() % 4;
    const double common = rate();
    for (int j = 0; j < count; ++j) {
      const double sizes[4] = {1.0, normal_(random_), std::exp(normal_(random_)), j == 0 ? 5.0 : 0.5};
      masks.sizes.push_back(sizes[kind]);
      masks.rates.push_back(random_() % 2 == 0 ? common : rate());
    }
    if (random_() % 2 == 0) masks.noise = masks.variance() * std::exp(-4.0 * uniform_(random_));
    return masks;
  }
  double rate() { return 0.02 + 0.88 * uniform_(random_); }
  double angle() { return 6.3 * uniform_(random_); }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

MaskSumSettings quick_settings() {
  MaskSumSettings settings;
  settings.nodes = 12;
  settings.cuts = {0.1, 0.5};
  return settings;
}

TEST(MaskSumDistance, IsNeverBelowTheDistanceOnTheLine) {
  RandomMasks random(11);
  double smallest = 1e9;
  int flows = 0;
  for (int round = 0; round < 300; ++round) {
    const Masks masks = random.draw(8);
    const MaskSumBound found = bound_on_line(masks, quick_settings());
    const double exact = std::sqrt(std::max(exact_square(masks), 0.0));
    EXPECT_GE(found.w2, exact * (1.0 - 1e-6) - 1e-7) << round << " " << found.theorem;
    EXPECT_LE(found.w2, found.coupled);
    if (exact > 1e-6) smallest = std::min(smallest, found.w2 / exact);
    flows += found.w2 < 0.999 * found.coupled ? 1 : 0;
  }
  EXPECT_GE(smallest, 1.0 - 1e-6);
  EXPECT_GT(flows, 150);
}

TEST(MaskSumDistance, IsNeverBelowTheDistanceInThePlane) {
  RandomMasks random(12);
  for (int round = 0; round < 100; ++round) {
    const Masks one = random.draw(5), two = random.draw(5);
    const double angle = random.angle();
    const Eigen::Vector2d first(std::cos(angle), std::sin(angle)), second(-first(1), first(0));
    std::vector<MaskGroup> all = groups(one, first);
    for (const MaskGroup& group : groups(two, second)) all.push_back(group);
    const Matrix noise = one.noise * first * first.transpose() + two.noise * second * second.transpose();
    const MaskSumBound found = mask_sum_distance(all, noise, quick_settings());
    const double exact = std::sqrt(std::max(exact_square(one) + exact_square(two), 0.0));
    EXPECT_GE(found.w2, exact * (1.0 - 1e-6) - 1e-7) << round << " " << found.theorem;
  }
}

TEST(MaskFlow, EveryNodeIsABound) {
  // X_w is a sum of the same masks times w with more noise, so that (D.11) can be seen node by node, too.
  RandomMasks random(13);
  for (int round = 0; round < 30; ++round) {
    const Masks masks = random.draw(6);
    MaskVectors vectors;
    std::vector<NoisyMaskTable> tables;
    const auto n = static_cast<Index>(masks.sizes.size());
    vectors.vectors.resize(1, n);
    for (Index j = 0; j < n; ++j) {
      const double rate = masks.rates[static_cast<std::size_t>(j)],
                   size = masks.sizes[static_cast<std::size_t>(j)];
      vectors.vectors(0, j) = rate > 0.5 ? -size : size;
      tables.emplace_back(rate > 0.5 ? 1.0 - rate : rate);
      vectors.laws.push_back(j);
    }
    vectors.squares = vectors.vectors.row(0).cwiseAbs2().transpose();
    const double variance = masks.variance(), whole = exact_square(masks);
    const FlowStage stage{0, n, Matrix::Constant(1, 1, masks.noise), Matrix::Constant(1, 1, variance),
                          1e-14 * variance};
    for (const FlowNode& node : MaskFlow(vectors, tables, 1).nodes(stage, 10)) {
      Masks on_the_way = masks;
      for (double& size : on_the_way.sizes) size *= node.w;
      on_the_way.noise = node.w * node.w * masks.noise + (1.0 - node.w * node.w) * variance;
      const double moved = std::sqrt(std::max(exact_square(on_the_way), 0.0));
      EXPECT_GE(node.distance, moved * (1.0 - 1e-6) - 1e-7) << round << " " << node.w;
      EXPECT_GE(jump_and_flow(node, 0.0, variance), whole * (1.0 - 1e-6) - 1e-12) << round << " " << node.w;
    }
  }
}

TEST(MaskSumDistance, OneMaskIsCoupledExactly) {
  for (const double rate : {0.02, 0.1, 0.3, 0.5, 0.7, 0.9}) {
    const Masks masks{{2.0}, {rate}, 0.0};
    const MaskSumBound found = bound_on_line(masks);
    EXPECT_NEAR(found.w2, std::sqrt(exact_square(masks)), 1e-6);
    EXPECT_EQ(found.theorem, "masks one by one (D.2)");
  }
}

TEST(MaskSumDistance, ManyMasksAreNearlyGaussian) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  double last = 1.0;
  for (const Index n : {40, 160, 640}) {
    const Matrix c = Matrix::NullaryExpr(4, n, [&](Index, Index) { return normal(random); });
    const MaskSumBound found = mask_sum_distance({{0.2, c}}, Matrix::Zero(4, 4), quick_settings());
    EXPECT_LT(found.w2 / c.norm(), 0.7 * last) << n;
    EXPECT_LT(found.w2, 0.6 * found.coupled);
    last = found.w2 / c.norm();
  }
  EXPECT_LT(last, 0.1);
}

TEST(MaskSumDistance, ChainsAreNoWorseThanOneFlow) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  const Matrix c = Matrix::NullaryExpr(3, 200, [&](Index, Index) { return normal(random); });
  MaskSumSettings alone;
  alone.cuts = {};
  const MaskSumBound one = mask_sum_distance({{0.5, c}}, Matrix::Zero(3, 3), alone);
  const MaskSumBound many = mask_sum_distance({{0.5, c}}, Matrix::Zero(3, 3));
  EXPECT_EQ(one.theorem, "jump and flow (D.12)");
  EXPECT_LT(many.w2, 0.8 * one.w2);
  EXPECT_NE(many.theorem.find("D.13"), std::string::npos);
}

TEST(MaskSumDistance, SmallMasksSmoothADominatingOne) {
  Masks masks{std::vector<double>(12, 0.3), std::vector<double>(12, 0.3), 0.0};
  masks.sizes.push_back(3.0);
  masks.rates.push_back(0.3);
  const MaskSumBound found = bound_on_line(masks);
  const double exact = std::sqrt(exact_square(masks));
  EXPECT_GE(found.w2, exact);
  EXPECT_LE(found.w2, 1.5 * exact);
  EXPECT_LE(found.w2, 0.9 * found.coupled);
}

TEST(MaskSumDistance, WorksWhereTheCovarianceIsSingular) {
  // Masks of one line in three dimensions: the distance is that of the line.
  const Masks masks{std::vector<double>(10, 1.0), std::vector<double>(10, 0.4), 0.0};
  const Eigen::Vector3d axis(1.0, -2.0, 2.0);
  const MaskSumBound flat = mask_sum_distance(groups(masks, axis / 3.0), Matrix::Zero(3, 3));
  const MaskSumBound line = bound_on_line(masks);
  EXPECT_GE(flat.w2, std::sqrt(exact_square(masks)));
  EXPECT_NEAR(flat.w2, line.w2, 3e-2 * line.w2);
  EXPECT_NE(flat.theorem, "masks one by one (D.2)");
}

TEST(MaskSumDistance, DoesNotDependOnThreadsOrUnits) {
  std::mt19937 random(6);
  std::normal_distribution<double> normal;
  const auto draw = [&](Index n) {
    return Matrix(Matrix::NullaryExpr(5, n, [&](Index, Index) { return normal(random); }));
  };
  const Matrix a = draw(300), b = draw(290), root = draw(5);
  const Matrix noise = root * root.transpose();
  MaskSumSettings settings = quick_settings();
  const MaskSumBound one = mask_sum_distance({{0.2, a}, {0.7, b}}, noise, settings);
  settings.threads = 3;
  const MaskSumBound three = mask_sum_distance({{0.2, a}, {0.7, b}}, noise, settings);
  EXPECT_EQ(one.w2, three.w2);
  const double unit = std::ldexp(1.0, 400);
  const MaskSumBound large =
      mask_sum_distance({{0.2, unit * a}, {0.7, unit * b}}, unit * noise * unit, settings);
  EXPECT_NEAR(large.w2 / unit, one.w2, 1e-12 * one.w2);
}

TEST(MaskSumDistance, KnowsSmallCases) {
  const Matrix noise = Matrix::Identity(2, 2);
  EXPECT_LT(mask_sum_distance({}, noise).w2, 1e-100);
  EXPECT_LT(mask_sum_distance({{0.3, Matrix::Zero(2, 4)}}, noise).w2, 1e-100);
  EXPECT_LT(mask_sum_distance({{0.3, Matrix::Zero(2, 4)}}, Matrix::Zero(2, 2)).w2, 1e-100);
  // Masks far below the noise vanish in it.
  const MaskSumBound small = mask_sum_distance({{0.3, Matrix::Constant(2, 4, 1e-3)}}, noise);
  EXPECT_LT(small.w2, 1e-3 * small.coupled);
}

TEST(MaskSumDistance, TakesNoMoreOperationsThanAllowed) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const Matrix vectors = Matrix::NullaryExpr(2, 400, [&] { return normal(random); });
  MaskSumSettings settings;
  double before = 0.0;
  // All cuts, half of the nodes, no cuts, the fewest nodes, masks one by one.
  const char* names[] = {"D.13", "D.13", "D.12", "D.12", "D.2"};
  int at = 0;
  for (const double most : {2e11, 4e6, 1e6, 3e5, 1e3}) {
    settings.most_operations = most;
    const MaskSumBound found = mask_sum_distance({{0.1, vectors}}, Matrix::Zero(2, 2), settings);
    EXPECT_NE(found.theorem.find(names[at++]), std::string::npos) << found.theorem << " " << most;
    EXPECT_GE(found.w2, before);
    before = found.w2;
  }
}

TEST(MaskSumDistance, ExtremeRatesAndSizesOnTheLine) {
  const double rates[] = {1e-6, 1.0 - 1e-6, 0.5, 1e-3, 0.999};
  for (int round = 0; round < 40; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    Masks masks;
    const int count = 1 + static_cast<int>(random() % 6);
    for (int j = 0; j < count; ++j) {
      masks.sizes.push_back(std::pow(10.0, -static_cast<double>(random() % 4)));
      masks.rates.push_back(rates[random() % 5]);
    }
    const double exact = std::sqrt(std::max(exact_square(masks), 0.0));
    for (const double unit : {1e-150, 1.0, 1e150}) {
      Masks scaled = masks;
      for (double& size : scaled.sizes) size *= unit;
      EXPECT_GE(bound_on_line(scaled, quick_settings()).w2 / unit, exact * (1.0 - 1e-6))
          << round << " " << unit;
    }
  }
}

TEST(MaskSumDistance, RefusesWhatIsNotASum) {
  const Matrix noise = Matrix::Identity(2, 2), c = Matrix::Ones(2, 3);
  EXPECT_THROW((void)mask_sum_distance({{0.0, c}}, noise), InvalidArgument);
  EXPECT_THROW((void)mask_sum_distance({{1.0, c}}, noise), InvalidArgument);
  EXPECT_THROW((void)mask_sum_distance({{0.5, Matrix::Ones(3, 3)}}, noise), InvalidArgument);
  EXPECT_THROW((void)mask_sum_distance({{0.5, c}}, -noise), InvalidArgument);
  EXPECT_THROW((void)mask_sum_distance({{0.5, c * NAN}}, noise), InvalidArgument);
}

TEST(StoredCovariance, CostsWhatItDiffers) {
  const Matrix c = (Matrix(2, 3) << 1.0, 2.0, 0.5, -1.0, 0.3, 0.2).finished(), noise = Matrix::Identity(2, 2);
  const Matrix exact = noise + c * c.transpose();
  EXPECT_LT(stored_covariance_cost({{0.5, c}}, noise, exact), 2e-6);
  EXPECT_GE(stored_covariance_cost({{0.5, c}}, noise, exact + 0.01 * noise),
            0.01 / (2.0 * std::sqrt(exact.trace())));
}

}  // namespace mask_sum_distance_test
}  // namespace mixcert

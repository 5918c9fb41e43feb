// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lower bounds of sums of masks against enumerated ones: docs/theory/mask-sums.md (D.9).
#include "network/mask_sums/mask_sum_lower.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <random>

#include "core/normal.h"
#include "network/mask_sums/mask_lattice.h"
#include "network/mask_sums/reverse_water_filling.h"

namespace mixcert {
namespace mask_sum_lower_test {

struct Atom {
  double value, mass;
};

/// All values of sum_j c_j Y_j, increasing.
std::vector<Atom> atoms(const std::vector<double>& sizes, const std::vector<double>& rates) {
  std::vector<Atom> all{{0.0, 1.0}};
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    const double p = rates[j];
    std::vector<Atom> next;
    for (const Atom& atom : all) {
      next.push_back({atom.value - sizes[j] * std::sqrt((1.0 - p) / p), atom.mass * p});
      next.push_back({atom.value + sizes[j] * std::sqrt(p / (1.0 - p)), atom.mass * (1.0 - p)});
    }
    all = next;
  }
  std::sort(all.begin(), all.end(), [](const Atom& a, const Atom& b) { return a.value < b.value; });
  return all;
}

/// E y g of the monotone coupling: E[g; a < g <= b] = phi(a) - phi(b).
double correlation(const std::vector<Atom>& all) {
  double mass = 0.0, before = 0.0, sum = 0.0;
  for (const Atom& atom : all) {
    mass += atom.mass;
    const double after = mass < 1.0 - 1e-15 ? normal_density(normal_quantile(mass)) : 0.0;
    sum += atom.value * (before - after);
    before = after;
  }
  return sum;
}

double variance(const std::vector<double>& sizes) {
  double sum = 0.0;
  for (const double c : sizes) sum += c * c;
  return sum;
}

/// The smallest of Var + s^2 - 2 s E y g over a search in s: no closed form of the library is used.
double nearest_by_search(const std::vector<double>& sizes, const std::vector<double>& rates) {
  const double all = variance(sizes), product = correlation(atoms(sizes, rates));
  double best = all;
  for (int i = 0; i <= 4000; ++i) {
    const double s = std::sqrt(all) * 1.2 * i / 4000.0;
    best = std::min(best, all + s * s - 2.0 * s * product);
  }
  return std::sqrt(std::max(best, 0.0));
}

class RandomSums {
 public:
  explicit RandomSums(unsigned seed) : random_(seed) {}

  void draw(int most, std::vector<double>& sizes, std::vector<double>& rates) {
    const int count = 1 + static_cast<int>(random_() % static_cast<unsigned>(most));
    const unsigned kind = random_() % 4;
    sizes.clear();
    rates.clear();
    for (int j = 0; j < count; ++j) {
      const double all[4] = {1.0, normal(), std::exp(normal()), j == 0 ? 5.0 : 0.5};
      sizes.push_back(all[kind]);
      rates.push_back(rate());
    }
  }
  double normal() { return normal_(random_); }
  double rate() {
    const double extremes[4] = {1e-6, 1.0 - 1e-6, 0.5, 1e-3};
    const std::size_t kind = random_() % 12;
    return kind < 4 ? extremes[kind] : 0.02 + 0.88 * uniform_(random_);
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

std::vector<MaskGroup> along(const std::vector<double>& sizes, const std::vector<double>& rates,
                             const Vector& axis) {
  std::vector<MaskGroup> all;
  for (std::size_t j = 0; j < sizes.size(); ++j) all.push_back({rates[j], sizes[j] * axis});
  return all;
}

TEST(NearestGaussianDistance, IsTheDistanceOnTheLineAndNeverMore) {
  RandomSums random(3);
  std::vector<double> sizes, rates;
  double closest = 1.0;
  for (int round = 0; round < 300; ++round) {
    random.draw(12, sizes, rates);
    const double exact = nearest_by_search(sizes, rates);
    const double found = nearest_gaussian_distance(along(sizes, rates, Vector::Ones(1)));
    const double deviation = std::sqrt(variance(sizes));
    EXPECT_LE(found, exact + 1e-7 * deviation) << round;
    // Rates that are nearly one or zero make steps of a lattice large.
    const bool moderate =
        std::all_of(rates.begin(), rates.end(), [](double p) { return p > 0.01 && p < 0.99; });
    if (moderate) {
      EXPECT_GE(found, exact - 2e-3 * deviation) << round;
    }
    if (moderate && exact > 0.0) closest = std::min(closest, found / exact);
  }
  EXPECT_GT(closest, 0.8);
}

TEST(NearestGaussianDistance, IsNeverAboveThatOfRotatedProducts) {
  RandomSums random(4);
  std::vector<double> sizes, rates;
  for (int round = 0; round < 100; ++round) {
    const double angle = random.normal();
    const Matrix rotation = Eigen::Rotation2Dd(angle).toRotationMatrix();
    std::vector<MaskGroup> all;
    double squared = 0.0, trace = 0.0;
    for (Index k = 0; k < 2; ++k) {
      random.draw(6, sizes, rates);
      for (MaskGroup& group : along(sizes, rates, rotation.col(k))) all.push_back(group);
      squared += std::pow(nearest_by_search(sizes, rates), 2.0);
      trace += variance(sizes);
    }
    EXPECT_LE(nearest_gaussian_distance(all), std::sqrt(squared) + 1e-7 * std::sqrt(trace)) << round;
  }
}

/// Masks coupled one by one with t g: E (Y - t g)^2 = 1 + t^2 - 2 t kap, smallest at t = kap.
TEST(NearestGaussianDistance, IsNeverAboveAnyCoupling) {
  RandomSums random(5);
  double largest = 0.0;
  for (int round = 0; round < 150; ++round) {
    const Index outputs = 1 + round % 5, count = 1 + round % 17;
    std::vector<MaskGroup> all;
    double squared = 0.0, trace = 0.0;
    for (Index j = 0; j < count; ++j) {
      const double p = random.rate();
      Matrix c(outputs, 1);
      for (Index l = 0; l < outputs; ++l) c(l, 0) = random.normal();
      const double kap = normal_density(normal_quantile(p)) / std::sqrt(p * (1.0 - p));
      squared += c.squaredNorm() * (1.0 - kap * kap);
      trace += c.squaredNorm();
      all.push_back({p, c});
    }
    const double found = nearest_gaussian_distance(all);
    EXPECT_LE(found, std::sqrt(squared) + 1e-7 * std::sqrt(trace)) << round;
    largest = std::max(largest, found / std::sqrt(trace));
    EXPECT_LE(found, mask_sum_distance(all, Matrix::Zero(outputs, outputs)).w2) << round;
  }
  EXPECT_GT(largest, 0.2);
}

TEST(NearestGaussianDistance, KnowsThatFewMasksCannotFillTenOutputs) {
  RandomSums random(6);
  Matrix c(10, 34);
  for (double& entry : c.reshaped()) entry = random.normal();
  // 34 h(0.1) = 11 nats for ten directions: e^{-1.1} of the variance each, about.
  const double found = nearest_gaussian_distance({{0.1, c}}) / c.norm();
  EXPECT_GT(found, 0.2);
  EXPECT_LT(found, 0.4);
}

TEST(NearestGaussianDistance, MasksOfInactiveNeuronsTakeNoWork) {
  RandomSums random(8);
  Matrix c(10, 260), wide = Matrix::Zero(10, 512);
  for (double& entry : c.reshaped()) entry = std::abs(random.normal());
  for (Index j = 0; j < c.cols(); ++j) wide.col(512 * j / 260) = c.col(j);
  // Too many masks for the entropy to matter; skewness along a line is what is left.
  const double found = nearest_gaussian_distance({{0.1, c}});
  EXPECT_GT(found / c.norm(), 0.01);
  EXPECT_LE(found, mask_sum_distance({{0.1, c}}, Matrix::Zero(10, 10)).w2);
  EXPECT_NEAR(nearest_gaussian_distance({{0.1, wide}}), found, 1e-12 * found);
}

TEST(NearestGaussianDistance, IsTheSameInAllUnits) {
  RandomSums random(7);
  Matrix c(3, 9);
  for (double& entry : c.reshaped()) entry = random.normal();
  const double one = nearest_gaussian_distance({{0.2, c}});
  EXPECT_GT(one, 0.05);
  for (const int exponent : {-660, -300, 300, 660}) {
    const Matrix scaled = c.unaryExpr([=](double x) { return std::ldexp(x, exponent); });
    EXPECT_EQ(std::ldexp(nearest_gaussian_distance({{0.2, scaled}}), -exponent), one) << exponent;
  }
}

TEST(NearestGaussianDistance, IsZeroWhereThereIsNothingOrNoWorkIsAllowed) {
  EXPECT_EQ(nearest_gaussian_distance({}), 0.0);
  EXPECT_EQ(nearest_gaussian_distance({{0.5, Matrix::Zero(2, 3)}}), 0.0);
  MaskLowerSettings none;
  none.most_operations = 0.0;
  EXPECT_EQ(nearest_gaussian_distance({{0.5, Matrix::Ones(2, 3)}}, none), 0.0);
  EXPECT_EQ(mixture_lower_bound(GaussianMixture({Vector::Zero(1), Covariance::diagonal(Vector::Ones(1))}),
                                0.1, none),
            0.0);
}

TEST(LeastDistortion, IsThatOfTheBestSplitOfTheRate) {
  // Two eigenvalues, by search: d_1 + d_2 with log(4/d_1)/2 + log(1/d_2)/2 = rate.
  Vector values(2);
  values << 4.0, 1.0;
  for (const double rate : {0.1, 0.5, 1.0, 3.0}) {
    double best = 5.0;
    for (int i = 0; i <= 200000; ++i) {
      const double first = rate * i / 200000.0;
      best = std::min(best, 4.0 * std::exp(-2.0 * first) + std::exp(-2.0 * (rate - first)));
    }
    const double found = least_distortion({{1.0, values}}, rate);
    EXPECT_LE(found, best * (1.0 + 1e-9)) << rate;
    EXPECT_GE(found, best * (1.0 - 1e-6)) << rate;
  }
  // Half of the time nothing is there.
  const double found = least_distortion({{0.5, values.head(1)}, {0.5, Vector::Zero(1)}}, 0.25);
  EXPECT_NEAR(found, 2.0 * std::exp(-1.0), 1e-7);
}

TEST(ProvenEigenvalues, AreBelowTheTrueOnes) {
  Vector values(3);
  values << 1.0, 2.0, 1e-13;
  const Matrix basis = Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 2).normalized()).toRotationMatrix();
  Vector found = proven_eigenvalues(basis * values.asDiagonal() * basis.transpose(), 1e-14);
  std::sort(found.begin(), found.end());
  EXPECT_LE(found(0), 1e-13);
  EXPECT_GE(found(0), 0.0);
  EXPECT_LE(found(1), 1.0);
  EXPECT_LE(found(2), 2.0);
  EXPECT_GT(found(1), 1.0 - 1e-8);
  EXPECT_GT(found(2), 2.0 - 1e-8);
}

/// W2 on the line by quantiles on a fine grid of levels.
double line_distance(const std::vector<Atom>& all, const GaussianMixture& mixture) {
  const auto cdf = [&](double x) {
    double sum = 0.0;
    for (Index i = 0; i < mixture.size(); ++i) {
      const Gaussian& g = mixture.component(i);
      sum += mixture.weights()(i) * normal_cdf((x - g.mean(0)) / std::sqrt(g.covariance.variances()(0)));
    }
    return sum;
  };
  constexpr int kLevels = 20000;
  double squared = 0.0, mass = 0.0;
  std::size_t at = 0;
  for (int i = 0; i < kLevels; ++i) {
    const double level = (i + 0.5) / kLevels;
    while (at + 1 < all.size() && mass + all[at].mass < level) mass += all[at++].mass;
    double low = -1e3, high = 1e3;
    for (int step = 0; step < 60; ++step) {
      const double middle = 0.5 * (low + high);
      (cdf(middle) < level ? low : high) = middle;
    }
    squared += std::pow(all[at].value - low, 2.0) / kLevels;
  }
  return std::sqrt(squared);
}

TEST(MixtureLowerBound, IsNeverAboveTheDistanceOfEnumeratedMasks) {
  RandomSums random(8);
  double largest = 0.0;
  for (int round = 0; round < 12; ++round) {
    const std::vector<double> sizes = {2.0, random.normal(), random.normal()};
    const double p = 0.1 + 0.03 * round;
    const std::vector<double> rates(3, p);
    // The first mask is enumerated, the others are their Gaussian.
    const double left = sizes[1] * sizes[1] + sizes[2] * sizes[2];
    const auto piece = [&](double value) {
      return Gaussian{Vector::Constant(1, value), Covariance::diagonal(Vector::Constant(1, left))};
    };
    Vector weights(2);
    weights << p, 1.0 - p;
    const GaussianMixture mixture(
        weights, {piece(-2.0 * std::sqrt((1.0 - p) / p)), piece(2.0 * std::sqrt(p / (1.0 - p)))});
    const double found = mixture_lower_bound(mixture, 3.0 * mask_entropy(p));
    EXPECT_LE(found, line_distance(atoms(sizes, rates), mixture) * (1.0 + 1e-3)) << round;
    largest = std::max(largest, found / std::sqrt(left));
  }
  EXPECT_GT(largest, 0.1);
}

TEST(MaskLattice, KeepsMeanVarianceAndProbabilities) {
  Vector sizes(3), rare(3);
  sizes << 1.0, -0.5, 0.25;
  rare << 0.5, 0.125, 0.25;
  const auto lattice = mask_lattice(sizes, rare, 4096);
  ASSERT_TRUE(lattice);
  double mass = 0.0, mean = 0.0, second = 0.0;
  for (Index k = 0; k < lattice->masses.size(); ++k) {
    const double value = lattice->first + lattice->step * static_cast<double>(k);
    mass += lattice->masses(k);
    mean += lattice->masses(k) * value;
    second += lattice->masses(k) * value * value;
  }
  EXPECT_NEAR(mass, 1.0, 1e-14);
  EXPECT_NEAR(mean, 0.5 - 0.0625 + 0.0625, 1e-14);
  const double exact = 0.25 + 0.25 * 0.125 * 0.875 + 0.0625 * 0.25 * 0.75;
  EXPECT_NEAR(second - mean * mean, exact, 1e-3);
  EXPECT_LE(lattice->moved, 1e-3);
  EXPECT_FALSE(mask_lattice(sizes, rare, 5));
  EXPECT_FALSE(mask_lattice(Vector::Zero(3), rare, 64));
}

}  // namespace mask_sum_lower_test
}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One mask in noise, sums over pairs and the speed of the flow, against direct evaluation of their
// definitions: docs/theory/mask-sums.md (D.10), (D.15).
#include "network/mask_sums/mask_flow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "network/mask_sums/pair_sums.h"

namespace mixcert {
namespace mask_flow_test {

double gauss(double x, double s) {
  return std::exp(-0.5 * x * x / (s * s)) / (s * std::sqrt(2.0 * std::numbers::pi));
}

/// A standardised mask: values and probabilities.
struct TwoPoints {
  double low, high, p;
  explicit TwoPoints(double rate)
      : low(-std::sqrt((1.0 - rate) / rate)), high(std::sqrt(rate / (1.0 - rate))), p(rate) {}
  /// rho = E[Y | T = t] + (log f)'(t).
  [[nodiscard]] double score(double t, double s) const {
    // Both densities over the larger one, so that far tails are not 0/0.
    const double a = -0.5 * (t - low) * (t - low) / (s * s), b = -0.5 * (t - high) * (t - high) / (s * s);
    const double top = std::max(a, b);
    const double at_low = p * std::exp(a - top), at_high = (1.0 - p) * std::exp(b - top);
    const double f = at_low + at_high;
    const double slope = -(at_low * (t - low) + at_high * (t - high)) / (s * s);
    return (at_low * low + at_high * high + slope) / f;
  }
};

/// Naive sums over a fine grid of z for both values of the mask.
NoisyMask naive_mask(double rate, double s) {
  const TwoPoints y(rate);
  NoisyMask sums;
  const double step = std::min(0.002, s / 400.0);
  double all = 0.0;
  for (double z = -10.0; z <= 10.0; z += step) {
    const double weight = step * gauss(z, 1.0);
    const double low = y.score(y.low + s * z, s), high = y.score(y.high + s * z, s);
    const double h = rate * low + (1.0 - rate) * high;
    sums.square += weight * (rate * low * low + (1.0 - rate) * high * high);
    all += weight * h * h;
    sums.hermite[0] += weight * h * z;
    sums.hermite[1] += weight * h * (z * z - 1.0) / std::sqrt(2.0);
    sums.hermite[2] += weight * h * (z * z * z - 3.0 * z) / std::sqrt(6.0);
  }
  for (const double h : sums.hermite) all -= h * h;
  sums.rest = std::sqrt(std::max(all, 0.0));
  return sums;
}

TEST(NoisyMask, AgreesWithNaiveSums) {
  for (const double rate : {0.02, 0.1, 0.25, 0.4, 0.5}) {
    for (const double s : {0.06, 0.2, 0.5, 1.0, 2.0, 7.0, 60.0}) {
      const auto mask = noisy_mask(rate, s);
      ASSERT_TRUE(mask) << rate << " " << s;
      const NoisyMask naive = naive_mask(rate, s);
      const double scale = 1.0 + 1.0 / (s * s), tolerance = 1e-8 * scale, accuracy = 1e-12 * scale;
      EXPECT_GE(mask->square, naive.square - accuracy) << rate << " " << s;
      EXPECT_NEAR(mask->square, naive.square, tolerance) << rate << " " << s;
      EXPECT_LT(mask->error, tolerance);
      for (std::size_t q = 0; q < 3; ++q) {
        EXPECT_NEAR(mask->hermite[q], naive.hermite[q], mask->error + accuracy) << rate << " " << s;
      }
      EXPECT_GE(mask->rest, naive.rest - 1e-2 * accuracy) << rate << " " << s;
      EXPECT_NEAR(mask->rest, naive.rest, 1e-3 * (1.0 + 1.0 / s)) << rate << " " << s;
    }
  }
}

TEST(NoisyMask, LevelsAreNoLargerAndClose) {
  for (double s = 0.008; s < 900.0; s *= 1.0037) {
    const int level = NoisyMaskTable::level(s);
    ASSERT_GE(level, 0);
    EXPECT_LE(NoisyMaskTable::deviation(level), s);
    EXPECT_GT(NoisyMaskTable::deviation(level), s * 0.99);
  }
  EXPECT_EQ(NoisyMaskTable::level(1e-3), -1);
  EXPECT_EQ(NoisyMaskTable::level(0.0), -1);
  EXPECT_LE(NoisyMaskTable::deviation(NoisyMaskTable::level(1e9)), 1025.0);
}

TEST(NoisyMask, RefusesWhatWouldTakeTooManyNodes) {
  EXPECT_FALSE(noisy_mask(1e-8, 1.0));
  EXPECT_TRUE(noisy_mask(1e-8, 100.0));
}

TEST(NoisyMask, CouplingCost) {
  // 2 - 2 (A + 1/A) phi(Phi^{-1}(p)).
  EXPECT_NEAR(mask_coupling_cost(0.5), 2.0 - 4.0 / std::sqrt(2.0 * std::numbers::pi), 1e-8);
  EXPECT_GE(mask_coupling_cost(0.5), 2.0 - 4.0 / std::sqrt(2.0 * std::numbers::pi));
  EXPECT_NEAR(mask_coupling_cost(0.1), 0.8300, 1e-4);
}

PairTerms random_terms(Index m, Index n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const auto draw = [&](Index rows, Index cols) {
    return Matrix(Matrix::NullaryExpr(rows, cols, [&](Index, Index) { return normal(random); }));
  };
  PairTerms terms{draw(m, n), {}, draw(m, n), draw(n, 3), draw(n, 1).cwiseAbs()};
  terms.sizes = terms.vectors.colwise().norm().transpose();
  for (Index j = 0; j < n; ++j) terms.directions.col(j) *= 0.99 / terms.directions.col(j).norm();
  return terms;
}

TEST(PairSums, BothWaysAgreeWithLoops) {
  std::mt19937 random(5);
  for (const Index m : {1, 2, 3, 7}) {
    for (const Index n : {1, 2, 5, 300, 520}) {
      const PairTerms terms = random_terms(m, n, random);
      Eigen::Array4d naive = Eigen::Array4d::Zero();
      for (Index j = 0; j < n; ++j) {
        for (Index k = 0; k < n; ++k) {
          const double r = terms.directions.col(j).dot(terms.directions.col(k));
          const double c = terms.vectors.col(j).dot(terms.vectors.col(k));
          for (Index q = 0; q < 3; ++q) {
            naive(q) +=
                c * terms.weights(j, q) * terms.weights(k, q) * std::pow(r, static_cast<double>(q + 1));
          }
          naive(3) += terms.sizes(j) * terms.sizes(k) * terms.rests(j) * terms.rests(k) * r * r * r * r;
        }
      }
      for (const auto& sums : {pair_sums_by_tensors(terms, 1), pair_sums_by_blocks(terms, 1)}) {
        for (Index q = 0; q < 4; ++q) {
          const double found = sums[static_cast<std::size_t>(q)];
          EXPECT_GE(found, naive(q) * (1.0 - 1e-12)) << m << " " << n << " " << q;
          EXPECT_LE(found, naive(q) * (1.0 + 1e-7)) << m << " " << n << " " << q;
        }
      }
      EXPECT_EQ(pair_sums_by_tensors(terms, 1), pair_sums_by_tensors(terms, 3));
      EXPECT_EQ(pair_sums_by_blocks(terms, 1), pair_sums_by_blocks(terms, 3));
    }
  }
}

TEST(PairSums, ManyBlocksAreAddedInTheirOrder) {
  std::mt19937 random(6);
  const PairTerms terms = random_terms(2, 17000, random);
  const std::array<double, 4> tensors = pair_sums_by_tensors(terms, 1), pairs = pair_sums_by_blocks(terms, 1);
  for (std::size_t q = 0; q < 4; ++q) EXPECT_NEAR(tensors[q], pairs[q], 1e-6 * pairs[q]);
  EXPECT_EQ(tensors, pair_sums_by_tensors(terms, 3));
}

/// |v|_{L2}/w on the line, from the density of X_w: v = -(x + C (log p_w)').
double naive_speed(const Vector& c, const std::vector<double>& rates, double noise, double w) {
  std::vector<double> points{0.0}, masses{1.0};
  for (Index j = 0; j < c.size(); ++j) {
    const TwoPoints y(rates[static_cast<std::size_t>(j)]);
    std::vector<double> next_points, next_masses;
    for (std::size_t i = 0; i < points.size(); ++i) {
      next_points.insert(next_points.end(), {points[i] + c(j) * y.low, points[i] + c(j) * y.high});
      next_masses.insert(next_masses.end(), {masses[i] * y.p, masses[i] * (1.0 - y.p)});
    }
    points = next_points;
    masses = next_masses;
  }
  const double variance = noise + c.squaredNorm(), s = std::sqrt(w * w * noise + (1.0 - w * w) * variance);
  const double reach = std::sqrt(variance) * 14.0, step = s / 60.0;
  double sum = 0.0;
  for (double x = -reach; x <= reach; x += step) {
    double density = 0.0, slope = 0.0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double at = x - w * points[i], term = masses[i] * gauss(at, s);
      density += term;
      slope -= term * at / (s * s);
    }
    if (density < 1e-200) continue;
    const double v = x + variance * slope / density;
    sum += step * density * v * v;
  }
  return std::sqrt(sum) / w;
}

struct OneLine {
  MaskVectors masks;
  std::vector<NoisyMaskTable> tables;
  FlowStage stage;

  OneLine(const Vector& c, const std::vector<double>& rates, double noise) {
    masks.vectors = c.transpose();
    masks.squares = c.cwiseAbs2();
    for (const double rate : rates) {
      masks.laws.push_back(static_cast<Index>(tables.size()));
      tables.emplace_back(rate);
    }
    stage = {0, c.size(), Matrix::Constant(1, 1, noise), Matrix::Constant(1, 1, noise + c.squaredNorm()),
             1e-14};
  }
};

TEST(FlowSpeed, IsExactForOneMask) {
  for (const double rate : {0.05, 0.2, 0.5}) {
    for (const double noise : {0.0, 0.3}) {
      const Vector c = Vector::Constant(1, 0.7);
      OneLine line(c, {rate}, noise);
      const MaskFlow flow(line.masks, line.tables, 1);
      for (const double w : {0.3, 0.7, 0.9, 0.97}) {
        const double naive = naive_speed(c, {rate}, noise, w), found = flow.speed(line.stage, w);
        EXPECT_GE(found, naive * (1.0 - 1e-9)) << rate << " " << noise << " " << w;
        EXPECT_LE(found, naive * 1.03) << rate << " " << noise << " " << w;
      }
    }
  }
}

TEST(FlowSpeed, IsNoLessThanTheVelocity) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int round = 0; round < 40; ++round) {
    const auto n = static_cast<Index>(2 + random() % 5);
    Vector c(n);
    std::vector<double> rates;
    for (Index j = 0; j < n; ++j) {
      c(j) = std::exp(2.0 * uniform(random)) * (random() % 2 == 0 ? 1.0 : -1.0);
      rates.push_back(0.03 + 0.47 * uniform(random));
    }
    const double noise = round % 2 == 0 ? 0.0 : uniform(random) * c.squaredNorm();
    OneLine line(c, rates, noise);
    const MaskFlow flow(line.masks, line.tables, 1);
    double last = 0.0;
    for (const double w : {0.4, 0.8, 0.95}) {
      const double naive = naive_speed(c, rates, noise, w);
      EXPECT_GE(flow.speed(line.stage, w), naive * (1.0 - 1e-9)) << round << " " << w;
      // What (D.11) uses: the speed at a time bounds all earlier ones.
      EXPECT_GE(naive, last * (1.0 - 1e-9));
      last = naive;
    }
    for (const FlowNode& node : flow.nodes(line.stage, 12)) {
      EXPECT_GE(node.speed, naive_speed(c, rates, noise, std::min(node.w, 0.99999)) * (1.0 - 1e-4));
    }
  }
}

TEST(FlowSpeed, IsUnknownWithoutNoiseAtTheEnd) {
  OneLine line(Vector::Ones(3), {0.5, 0.5, 0.5}, 0.0);
  const MaskFlow flow(line.masks, line.tables, 1);
  EXPECT_TRUE(std::isinf(flow.speed(line.stage, 1.0)));
  EXPECT_TRUE(std::isinf(flow.speed(line.stage, 0.9999999)));
}

}  // namespace mask_flow_test
}  // namespace mixcert

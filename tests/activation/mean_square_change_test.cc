// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// E[(f(m + s x) - f(m + s c))^2; x in a cell]: never below the truth (fifty digits for
// piecewise linear functions, adaptive quadrature for the others), never above the Lipschitz
// bound, exact for relu; deviations 1e-15 to 1e6, means to 1e6, narrow and infinite cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "core/normal.h"
#include "mixcert/activation/activation.h"
#include "mixcert/core/rng.h"
#include "quantize/signature.h"
#include "support/high_precision.h"
#include "support/matchers.h"

namespace mixcert {
namespace mean_square_change_test {

using testing::Precise;
using testing::Tolerance;
using F = ActivationFunction;

struct Cell {
  double mean, deviation, center, lower, upper;
};

std::ostream& operator<<(std::ostream& out, const Cell& c) {
  out.precision(17);
  return out << "m " << c.mean << " s " << c.deviation << " c " << c.center << " (" << c.lower << ", "
             << c.upper << ")";
}

UpperBound change(const Activation& f, const Cell& c) {
  return f.mean_square_change(c.mean, c.deviation, c.center, c.lower, c.upper);
}

/// The whole line, half lines, cells of quantizers of many sizes, and very narrow ones.
std::vector<Cell> random_cells(int count, std::uint64_t seed, bool extreme) {
  Generator generator = make_generator(seed, Stream::Example);
  std::vector<Cell> cells;
  for (int i = 0; i < count; ++i) {
    Cell cell{0.0, 1.0, 0.0, -INFINITY, INFINITY};
    if (i % 8 != 0) {
      const std::vector<Index> sizes = {2, 3, 10, 100, 1000};
      const NormalQuantizer& q = optimal_quantizer(sizes[generator() % sizes.size()]);
      const auto k = static_cast<Index>(generator() % static_cast<std::uint64_t>(q.size()));
      cell = {0.0, 1.0, q.locations(k), q.boundaries(k), q.boundaries(k + 1)};
    }
    if (i % 8 == 1) {
      cell.center = 12.0 * (2.0 * uniform(generator) - 1.0);
      const double width = std::pow(10.0, -10.0 + 10.0 * uniform(generator));
      cell.lower = cell.center - width * uniform(generator);
      cell.upper = cell.center + width * uniform(generator);
    }
    cell.deviation =
        std::pow(10.0, extreme ? -15.0 + 21.0 * uniform(generator) : 2.0 * uniform(generator) - 1.5);
    // The kink inside the cell, somewhere near, or far away.
    const double low = std::max(cell.lower, -8.0);
    const double high = std::min(cell.upper, 8.0);
    const double place = low + (high - low) * (1.4 * uniform(generator) - 0.2);
    cell.mean = -cell.deviation * place;
    if (i % 5 == 0) cell.mean = (extreme ? 1e6 : 3.0) * (2.0 * uniform(generator) - 1.0);
    cells.push_back(cell);
  }
  return cells;
}

/// E[(slope z - value)^2; lower < x <= upper], z = m + s x.
Precise linear_piece(const Cell& c, const Precise& slope, const Precise& value, const Precise& lower,
                     const Precise& upper) {
  if (lower >= upper) return 0;
  const Precise rest = value - slope * Precise(c.mean);
  const Precise scale = slope * Precise(c.deviation);
  if (scale == 0) return rest * rest * testing::precise_mass(lower, upper);
  return scale * scale * testing::precise_square_about(rest / scale, lower, upper);
}

Precise exact_change(const Cell& c, const Precise& left_slope) {
  const Precise kink = -Precise(c.mean) / Precise(c.deviation);
  const Precise z = Precise(c.mean) + Precise(c.deviation) * Precise(c.center);
  const Precise value = z > 0 ? z : left_slope * z;
  const Precise lower = c.lower;
  const Precise upper = c.upper;
  const Precise cut = kink < lower ? lower : (kink > upper ? upper : kink);
  return linear_piece(c, left_slope, value, lower, cut) + linear_piece(c, 1, value, cut, upper);
}

/// Of a line of slope 1/divisor from `begin` to `end`, constant beyond.
Precise exact_clipped_change(const Cell& c, const Activation& f, double begin, double end, double divisor) {
  const Precise z = Precise(c.mean) + Precise(c.deviation) * Precise(c.center);
  const auto line = [&](const Precise& at) {
    return (at < begin ? Precise(begin) : at > end ? Precise(end) : at) / divisor;
  };
  const auto place = [&](double kink) {
    const Precise x = (Precise(kink) - Precise(c.mean)) / Precise(c.deviation);
    return x < c.lower ? Precise(c.lower) : x > c.upper ? Precise(c.upper) : x;
  };
  const Precise left = line(begin), right = line(end), value = line(z);
  EXPECT_LE(abs(value - left - (Precise(f(static_cast<double>(z))) - Precise(f(begin)))),
            1e-13 * (1 + abs(z)));
  return linear_piece(c, 0, value - left, c.lower, place(begin)) +
         linear_piece(c, 1 / Precise(divisor), value, place(begin), place(end)) +
         linear_piece(c, 0, value - right, place(end), c.upper);
}

/// The Lipschitz bound in fifty digits.
Precise lipschitz_change(const Activation& f, const Cell& c) {
  const Precise scale = Precise(f.lipschitz().nominal) * Precise(c.deviation);
  return scale * scale * testing::precise_square_about(c.center, c.lower, c.upper);
}

/// What an exact value may be rounded up by: 1e-10 of the Lipschitz bound (less digits of the
/// closed form are left in cells far out), and the rounding of a kink, which narrow cells feel.
double allowance(const Activation& f, const Cell& c) {
  const auto bound = static_cast<double>(lipschitz_change(f, c));
  const double share = std::abs(c.center) < 5.0 ? Tolerance::quadrature : 1e-7;
  const double kink = 64 * kUnitRoundoff * f.lipschitz().upper * c.deviation * std::abs(c.center);
  return share * bound + kink * std::sqrt(bound * normal_mass(c.lower, c.upper)) + 1e-290;
}

TEST(MeanSquareChange, IsExactAndOutwardForPiecewiseLinearFunctions) {
  for (const double slope : {0.0, 0.1, -0.4, 2.0, 1.0}) {
    const Activation f(slope == 0.0 ? F::Relu : F::LeakyRelu, slope);
    for (const bool extreme : {false, true}) {
      for (const Cell& cell : random_cells(250, 41, extreme)) {
        const UpperBound got = change(f, cell);
        const Precise exact = exact_change(cell, slope);
        EXPECT_GE(Precise(got.upper), exact) << slope << " " << cell;
        EXPECT_LE(got.upper, static_cast<double>(exact) + allowance(f, cell)) << slope << " " << cell;
      }
    }
  }
}

TEST(MeanSquareChange, IsExactAndOutwardForLinesBetweenKinks) {
  const auto check = [](const Activation& f, double begin, double end, double divisor) {
    for (const bool extreme : {false, true}) {
      for (const Cell& cell : random_cells(250, 44, extreme)) {
        const UpperBound got = change(f, cell);
        const Precise exact = exact_clipped_change(cell, f, begin, end, divisor);
        EXPECT_GE(Precise(got.upper), exact) << to_string(f.function()) << " " << cell;
        const double kinks =
            128 * kUnitRoundoff * f.lipschitz().upper *
            (std::abs(cell.mean) + std::abs(begin) + std::abs(end) + cell.deviation * std::abs(cell.center));
        const auto bound = static_cast<double>(lipschitz_change(f, cell));
        const double of_kinks =
            kinks * (kinks + 2.0 * std::sqrt(bound * normal_mass(cell.lower, cell.upper)));
        EXPECT_LE(got.upper, static_cast<double>(exact) + allowance(f, cell) + of_kinks)
            << to_string(f.function()) << " " << cell;
      }
    }
  };
  check(Activation(F::Relu6), 0.0, 6.0, 1.0);
  check(Activation(F::Hardtanh), -1.0, 1.0, 1.0);
  check(Activation(F::Hardtanh, ActivationParameters{.lower = -1e-3, .upper = 0.5}), -1e-3, 0.5, 1.0);
  check(Activation(F::Hardsigmoid), -3.0, 3.0, 6.0);
}

TEST(MeanSquareChange, NeverExceedsTheLipschitzBound) {
  for (const F function : all_activation_functions()) {
    const Activation f(function, -0.4);
    for (const Cell& cell : random_cells(300, 42, true)) {
      const auto bound = static_cast<double>(lipschitz_change(f, cell));
      EXPECT_LE(change(f, cell).upper, bound + allowance(f, cell)) << to_string(function) << " " << cell;
    }
  }
}

/// E[(f(z) - f(c))^2] by quadrature on pieces of the cell; a lower estimate where cut off.
double quadrature(const Activation& f, const Cell& c) {
  using boost::math::quadrature::gauss_kronrod;
  const double value = f(c.mean + c.deviation * c.center);
  const auto integrand = [&](double x) {
    const double difference = f(c.mean + c.deviation * x) - value;
    return difference * difference * normal_density(x);
  };
  const double low = std::max(c.lower, -9.0);
  const double high = std::min(c.upper, 9.0);
  if (!(low < high)) return 0.0;
  constexpr int kPieces = 32;
  double sum = 0.0;
  for (int i = 0; i < kPieces; ++i) {
    const double a = low + (high - low) * i / kPieces;
    const double b = low + (high - low) * (i + 1) / kPieces;
    sum += gauss_kronrod<double, 31>::integrate(integrand, a, b, 4, 1e-12);
  }
  return sum;
}

class SmoothChange : public ::testing::TestWithParam<F> {};

TEST_P(SmoothChange, IsNeverBelowQuadrature) {
  const Activation f(GetParam(), 0.1);
  for (const Cell& cell : random_cells(200, 43, false)) {
    const double truth = quadrature(f, cell);
    // Values of f carry an error of about 1e-15 of their size.
    const double width = std::min(cell.upper, 9.0) - std::max(cell.lower, -9.0);
    if (cell.deviation * width < 1e-4) continue;
    EXPECT_GE(change(f, cell).upper * (1.0 + 1e-7), truth) << cell;
  }
}

TEST_P(SmoothChange, IsMuchSharperThanLipschitzWhereTheFunctionIsFlat) {
  const Activation f(GetParam(), 0.0);
  if (std::abs(f.derivative(-30.0)) > 1e-4) return;  // it is not flat
  const Cell cell{-30.0, 1.0, 0.0, -1.0, 1.0};
  EXPECT_LE(change(f, cell).upper, 1e-6 * static_cast<double>(lipschitz_change(f, cell)));
}

TEST_P(SmoothChange, HandlesZeroDeviationAndEmptyCells) {
  const Activation f(GetParam(), 0.1);
  for (const double mean : {-1e6, -1.0, 0.0, 2.0, 1e6}) {
    EXPECT_LE(change(f, {mean, 0.0, 0.3, -INFINITY, INFINITY}).upper, 1e-300);
    EXPECT_LE(change(f, {mean, 1.0, 0.3, 0.3, 0.3}).upper, 1e-290);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmoothChange, ::testing::ValuesIn(all_activation_functions()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace mean_square_change_test
}  // namespace mixcert

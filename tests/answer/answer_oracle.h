// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Second formulas for the tests of answers: integrals over a mixture on the line by a fine sum, the dual
// bound by a dense grid of widths, random laws on the line.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mixcert/answer/certified_law.h"
#include "support/random_laws.h"

namespace mixcert::testing {

/// Nodes and weights of E f(y) under a mixture on the line, midpoints of cells of a hundredth of a deviation
/// or so.
struct LineRule {
  Vector nodes;
  Vector weights;

  explicit LineRule(const LineMixture& line) {
    constexpr Index kCells = 1500;
    constexpr double kReach = 8.0;
    const Index size = line.size();
    nodes.resize(size * kCells);
    weights.resize(size * kCells);
    for (Index i = 0; i < size; ++i) {
      for (Index c = 0; c < kCells; ++c) {
        const double z = kReach * (2.0 * (static_cast<double>(c) + 0.5) / kCells - 1.0);
        nodes(i * kCells + c) = line.means()(i) + line.deviations()(i) * z;
        weights(i * kCells + c) = line.weights()(i) * std::exp(-0.5 * z * z);
      }
    }
    weights /= weights.sum();
  }

  template <class F>
  [[nodiscard]] double expectation(const F& f) const {
    double sum = 0.0;
    for (Index i = 0; i < nodes.size(); ++i) sum += weights(i) * f(nodes(i));
    return sum;
  }
};

/// min over h of (eps/h)^order + E(1 - (d/h)^order)_+, by its definition, on a grid of widths refined once.
template <class Distance>
double naive_dual(const LineRule& rule, const Distance& distance, double eps, int order) {
  const auto at = [&](double width) {
    return std::pow(eps / width, order) + rule.expectation([&](double y) {
      return std::max(0.0, 1.0 - std::pow(distance(y) / width, order));
    });
  };
  double best = 1.0;
  double center = 0.0;
  for (double exponent = 0.0; exponent < 4.0; exponent += 0.05) {
    const double value = at(eps * std::pow(10.0, exponent));
    if (value < best) center = exponent;
    best = std::min(best, value);
  }
  for (double exponent = center - 0.05; exponent < center + 0.05; exponent += 0.001) {
    best = std::min(best, at(eps * std::pow(10.0, exponent)));
  }
  return best;
}

inline LineMixture random_line(Generator& generator, Index size) {
  const Vector means = 2.0 * random_matrix(generator, size, 1);
  const Vector deviations = Vector::NullaryExpr(size, [&] { return 0.05 + uniform(generator); });
  return {random_weights(generator, size), means, deviations};
}

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "certify/box_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mixcert/certify/certify.h"
#include "mixcert/certify/certify_box.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

/// Steps of half the size each that a search takes.
constexpr int kSearchSteps = 6;

/// Inside, on faces, and in corners.
Vector point_of(Generator& generator, const InputBox& box) {
  return Vector::NullaryExpr(box.lower.size(), [&](Index i) {
    const double share = 1.4 * uniform(generator) - 0.2;
    return std::clamp(box.lower(i) + share * (box.upper(i) - box.lower(i)), box.lower(i), box.upper(i));
  });
}

/// How much of the cell's bound is certain at x: above 1 it is contradicted.
double share_at(const Network& network, const Result& cell, const Vector& x) {
  const Result there = certify(network, x, at_points()).front();
  return (least_distance(there.mixture, cell.mixture) - there.w2.value) / cell.w2.value;
}

/// The largest share that steps along random directions within the cell find.
double worst_share(const Network& network, const Result& cell, Generator& generator) {
  Vector best = point_of(generator, *cell.cell);
  double share = share_at(network, cell, best);
  double size = 0.5;
  for (int step = 0; step < kSearchSteps; ++step, size *= 0.7) {
    const Vector to = best + size * (point_of(generator, *cell.cell) - best);
    const double other = share_at(network, cell, to);
    if (other <= share) continue;
    best = to;
    share = other;
  }
  return share;
}

/// The largest share that is found.
double check_points(const Network& network, const InputBox& box, const InputCover& cover,
                    Generator& generator, Index points) {
  double largest = 0.0;
  Matrix inputs(box.lower.size(), points);
  for (Index i = 0; i < points; ++i) inputs.col(i) = point_of(generator, box);
  const std::vector<Result> there = certify(network, inputs, at_points());
  for (Index i = 0; i < points; ++i) {
    const Result& point = there[static_cast<std::size_t>(i)];
    Index holding = 0;
    for (const Result& cell : cover.results) {
      if (!contains(*cell.cell, inputs.col(i))) continue;
      ++holding;
      const double distance = least_distance(point.mixture, cell.mixture) - point.w2.value;
      EXPECT_LE(distance, cell.w2.value);
      largest = std::max(largest, distance / cell.w2.value);
    }
    EXPECT_GE(holding, 1) << "no cell has " << inputs.col(i).transpose();
  }
  return largest;
}

NetworkRecipe recipe_of(std::uint64_t seed) {
  NetworkRecipe recipe;
  recipe.widths = {static_cast<Index>(1 + seed % 3), static_cast<Index>(4 + seed % 9), 2};
  if (seed % 4 == 0) recipe.widths.insert(recipe.widths.begin() + 1, 5);
  recipe.activation = all_activation_functions()[seed % all_activation_functions().size()];
  recipe.weights = seed % 7 == 0 ? WeightFamily::Kronecker : WeightFamily::MeanField;
  recipe.deviation = seed % 2 == 0 ? 0.3 : 0.003;
  recipe.seed = seed;
  return recipe;
}

}  // namespace

InputBox cube(Index features, double lower, double upper) {
  return {Vector::Constant(features, lower), Vector::Constant(features, upper)};
}

bool contains(const InputBox& cell, const Vector& x) {
  return (cell.lower.array() <= x.array()).all() && (x.array() <= cell.upper.array()).all();
}

Options at_points() {
  Options options;
  options.threads = 1;
  return options;
}

double least_distance(const GaussianMixture& a, const GaussianMixture& b) {
  const double spread = a.standard_deviation().norm() - b.standard_deviation().norm();
  return std::hypot((a.mean() - b.mean()).norm(), spread);
}

void check_boxes(std::uint64_t networks, Index cells, Index points) {
  double largest = 0.0;
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    const Network network = random_network(recipe_of(seed));
    const double width = std::pow(10.0, 1.0 - 3.0 * uniform(generator));
    const InputBox box = cube(network.inputs(), -0.3 * width, width);
    Options options = at_points();
    options.max_cells = cells;
    const InputCover cover = certify_box(Ensemble(network), box, options);
    EXPECT_LE(static_cast<Index>(cover.results.size()), cells);
    EXPECT_GE(cover.certificates, static_cast<Index>(cover.results.size()));
    largest = std::max(largest, check_points(network, box, cover, generator, points));
    for (Index i = 0; i < points / 10; ++i) {
      const auto any =
          static_cast<std::size_t>(uniform(generator) * static_cast<double>(cover.results.size()));
      const double share = worst_share(network, cover.results[any], generator);
      EXPECT_LE(share, 1.0) << "seed " << seed;
      largest = std::max(largest, share);
    }
  }
  EXPECT_GT(largest, 0.3) << "the bounds say little, or the points are tame";
}

}  // namespace mixcert::testing

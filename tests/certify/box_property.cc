// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "certify/box_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "mixcert/certify/certify.h"
#include "mixcert/certify/certify_box.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

/// Steps that a search takes, each smaller than the one before.
constexpr int kSearchSteps = 6;
/// Of the width of a cell: how far apart the inputs are that a search takes its slopes from.
constexpr double kDifference = 1e-3;

/// At single inputs the moments are what counts, not how small the bound beside them is: with the coupling
/// alone a certificate takes a twentieth of the time.
Options moments_alone() {
  Options options = at_points();
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  return options;
}

/// How far the mixture's mean and deviations at an input can be from the network's own: behind one hidden
/// layer with independent weights they are exact but for rounding.
double doubt(const Network& network, WeightFamily weights, const Result& there) {
  if (network.hidden_count() > 1 || weights != WeightFamily::MeanField) return there.w2.value;
  return 1e-9 * (there.mixture.mean().norm() + there.mixture.standard_deviation().norm());
}

/// One box with its cells.
struct CoveredBox {
  const Network& network;
  WeightFamily weights;
  const std::vector<Result>& cells;

  /// How much of the cell's bound is certain to be needed at an input, above 1 the cell is contradicted.
  [[nodiscard]] double share(const Result& there, const Result& cell) const {
    return (least_distance(there.mixture, cell.mixture) - doubt(network, weights, there)) / cell.w2.value;
  }
};

/// Inside, on faces, and in corners.
Vector point_of(Generator& generator, const InputBox& box) {
  return Vector::NullaryExpr(box.lower.size(), [&](Index i) {
    const double share = 1.4 * uniform(generator) - 0.2;
    return std::clamp(box.lower(i) + share * (box.upper(i) - box.lower(i)), box.lower(i), box.upper(i));
  });
}

/// One input of every cell that moves, within the cell, to where more of the bound is needed.
class Searches {
 public:
  Searches(const CoveredBox& box, Generator& generator)
      : box_(box), at_(box.network.inputs(), static_cast<Index>(box.cells.size())) {
    for (Index i = 0; i < at_.cols(); ++i) at_.col(i) = point_of(generator, cell(i));
    shares_ = shares(at_);
  }

  /// Along the signs of the gradient, by `size` of each cell's width; stays where nothing is gained.
  void step(double size) {
    const Matrix to = at_ + size * widths().cwiseProduct(gradient().cwiseSign());
    Matrix inside(to.rows(), to.cols());
    for (Index i = 0; i < to.cols(); ++i)
      inside.col(i) = to.col(i).cwiseMax(cell(i).lower).cwiseMin(cell(i).upper);
    const Vector others = shares(inside);
    for (Index i = 0; i < others.size(); ++i) {
      if (others(i) <= shares_(i)) continue;
      shares_(i) = others(i);
      at_.col(i) = inside.col(i);
    }
  }

  [[nodiscard]] const Vector& shares() const { return shares_; }

 private:
  [[nodiscard]] const InputBox& cell(Index i) const { return *box_.cells[static_cast<std::size_t>(i)].cell; }

  [[nodiscard]] Matrix widths() const {
    Matrix all(at_.rows(), at_.cols());
    for (Index i = 0; i < all.cols(); ++i) all.col(i) = cell(i).upper - cell(i).lower;
    return all;
  }

  [[nodiscard]] Vector shares(const Matrix& inputs) const {
    const std::vector<Result> there = certify(box_.network, inputs, moments_alone());
    return Vector::NullaryExpr(inputs.cols(), [&](Index i) {
      const auto place = static_cast<std::size_t>(i);
      return box_.share(there[place], box_.cells[place]);
    });
  }

  [[nodiscard]] Matrix gradient() const {
    Matrix slopes(at_.rows(), at_.cols());
    const Matrix apart = kDifference * widths();
    for (Index i = 0; i < at_.rows(); ++i) {
      Matrix above = at_;
      Matrix below = at_;
      above.row(i) += apart.row(i);
      below.row(i) -= apart.row(i);
      slopes.row(i) = (shares(above) - shares(below)).transpose();
    }
    return slopes;
  }

  const CoveredBox& box_;
  Matrix at_;
  Vector shares_;
};

/// The largest share that is found.
double check_points(const CoveredBox& covered, const InputBox& box, Generator& generator, Index points) {
  double largest = 0.0;
  Matrix inputs(box.lower.size(), points);
  for (Index i = 0; i < points; ++i) inputs.col(i) = point_of(generator, box);
  const std::vector<Result> there = certify(covered.network, inputs, moments_alone());
  for (Index i = 0; i < points; ++i) {
    Index holding = 0;
    for (const Result& cell : covered.cells) {
      if (!contains(*cell.cell, inputs.col(i))) continue;
      ++holding;
      largest = std::max(largest, covered.share(there[static_cast<std::size_t>(i)], cell));
    }
    EXPECT_GE(holding, 1) << "no cell has " << inputs.col(i).transpose();
  }
  return largest;
}

double check_searches(const CoveredBox& covered, Generator& generator) {
  Searches searches(covered, generator);
  double size = 0.5;
  for (int step = 0; step < kSearchSteps; ++step, size *= 0.6) searches.step(size);
  return searches.shares().maxCoeff();
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
  double largest_drawn = 0.0;
  double largest_found = 0.0;
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    Generator generator = make_generator(seed, Stream::Example);
    const NetworkRecipe recipe = recipe_of(seed);
    const Network network = random_network(recipe);
    const double width = std::pow(10.0, 1.0 - 3.0 * uniform(generator));
    const InputBox box = cube(network.inputs(), -0.3 * width, width);
    Options options = at_points();
    options.max_cells = cells;
    const InputCover cover = certify_box(Ensemble(network), box, options);
    EXPECT_LE(static_cast<Index>(cover.results.size()), cells);
    EXPECT_GE(cover.certificates, static_cast<Index>(cover.results.size()));
    const CoveredBox covered{network, recipe.weights, cover.results};
    const double drawn = check_points(covered, box, generator, points);
    const double found = check_searches(covered, generator);
    EXPECT_LE(std::max(drawn, found), 1.0) << "seed " << seed;
    largest_drawn = std::max(largest_drawn, drawn);
    largest_found = std::max(largest_found, found);
  }
  std::cout << "most of a bound that an input needs: " << largest_drawn << " of those drawn, "
            << largest_found << " of those searched\n";
  EXPECT_GT(std::max(largest_drawn, largest_found), 0.3) << "the bounds say little, or the points are tame";
}

}  // namespace mixcert::testing

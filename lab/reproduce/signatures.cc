// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-signatures: the paper's two constructions for a Gaussian in the plane, in the coordinates where it
// is standard normal and in its own. Cells of the grid are products of intervals; those of the cross are
// shells of balls, cut by the diagonals.
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

#include "mixcert/statistics/simulate.h"
#include "reproduce/experiment.h"
#include "reproduce/planar_mixtures.h"

namespace mixcert::lab {
namespace {

constexpr Index kLocations = 8;
constexpr double kReach = 3.2;  // of the picture
constexpr double kFar = 8.0;    // beyond it in all directions

/// Columns u_d: from standard normal coordinates to those of the Gaussian.
Eigen::Matrix2d axes() {
  const Eigen::Matrix2d turn = Eigen::Rotation2Dd(std::numbers::pi / 6.0).toRotationMatrix();
  return turn * Eigen::Vector2d(1.5, 0.7).asDiagonal();
}

PlotLine mapped(const Matrix& path, const Eigen::Matrix2d& map, Colour colour, Dash dash,
                const std::string& name = "") {
  const Matrix points = map * path;
  PlotLine line{name, {}, {}, colour, dash, false, 1.1};
  for (Index i = 0; i < points.cols(); ++i) {
    line.x.push_back(points(0, i));
    line.y.push_back(points(1, i));
  }
  return line;
}

Matrix segment(double x1, double y1, double x2, double y2) {
  Matrix path(2, 2);
  path << x1, x2, y1, y2;
  return path;
}

Matrix circle(double radius) {
  constexpr Index kCorners = 96;
  Matrix path(2, kCorners + 1);
  for (Index i = 0; i <= kCorners; ++i) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(i) / kCorners;
    path.col(i) = radius * Eigen::Vector2d(std::cos(angle), std::sin(angle));
  }
  return path;
}

PlotDots dots_of(const DiscreteLaw& law, const Eigen::Matrix2d& map, const std::string& name) {
  const Matrix points = map * law.points;
  PlotDots dots{name, {}, {}, Colour::Blue};
  dots.radius = 4.0;
  for (Index i = 0; i < points.cols(); ++i) {
    dots.x.push_back(points(0, i));
    dots.y.push_back(points(1, i));
  }
  return dots;
}

/// Ends of the cells, as paths in standard normal coordinates.
std::vector<Matrix> grid_cells(const GridSignature& signature) {
  std::vector<Matrix> cells;
  for (Index axis = 0; axis < signature.axis_count(); ++axis) {
    const NormalQuantizer& quantizer = *signature.quantizers[static_cast<std::size_t>(axis)];
    for (Index i = 1; i < quantizer.size(); ++i) {
      const double b = quantizer.boundaries(i);
      cells.push_back(axis == 0 ? segment(b, -kFar, b, kFar) : segment(-kFar, b, kFar, b));
    }
  }
  return cells;
}

std::vector<Matrix> cross_cells(const Matrix& points) {
  std::vector<Matrix> cells = {segment(-kFar, -kFar, kFar, kFar), segment(-kFar, kFar, kFar, -kFar)};
  std::vector<double> radii;
  for (Index i = 0; i < points.cols(); ++i) radii.push_back(points.col(i).norm());
  std::sort(radii.begin(), radii.end());
  for (std::size_t i = 1; i < radii.size(); ++i) {
    if (radii[i] - radii[i - 1] > 1e-6) cells.push_back(circle(0.5 * (radii[i] + radii[i - 1])));
  }
  return cells;
}

Plot construction(const std::string& name, const std::string& title, const DiscreteLaw& whitened,
                  const std::vector<Matrix>& cells, const Eigen::Matrix2d& map) {
  Plot plot;
  plot.name = "figure-signatures-" + name;
  plot.title = title;
  plot.equal_units = true;
  plot.x = {"z₁", false, -kReach, kReach};
  plot.y = {"z₂", false, -kReach, kReach};
  for (const double radius : {1.0, 2.0})
    plot.lines.push_back(mapped(circle(radius), map, Colour::Sky, Dash::Solid, "1 and 2 deviations"));
  for (const Matrix& cell : cells)
    plot.lines.push_back(mapped(cell, map, Colour::Grey, Dash::Dashed, "ends of cells"));
  plot.dots = {dots_of(whitened, map, "locations")};
  return plot;
}

}  // namespace

Outcome figure_signatures(const Context& context) {
  Outcome outcome;
  const Eigen::Matrix2d map = axes();
  const Gaussian gaussian{Vector::Zero(2), Covariance::dense(map * map.transpose())};
  const GridSignature grid =
      grid_signature(gaussian.covariance, Vector::Ones(2), kLocations, optimal_quantizer);
  const DiscreteLaw grid_law = grid.points(gaussian.mean);
  const DiscreteLaw cross_law = cross_signature(gaussian, kLocations);
  // The grid's own directions fix which axis is the first and their signs.
  const Eigen::Matrix2d grid_map = grid.directions;
  const DiscreteLaw grid_white{grid_map.inverse() * grid_law.points, grid_law.weights};
  const DiscreteLaw cross_white{map.inverse() * cross_law.points, cross_law.weights};
  const Eigen::Matrix2d same = Eigen::Matrix2d::Identity();
  outcome.add(
      construction("grid-white", "Grid, standard normal coordinates", grid_white, grid_cells(grid), same));
  outcome.add(
      construction("grid", "Grid, the Gaussian's coordinates", grid_white, grid_cells(grid), grid_map));
  outcome.add(construction("cross-white", "Cross, standard normal coordinates", cross_white,
                           cross_cells(cross_white.points), same));
  outcome.add(construction("cross", "Cross, the Gaussian's coordinates", cross_white,
                           cross_cells(cross_white.points), map));

  const Matrix samples = sample_mixture(GaussianMixture(gaussian), context.size(500, 10000),
                                        context.options.seed, Stream::Mixture, 0);
  const double variance = gaussian.covariance.trace();
  ResultTable table{"figure-signatures", fmt::format("Signatures with N = {}", kLocations), {}, {}, {}};
  table.columns = {{"scheme", ColumnKind::Label},
                   {"points", ColumnKind::Number},
                   {"share of the variance", ColumnKind::Number},
                   {"W2, proven", ColumnKind::Certified},
                   {"W2, empirical", ColumnKind::Estimate},
                   {"W2", ColumnKind::Floor}};
  const RowOrigin origin{{context.command("figure-signatures")}, "", "", context.options.seed};
  const auto add = [&](const std::string& scheme, const DiscreteLaw& law, const ResultValue& proven) {
    const LawDistance distance = sample_distance(samples, law, context.options.seed);
    const double kept = law.points.colwise().squaredNorm().dot(law.weights.transpose()) / variance;
    table.rows.push_back(
        {{scheme, static_cast<double>(law.weights.size()), kept, proven, distance.distance, distance.floor},
         origin});
  };
  add("grid", grid_law, std::sqrt(grid.mean_square_errors(gaussian.covariance.variances()).sum()));
  add("cross", cross_law, std::monostate());
  table.notes = {
      "Cells of the cross are those whose probabilities the paper's algorithm uses: shells, cut into equal "
      "sectors. They are not the Voronoi cells of its points, and its variance is not that of the Gaussian "
      "(errata of the cross scheme): it has no certificate."};
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab

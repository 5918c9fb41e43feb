// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The law of a masked sum as fits and answers see it: docs/theory/answers.md (U.20), dropout-laws.md (D.7).
#include <algorithm>
#include <cmath>

#include "theorems/output_law/masked_output.h"

namespace mixcert {
namespace {

// Cells of the law that results keep, about.
constexpr std::size_t kKeptCells = 1000;
// For roundings of values, slopes and the cubic's own.
constexpr double kCubicError = 1e-13;

/// P(point <= first + at step), about.
double below_at(const PointLaw& points, double at) {
  if (!(at >= 0.0)) return 0.0;
  const auto last = static_cast<double>(points.below.size() - 1);
  return points.below[static_cast<std::size_t>(std::min(at, last))];
}

/// Slopes with which the cubics never fall: at most three times the chords on both sides (Fritsch and
/// Carlson).
Vector rising_slopes(const Vector& values, double cell) {
  Vector slopes = Vector::Zero(values.size());
  for (Index i = 1; i + 1 < values.size(); ++i) {
    const double left = (values(i) - values(i - 1)) / cell, right = (values(i + 1) - values(i)) / cell;
    slopes(i) = std::min(0.5 * (left + right), 2.99 * std::min(left, right));
  }
  return slopes;
}

/// sup |F - cubic|, F the distribution function of the points: F is constant between them, and the cubic
/// never falls.
double largest_difference(const PointLaw& points, const OutputDistribution& law) {
  double most = 0.0, left = law.cdf(points.point(0));
  most = left;  // F is zero before
  for (std::size_t k = 0; k < points.below.size(); ++k) {
    const double right = law.cdf(points.point(k + 1));
    most = std::max({most, std::abs(points.below[k] - left), std::abs(points.below[k] - right)});
    left = right;
  }
  return most;
}

}  // namespace

FitTarget fit_target(const LatticeLaw& law) {
  const Eigen::ArrayXd nodes = FitTarget::nodes();
  const PointLaw& points = law.points;
  const double spacing = nodes(1) - nodes(0);
  const auto value = [&](double node) {
    const double at = (node * law.deviation - points.first) / points.step;
    return 0.5 * (below_at(points, at - 0.5) + below_at(points, at + 0.5));
  };
  FitTarget target{nodes.unaryExpr(value), {}};
  target.density = nodes.unaryExpr(
      [&](double node) { return (value(node + 0.5 * spacing) - value(node - 0.5 * spacing)) / spacing; });
  return target;
}

std::shared_ptr<OutputDistribution> kept_lattice(const MaskedOutput& output, const LatticeLaw& law) {
  const PointLaw& points = law.points;
  if (output.noise > 0.0 || !(law.offset < INFINITY)) return nullptr;
  const std::size_t stride = points.below.size() / kKeptCells + 1;
  const auto cells = static_cast<Index>(points.below.size() / stride + 2);
  // In units, relative to the mean; nodes lie in the middle between points.
  OutputDistribution in_units;
  in_units.cell = points.step * static_cast<double>(stride);
  in_units.first = points.first - in_units.cell - 0.5 * points.step;
  in_units.values.resize(cells + 1);
  for (Index i = 0; i <= cells; ++i)
    in_units.values(i) = below_at(points, static_cast<double>((i - 1) * static_cast<Index>(stride)) - 0.5);
  in_units.density = rising_slopes(in_units.values, in_units.cell);
  const double difference = largest_difference(points, in_units);
  // Over the range of the nodes probabilities are known to within 2 differences, or to the mass of two cells,
  // which is 2/cells on average.
  const bool is_smooth = difference * static_cast<double>(cells) < 1.0;
  auto kept = std::make_shared<OutputDistribution>(in_units);
  kept->error = enlarged(law.error + law.lost + (is_smooth ? difference : 0.0)) + kCubicError;
  const double offset = law.offset + (is_smooth ? 0.0 : in_units.cell);
  const double reach = std::abs(in_units.first) + in_units.cell * static_cast<double>(cells + 1);
  const double unit = std::ldexp(1.0, law.exponent);
  kept->cell = unit * in_units.cell;
  kept->first = output.mean + unit * in_units.first;
  kept->density = in_units.density / unit;
  kept->offset = enlarged(unit * (offset + 16.0 * kUnitRoundoff * reach) + output.mean_error) +
                 16.0 * kUnitRoundoff * std::abs(output.mean);
  kept->moved = output.moved;
  const bool is_good = std::isnormal(unit) && std::isnormal(kept->cell) && kept->density.allFinite() &&
                       std::isfinite(kept->first) && std::isfinite(kept->offset);
  return is_good ? kept : nullptr;
}

}  // namespace mixcert

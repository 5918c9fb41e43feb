// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "methods/graph/tangent_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "activation/gaussian_moments.h"
#include "methods/graph/pair_rounds.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

/// Columns that are multiplied at once: few enough to keep the zeros of single channels out.
constexpr Index kBatch = 64;
/// Ranges of fewer rows are put together.
constexpr Index kShortRange = 512;

/// Rows between the first and the last entry of a column, or of several, that are not zero.
RowRange support(const Matrix& columns, Index first, Index count) {
  RowRange rows{columns.rows(), 0};
  for (Index j = first; j < first + count; ++j) {
    Index top = 0, bottom = columns.rows();
    while (top < bottom && columns(top, j) == 0.0) ++top;
    while (bottom > top && columns(bottom - 1, j) == 0.0) --bottom;
    if (top == bottom) continue;
    rows = {std::min(rows.first, top), std::max(rows.last, bottom)};
  }
  return rows;
}

/// T T' of the rows of a range.
Matrix covariance_of(const Matrix& tangents, const RowRange& range) {
  const Index length = range.last - range.first;
  Matrix covariance = Matrix::Zero(length, length);
  for (Index j = 0; j < tangents.cols(); j += kBatch) {
    const Index count = std::min(kBatch, tangents.cols() - j);
    const RowRange all = support(tangents, j, count);
    const Index top = std::max(all.first, range.first), bottom = std::min(all.last, range.last);
    if (top >= bottom) continue;
    const auto columns = tangents.block(top, j, bottom - top, count);
    covariance.block(top - range.first, top - range.first, bottom - top, bottom - top)
        .selfadjointView<Eigen::Lower>()
        .rankUpdate(columns);
  }
  covariance.triangularView<Eigen::StrictlyUpper>() = covariance.transpose();
  return covariance;
}

/// Lines mu + D (z - m) in place of f(z).
struct Replaced {
  Vector means, slopes;
  Residuals residuals;
};

Replaced replaced_by_lines(const Activation& activation, const TangentLaw& before) {
  const Index size = before.mean.size();
  const Vector deviations = before.deviations();
  Vector errors(size);
  Replaced replaced{Vector(size), Vector(size), {Vector(size), Vector(size), 0.0}};
  for (Index j = 0; j < size; ++j) {
    const GaussianMoments moments = gaussian_moments(activation, before.mean(j), deviations(j));
    const double s = deviations(j), curvature = moments.curvature.value;
    replaced.means(j) = moments.mean.value;
    // Slopes of the lines are means of slopes: rounding must not lead out of their range.
    const auto [low, high] = activation.slope_range();
    replaced.slopes(j) = s > 0.0 ? std::clamp(moments.slope.value / s, low, high) : 0.0;
    replaced.residuals.quadratic(j) = curvature;
    const double least = positive_part(std::abs(curvature) - moments.curvature.error);
    replaced.residuals.rest(j) =
        enlarged(std::sqrt(positive_part(moments.residual.upper() - reduced(least * least))));
    errors(j) = moments.mean.error + moments.slope.error + moments.curvature.error +
                4 * kUnitRoundoff * std::abs(moments.slope.value);
  }
  const double l = activation.lipschitz().upper;
  // What the deviations' own rounding moves a neuron by is a part of the tangents' error.
  const double off =
      before.tangent_error + rounding_gamma(before.tangents.cols() + 8) * before.tangents.norm();
  replaced.residuals.error = enlarged(l * before.mean_error + 2.0 * l * off + errors.norm());
  return replaced;
}

}  // namespace

TangentLaw behind_layer(const AffineOperator& layer, double norm, const TangentLaw& before, Index first) {
  const AffineOperator::Sizes sizes = layer.sizes();
  const double gamma = rounding_gamma(sizes.roundings + 8);
  TangentLaw law;
  law.mean = layer.apply(before.mean);
  law.mean_error = enlarged(norm * before.mean_error + layer.apply_error(before.mean.norm()));
  law.tangents = layer.linear(before.tangents);
  law.tangent_error = norm * before.tangent_error +
                      gamma * std::sqrt(sizes.mean_square) * before.tangents.norm() +
                      std::sqrt(sizes.noise_gram) * before.mean_error;
  if (layer.normals() > 0) {
    const Index known = law.tangents.cols();
    law.tangents.conservativeResize(Eigen::NoChange, first + layer.normals());
    law.tangents.rightCols(law.tangents.cols() - known).setZero();
    Index column = first;
    for (const AffineOperator::NoiseBlock& block : layer.noise_blocks(before.mean)) {
      law.tangents.block(block.first_row, column, block.columns.rows(), block.columns.cols()) = block.columns;
      column += block.columns.cols();
      law.tangent_error += gamma * block.columns.norm();
    }
  }
  law.tangent_error = enlarged(law.tangent_error);
  return law;
}

TangentLaw sum_of(const std::vector<const TangentLaw*>& terms) {
  Index columns = 0;
  for (const TangentLaw* term : terms) columns = std::max(columns, term->tangents.cols());
  const Index rows = terms.front()->mean.size();
  TangentLaw sum{Vector::Zero(rows), Matrix::Zero(rows, columns), 0.0, 0.0};
  const double gamma = rounding_gamma(static_cast<Index>(terms.size()));
  for (const TangentLaw* term : terms) {
    sum.mean += term->mean;
    sum.tangents.leftCols(term->tangents.cols()) += term->tangents;
    sum.mean_error += term->mean_error + gamma * term->mean.norm();
    sum.tangent_error += term->tangent_error + gamma * term->tangents.norm();
  }
  sum.mean_error = enlarged(sum.mean_error);
  sum.tangent_error = enlarged(sum.tangent_error);
  return sum;
}

TangentLaw stacked_laws(const std::vector<const TangentLaw*>& parts) {
  Index rows = 0, columns = 0;
  for (const TangentLaw* part : parts) {
    rows += part->mean.size();
    columns = std::max(columns, part->tangents.cols());
  }
  TangentLaw all{Vector(rows), Matrix::Zero(rows, columns), 0.0, 0.0};
  Index first = 0;
  for (const TangentLaw* part : parts) {
    const Index size = part->mean.size();
    all.mean.segment(first, size) = part->mean;
    // Without columns there is no memory, whose address Eigen would form.
    if (columns > 0) all.tangents.block(first, 0, size, part->tangents.cols()) = part->tangents;
    all.mean_error = enlarged(std::hypot(all.mean_error, part->mean_error));
    all.tangent_error = enlarged(std::hypot(all.tangent_error, part->tangent_error));
    first += size;
  }
  return all;
}

ActivatedLaw behind_activation(const Activation& activation, const TangentLaw& before) {
  Replaced replaced = replaced_by_lines(activation, before);
  ActivatedLaw after{{std::move(replaced.means), replaced.slopes.asDiagonal() * before.tangents, 0.0, 0.0},
                     std::move(replaced.residuals)};
  const double steepest = std::max(activation.lipschitz().upper, replaced.slopes.cwiseAbs().maxCoeff());
  after.law.tangent_error =
      enlarged(steepest * before.tangent_error + 2 * kUnitRoundoff * after.law.tangents.norm());
  return after;
}

MaximumLaw behind_maximum(const MaximumNode& node, Index outputs, const TangentLaw& before) {
  const std::vector<ValuePair> pairs = value_pairs(node, outputs);
  const double readers = std::sqrt(most_readers(node)), twice = std::sqrt(2.0) * readers;
  const double gamma = rounding_gamma(8);
  TangentLaw difference{Vector(outputs), Matrix(outputs, before.tangents.cols()),
                        enlarged(twice * (before.mean_error + gamma * before.mean.norm())),
                        enlarged(twice * (before.tangent_error + gamma * before.tangents.norm()))};
  for (Index u = 0; u < outputs; ++u) {
    const auto& [a, b] = pairs[static_cast<std::size_t>(u)];
    difference.mean(u) = before.mean(a) - before.mean(b);
    if (before.tangents.cols() > 0)
      difference.tangents.row(u) = before.tangents.row(a) - before.tangents.row(b);
  }
  Replaced replaced = replaced_by_lines(Activation(ActivationFunction::Relu), difference);
  MaximumLaw after;
  after.law.mean.resize(outputs);
  after.law.tangents.resize(outputs, before.tangents.cols());
  for (Index u = 0; u < outputs; ++u) {
    const Index b = pairs[static_cast<std::size_t>(u)].second;
    after.law.mean(u) = before.mean(b) + replaced.means(u);
    if (before.tangents.cols() > 0)
      after.law.tangents.row(u) = before.tangents.row(b) + replaced.slopes(u) * difference.tangents.row(u);
  }
  after.law.mean_error = enlarged(readers * before.mean_error + gamma * after.law.mean.norm());
  const double sizes = before.tangents.norm() * readers + difference.tangents.norm();
  after.law.tangent_error = enlarged(readers * before.tangent_error + gamma * sizes);
  after.residuals = std::move(replaced.residuals);
  after.differences = std::move(difference.tangents);
  return after;
}

std::vector<RowRange> independent_ranges(const Matrix& tangents) {
  std::vector<RowRange> supports;
  for (Index j = 0; j < tangents.cols(); ++j) {
    const RowRange rows = support(tangents, j, 1);
    if (rows.first < rows.last) supports.push_back(rows);
  }
  std::sort(supports.begin(), supports.end(),
            [](const RowRange& a, const RowRange& b) { return a.first < b.first; });
  std::vector<RowRange> ranges;
  for (const RowRange& rows : supports) {
    const bool overlaps = !ranges.empty() && rows.first < ranges.back().last;
    const bool is_short =
        !ranges.empty() && std::max(rows.last, ranges.back().last) - ranges.back().first <= kShortRange;
    if (overlaps || is_short) {
      ranges.back().last = std::max(ranges.back().last, rows.last);
    } else {
      ranges.push_back(rows);
    }
  }
  return ranges;
}

double residual_cost(const Residuals& residuals, const Matrix& tangents, const RowRange& range,
                     const Matrix& block) {
  const Index length = range.last - range.first;
  Matrix correlation = covariance_of(tangents, range);
  const Vector inverse =
      correlation.diagonal().unaryExpr([](double c) { return c > 0.0 ? 1.0 / std::sqrt(c) : 0.0; });
  const auto q = residuals.quadratic.segment(range.first, length).array();
  const auto t = residuals.rest.segment(range.first, length).array();
  double sum = 0.0;
  for (Index j = 0; j < length; ++j) {
    const auto r = (correlation.col(j).array() * inverse.array() * inverse(j)).eval();
    const auto b = block.col(j).array();
    sum += (r.square() * (b * q * q(j) + b.abs() * r.abs() * t * t(j))).sum();
  }
  // Correlations are off by gamma_{4R+32}, entries of F at most the product of roots of its diagonal (H.5).
  const double majorant = std::pow((positive_part(block.diagonal()).array().sqrt() * (q.abs() + t)).sum(), 2);
  const double relative = 3.0 * rounding_gamma(4 * tangents.cols() + 32) + rounding_gamma(4 * length + 64);
  return positive_part(sum) + enlarged(relative * majorant);
}

}  // namespace mixcert

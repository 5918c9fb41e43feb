// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "weight_law.h"

#include <cmath>

namespace mixcert_check {
namespace {

BallMatrix square_matrix(const Block& block, const std::string& name, long size) {
  return {size, size, block.values(name, {size, size})};
}

/// Of the largest variance: negative eigenvalues of this size may come from rounding to single precision.
constexpr double kMostNegative = 1e-6;

Balls squared_columns(const BallMatrix& matrix, const Balls& weights) {
  return matrix.squared_entries().transposed().times(weights);
}

/// U diag(d) U'.
BallMatrix in_basis(const BallMatrix& basis, const Balls& diagonal) {
  return basis.columns_scaled(diagonal).times(basis.transposed());
}

Balls row_of(const BallMatrix& matrix, slong i) {
  Balls row;
  for (slong j = 0; j < matrix.columns(); ++j) row.push_back(matrix.at(i, j));
  return row;
}

}  // namespace

BallMatrix covariance(const Block& block, const std::string& name, long size) {
  BallMatrix made = square_matrix(block, name, size);
  if (!is_symmetric(made)) throw BadFile("tensor '" + name + "' is not symmetric");
  if (proves_semidefinite(made)) return made;
  double largest = 0.0;
  for (long i = 0; i < size; ++i) largest = std::fmax(largest, made.at(i, i).about());
  for (double t = 0x1.0p-52 * largest; t < kMostNegative * largest; t *= 8.0) {
    BallMatrix raised = made;
    for (long i = 0; i < size; ++i) raised.add(i, i, t);
    if (!proves_semidefinite(raised)) continue;
    made.add_error(t);
    return made;
  }
  throw BadFile("not covered: tensor '" + name + "' was not proven positive semidefinite");
}

std::vector<std::string> WeightLaw::tensors() const {
  if (variance_) return {"row_basis", "column_basis", "variance"};
  return {"row_covariance", "column_covariance"};
}

std::optional<WeightLaw> WeightLaw::of(const Block& block, const std::string& name, long inputs,
                                       long outputs) {
  const std::string weight = name + ".weight.";
  if (block.has(weight + "row_covariance")) {
    return WeightLaw(covariance(block, weight + "row_covariance", outputs),
                     covariance(block, weight + "column_covariance", inputs), std::nullopt);
  }
  if (!block.has(weight + "row_basis")) return std::nullopt;
  const std::vector<double>& variances = block.values(weight + "variance", {outputs, inputs});
  for (const double variance : variances) {
    if (variance < 0.0) throw BadFile("tensor '" + weight + "variance' holds a negative variance");
  }
  return WeightLaw(square_matrix(block, weight + "row_basis", outputs),
                   square_matrix(block, weight + "column_basis", inputs),
                   BallMatrix(outputs, inputs, variances));
}

BallMatrix WeightLaw::gram(const Balls& g) const {
  if (variance_) return in_basis(column_, variance_->transposed().times(squared_columns(row_, g)));
  Ball factor;
  for (slong l = 0; l < row_.rows(); ++l) factor += g[static_cast<std::size_t>(l)] * row_.at(l, l);
  return column_.rows_scaled(Balls(static_cast<std::size_t>(column_.rows()), factor));
}

BallMatrix WeightLaw::noise_of(const Balls& squares) const {
  if (variance_) return in_basis(row_, variance_->times(squares));
  return row_.rows_scaled(Balls(static_cast<std::size_t>(row_.rows()), squares.front()));
}

BallMatrix WeightLaw::noise_at(const Balls& point) const {
  if (!variance_) return noise_of({dot(point, column_.times(point))});
  Balls squares = column_.transposed().times(point);
  for (Ball& value : squares) value = square(value);
  return noise_of(squares);
}

BallMatrix WeightLaw::noise(const BallMatrix& second) const {
  if (!variance_) return noise_of({inner_product(column_, second)});
  const BallMatrix carried = second.times(column_);
  Balls squares(static_cast<std::size_t>(column_.columns()));
  for (slong i = 0; i < column_.rows(); ++i) {
    for (slong b = 0; b < column_.columns(); ++b)
      squares[static_cast<std::size_t>(b)] += column_.at(i, b) * carried.at(i, b);
  }
  return noise_of(squares);
}

std::vector<WeightLaw::Scalar> WeightLaw::scalars() const {
  std::vector<Scalar> made;
  if (row_.rows() == 1) {
    made.push_back({gram({Ball(1.0)}), {Ball(1.0)}});
  } else if (!variance_) {
    Balls rows;
    for (slong l = 0; l < row_.rows(); ++l) rows.push_back(row_.at(l, l));
    made.push_back({column_, std::move(rows)});
  } else {
    const BallMatrix squares = row_.squared_entries().transposed();
    for (slong c = 0; c < row_.columns(); ++c)
      made.push_back({in_basis(column_, row_of(*variance_, c)), row_of(squares, c)});
  }
  return made;
}

}  // namespace mixcert_check

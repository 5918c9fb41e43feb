// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Matrices of balls of doubles, and their products in floating point with a bound of all that they are off,
// docs/theory/checking.md (I.6), (I.7): a hundred times as fast as Arb's, for covariances, whose entries are
// needed relative to deviations only.
#pragma once

#include "ball_matrix.h"
#include "double_ball.h"

namespace mixcert_check {

class DoubleMatrix {
 public:
  /// Zeros.
  DoubleMatrix(slong rows, slong columns)
      : rows_(rows), columns_(columns), entries_(static_cast<std::size_t>(rows * columns)) {}
  explicit DoubleMatrix(const BallMatrix& matrix);

  [[nodiscard]] slong rows() const { return rows_; }
  [[nodiscard]] slong columns() const { return columns_; }
  [[nodiscard]] const DoubleBall& at(slong i, slong j) const { return entries_[place(i, j)]; }
  void set(slong i, slong j, const DoubleBall& value) { entries_[place(i, j)] = value; }
  [[nodiscard]] BallMatrix in_balls() const;
  void add(const DoubleMatrix& other);

  /// Here zeros stay zeros, exactly.
  [[nodiscard]] DoubleMatrix columns_scaled(const DoubleBalls& right) const;
  [[nodiscard]] DoubleMatrix squared_entries() const;
  /// By (I.6).
  [[nodiscard]] Balls times(const Balls& vector) const;

 private:
  [[nodiscard]] std::size_t place(slong i, slong j) const {
    return static_cast<std::size_t>(i * columns_ + j);
  }

  slong rows_, columns_;
  DoubleBalls entries_;
};

/// Of one row of each.
Ball dot_of_rows(const DoubleMatrix& a, const DoubleMatrix& b, slong row);
/// a b'
DoubleMatrix rounded_product(const DoubleMatrix& a, const DoubleMatrix& b);

}  // namespace mixcert_check

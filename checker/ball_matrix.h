// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Vectors and matrices of balls, and the proof that a matrix is positive semidefinite.
#pragma once

#include <arb_mat.h>

#include <vector>

#include "ball.h"

namespace mixcert_check {

using Balls = std::vector<Ball>;

class BallMatrix {
 public:
  BallMatrix(slong rows, slong columns) { arb_mat_init(matrix_, rows, columns); }
  /// Row by row.
  BallMatrix(slong rows, slong columns, const std::vector<double>& values);
  BallMatrix(const BallMatrix& other);
  BallMatrix(BallMatrix&& other) noexcept;
  BallMatrix& operator=(BallMatrix other) noexcept;
  ~BallMatrix() { arb_mat_clear(matrix_); }

  [[nodiscard]] slong rows() const { return arb_mat_nrows(matrix_); }
  [[nodiscard]] slong columns() const { return arb_mat_ncols(matrix_); }
  [[nodiscard]] Ball at(slong i, slong j) const;
  void set(slong i, slong j, const Ball& value) { arb_set(arb_mat_entry(matrix_, i, j), value.data()); }
  void add(slong i, slong j, const Ball& value);
  void add(const BallMatrix& other) { arb_mat_add(matrix_, matrix_, other.matrix_, kBits); }

  /// Every entry may be off by this much.
  void add_error(double error);

  [[nodiscard]] BallMatrix transposed() const;
  [[nodiscard]] BallMatrix times(const BallMatrix& right) const;
  [[nodiscard]] Balls times(const Balls& vector) const;
  /// diag(left) this, this diag(right).
  [[nodiscard]] BallMatrix rows_scaled(const Balls& left) const;
  [[nodiscard]] BallMatrix columns_scaled(const Balls& right) const;
  [[nodiscard]] BallMatrix squared_entries() const;
  friend Ball dot_of_rows(const BallMatrix& a, const BallMatrix& b, slong row);

 private:
  template <class Change>
  [[nodiscard]] BallMatrix changed(const Change& change) const;

  arb_mat_t matrix_;
};

/// With entry(i, j) on and below the diagonal, the same above it.
template <class Entry>
BallMatrix symmetric(slong size, const Entry& entry) {
  BallMatrix made(size, size);
  for (slong i = 0; i < size; ++i) {
    for (slong j = 0; j <= i; ++j) {
      const Ball value = entry(i, j);
      made.set(i, j, value);
      made.set(j, i, value);
    }
  }
  return made;
}

/// Of the first a.size() entries.
Ball dot(const Balls& a, const Balls& b);
/// Of one row of each.
Ball dot_of_rows(const BallMatrix& a, const BallMatrix& b, slong row);
/// The sum of the products of entries.
Ball inner_product(const BallMatrix& a, const BallMatrix& b);
bool is_symmetric(const BallMatrix& matrix);
Balls balls(const std::vector<double>& values);

/// Is every symmetric matrix whose entries lie in these balls positive semidefinite? True is a proof (I.2):
/// the matrix is L L' for some L, guessed in floating point, plus a matrix that is diagonally dominant with a
/// nonnegative diagonal. False says that no proof was found.
bool proves_semidefinite(const BallMatrix& matrix);

/// No more than the least eigenvalue of such a matrix, by the same proof: one of the smallest diagonal entry
/// times 1/2, 1/8, 1/32, ..; zero where none of them is proven.
Ball least_eigenvalue(const BallMatrix& matrix);

}  // namespace mixcert_check

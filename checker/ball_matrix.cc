// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "ball_matrix.h"

#include <cmath>
#include <optional>

namespace mixcert_check {

BallMatrix::BallMatrix(slong rows, slong columns, const std::vector<double>& values)
    : BallMatrix(rows, columns) {
  for (slong i = 0; i < rows; ++i) {
    for (slong j = 0; j < columns; ++j) {
      arb_set_d(arb_mat_entry(matrix_, i, j), values[static_cast<std::size_t>(i * columns + j)]);
    }
  }
}

BallMatrix::BallMatrix(const BallMatrix& other) : BallMatrix(other.rows(), other.columns()) {
  arb_mat_set(matrix_, other.matrix_);
}

BallMatrix::BallMatrix(BallMatrix&& other) noexcept : BallMatrix(0, 0) {
  arb_mat_swap(matrix_, other.matrix_);
}

BallMatrix& BallMatrix::operator=(BallMatrix other) noexcept {
  arb_mat_swap(matrix_, other.matrix_);
  return *this;
}

Ball BallMatrix::at(slong i, slong j) const {
  Ball made;
  arb_set(made.data(), arb_mat_entry(matrix_, i, j));
  return made;
}

void BallMatrix::add(slong i, slong j, const Ball& value) {
  arb_ptr entry = arb_mat_entry(matrix_, i, j);
  arb_add(entry, entry, value.data(), kBits);
}

template <class Change>
BallMatrix BallMatrix::changed(const Change& change) const {
  BallMatrix made(*this);
  for (slong i = 0; i < rows(); ++i) {
    for (slong j = 0; j < columns(); ++j) change(arb_mat_entry(made.matrix_, i, j), i, j);
  }
  return made;
}

void BallMatrix::add_error(double error) {
  const Ball radius = error;
  *this = changed([&radius](arb_ptr entry, slong, slong) { arb_add_error(entry, radius.data()); });
}

BallMatrix BallMatrix::transposed() const {
  BallMatrix made(columns(), rows());
  arb_mat_transpose(made.matrix_, matrix_);
  return made;
}

BallMatrix BallMatrix::times(const BallMatrix& right) const {
  BallMatrix made(rows(), right.columns());
  arb_mat_mul(made.matrix_, matrix_, right.matrix_, kBits);
  return made;
}

Balls BallMatrix::times(const Balls& vector) const {
  BallMatrix column(columns(), 1);
  for (slong i = 0; i < columns(); ++i) column.set(i, 0, vector[static_cast<std::size_t>(i)]);
  const BallMatrix product = times(column);
  Balls made;
  for (slong i = 0; i < rows(); ++i) made.push_back(product.at(i, 0));
  return made;
}

BallMatrix BallMatrix::rows_scaled(const Balls& left) const {
  return changed([&left](arb_ptr entry, slong i, slong) {
    arb_mul(entry, entry, left[static_cast<std::size_t>(i)].data(), kBits);
  });
}

BallMatrix BallMatrix::columns_scaled(const Balls& right) const {
  return changed([&right](arb_ptr entry, slong, slong j) {
    arb_mul(entry, entry, right[static_cast<std::size_t>(j)].data(), kBits);
  });
}

BallMatrix BallMatrix::squared_entries() const {
  return changed([](arb_ptr entry, slong, slong) { arb_sqr(entry, entry, kBits); });
}

Ball dot(const Balls& a, const Balls& b) {
  static_assert(sizeof(Ball) == sizeof(arb_struct), "balls lie as Arb's own arrays do");
  Ball total;
  if (!a.empty())
    arb_dot(total.data(), nullptr, 0, a[0].data(), 1, b[0].data(), 1, static_cast<slong>(a.size()), kBits);
  return total;
}

Ball dot_of_rows(const BallMatrix& a, const BallMatrix& b, slong row) {
  Ball total;
  if (a.columns() > 0) {
    arb_dot(total.data(), nullptr, 0, arb_mat_entry(a.matrix_, row, 0), 1, arb_mat_entry(b.matrix_, row, 0),
            1, a.columns(), kBits);
  }
  return total;
}

Ball inner_product(const BallMatrix& a, const BallMatrix& b) {
  Ball total;
  for (slong i = 0; i < a.rows(); ++i) total += dot_of_rows(a, b, i);
  return total;
}

bool is_symmetric(const BallMatrix& matrix) {
  for (slong i = 0; i < matrix.rows(); ++i) {
    for (slong j = 0; j < i; ++j) {
      if (!(matrix.at(i, j) - matrix.at(j, i)).is_zero()) return false;
    }
  }
  return true;
}

Balls balls(const std::vector<double>& values) { return {values.begin(), values.end()}; }

namespace {

/// Cholesky's factor of the matrix less `shift` on its diagonal, in floating point: a guess. Nothing where a
/// pivot is not positive.
std::optional<std::vector<double>> guessed_factor(std::vector<double> a, slong n, double shift) {
  const auto entry = [&a, n](slong i, slong j) -> double& { return a[static_cast<std::size_t>(i * n + j)]; };
  for (slong j = 0; j < n; ++j) {
    // A row of zeros stays one.
    if (entry(j, j) == 0.0) {
      for (slong i = j; i < n; ++i) entry(i, j) = entry(j, i) = 0.0;
      continue;
    }
    double pivot = entry(j, j) - shift;
    for (slong k = 0; k < j; ++k) pivot -= entry(j, k) * entry(j, k);
    if (!(pivot > 0.0)) return std::nullopt;
    entry(j, j) = std::sqrt(pivot);
    for (slong i = j + 1; i < n; ++i) {
      double value = entry(i, j);
      for (slong k = 0; k < j; ++k) value -= entry(i, k) * entry(j, k);
      entry(i, j) = value / entry(j, j);
      entry(j, i) = 0.0;
    }
  }
  return a;
}

/// By Gershgorin's circles.
bool is_dominant(const BallMatrix& matrix) {
  for (slong i = 0; i < matrix.rows(); ++i) {
    Ball others;
    for (slong j = 0; j < matrix.columns(); ++j) {
      if (j != i) others += larger(absolute(matrix.at(i, j)), absolute(matrix.at(j, i)));
    }
    if (!at_most(others, matrix.at(i, i))) return false;
  }
  return true;
}

/// With a diagonal of about ones, which changes no sign; rows of zeros stay.
BallMatrix equilibrated(const BallMatrix& matrix) {
  Balls scale;
  for (slong i = 0; i < matrix.rows(); ++i) {
    const double size = matrix.at(i, i).about();
    // A power of two: exact.
    scale.emplace_back(size > 0.0 && std::isfinite(size) ? std::exp2(-std::round(0.5 * std::log2(size)))
                                                         : 1.0);
  }
  return matrix.rows_scaled(scale).columns_scaled(scale);
}

}  // namespace

bool proves_semidefinite(const BallMatrix& matrix) {
  const BallMatrix scaled = equilibrated(matrix);
  if (is_dominant(scaled)) return true;
  const slong n = scaled.rows();
  std::vector<double> middle;
  for (slong i = 0; i < n; ++i) {
    for (slong j = 0; j < n; ++j) middle.push_back(scaled.at(i, j).about());
  }
  // The rest is about `shift` on the diagonal and the rounding of the guess off it, a few units for each of n
  // entries.
  for (double units = 0.125; units < 1e7; units *= 4.0) {
    const double shift = units * static_cast<double>(n) * 0x1.0p-52;
    const auto factor = guessed_factor(middle, n, shift);
    if (!factor) return false;
    const BallMatrix lower(n, n, *factor);
    const BallMatrix product = lower.times(lower.transposed());
    BallMatrix rest(scaled);
    for (slong i = 0; i < n; ++i) {
      for (slong j = 0; j < n; ++j) rest.add(i, j, -product.at(i, j));
    }
    if (is_dominant(rest)) return true;
  }
  return false;
}

Ball least_eigenvalue(const BallMatrix& matrix) {
  double smallest = INFINITY;
  for (slong i = 0; i < matrix.rows(); ++i) smallest = std::fmin(smallest, matrix.at(i, i).about());
  if (!(smallest > 0.0)) return 0.0;
  for (double share = 0.5; share > 1e-12; share /= 4.0) {
    BallMatrix rest(matrix);
    for (slong i = 0; i < matrix.rows(); ++i) rest.add(i, i, -share * smallest);
    if (proves_semidefinite(rest)) return share * smallest;
  }
  return 0.0;
}

}  // namespace mixcert_check

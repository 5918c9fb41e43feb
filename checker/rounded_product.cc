// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "rounded_product.h"

#include <cmath>
#include <optional>

namespace mixcert_check {
namespace {

// For the rounding of the bounds themselves, sums of at most 2^20 terms that are not negative, and for what
// is too small for a double in them.
constexpr double kMore = 1.0 + 0x1.0p-30, kLeast = 0x1.0p-480;

/// Rows of doubles, and no less than their Euclidean norms and those of what they are off: zeros for rows of
/// zeros alone, whose products are exact.
struct Rows {
  explicit Rows(const BallMatrix& matrix);

  slong count, length;
  std::vector<double> values, size, off;
};

Rows::Rows(const BallMatrix& matrix) : count(matrix.rows()), length(matrix.columns()) {
  for (slong i = 0; i < count; ++i) {
    double squares = 0.0, off_squares = 0.0;
    bool is_zero = true;
    for (slong j = 0; j < length; ++j) {
      const Ball ball = matrix.at(i, j);
      const Rounded entry = rounded(ball);
      is_zero = is_zero && ball.is_zero();
      values.push_back(entry.value);
      squares += entry.value * entry.value;
      off_squares += entry.off * entry.off;
    }
    size.push_back(is_zero ? 0.0 : std::sqrt(squares) * kMore + kLeast);
    off.push_back(is_zero ? 0.0 : std::sqrt(off_squares) * kMore + kLeast);
  }
}

/// Row i of a b', where `columns` is b' row by row.
std::vector<double> row_of_product(const Rows& a, slong i, const std::vector<double>& columns, slong count) {
  std::vector<double> made(static_cast<std::size_t>(count), 0.0);
  for (slong k = 0; k < a.length; ++k) {
    const double factor = a.values[static_cast<std::size_t>(i * a.length + k)];
    const double* other = &columns[static_cast<std::size_t>(k * count)];
    for (slong j = 0; j < count; ++j) made[static_cast<std::size_t>(j)] += factor * other[j];
  }
  return made;
}

std::vector<double> transposed(const Rows& b) {
  std::vector<double> made(b.values.size());
  for (slong i = 0; i < b.count; ++i) {
    for (slong j = 0; j < b.length; ++j)
      made[static_cast<std::size_t>(j * b.count + i)] = b.values[static_cast<std::size_t>(i * b.length + j)];
  }
  return made;
}

}  // namespace

BallMatrix rounded_product(const BallMatrix& a, const BallMatrix& b) {
  const Rows left(a);
  const std::optional<Rows> other = &a == &b ? std::nullopt : std::optional<Rows>(b);
  const Rows& right = other ? *other : left;
  const std::vector<double> columns = transposed(right);
  const double unit = 0x1.0p-52 * static_cast<double>(left.length);
  BallMatrix made(left.count, right.count);
  for (slong i = 0; i < left.count; ++i) {
    const std::vector<double> row = row_of_product(left, i, columns, right.count);
    const double size = left.size[static_cast<std::size_t>(i)], off = left.off[static_cast<std::size_t>(i)];
    for (slong j = 0; j < right.count; ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (size == 0.0 || right.size[at] == 0.0) continue;
      const double error =
          unit * size * right.size[at] + size * right.off[at] + off * (right.size[at] + right.off[at]);
      made.set(i, j, around(row[at], error * kMore + kLeast));
    }
  }
  return made;
}

BallMatrix product(const BallMatrix& a, const BallMatrix& b, Products how) {
  return how == Products::Rounded ? rounded_product(a, b) : a.times(b.transposed());
}

}  // namespace mixcert_check

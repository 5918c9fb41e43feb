// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "rounded_product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace mixcert_check {
namespace {

// For the rounding of the bounds themselves, sums of at most 2^20 terms that are not negative, and for what
// is too small for a double in them.
constexpr double kMore = 1.0 + 0x1.0p-30, kLeast = 0x1.0p-480;

/// Columns of a product that are summed at a time, in registers.
constexpr slong kTogether = 8;

/// No less than the Euclidean norms of the middles of numbers and of their radii; zeros for zeros alone,
/// whose products are exact.
struct Norms {
  double size = 0.0, off = 0.0;
  bool is_zero = true;

  void add(const DoubleBall& entry) {
    size += entry.middle * entry.middle;
    off += entry.radius * entry.radius;
    is_zero = is_zero && entry.is_zero();
  }
  void finish() {
    size = is_zero ? 0.0 : std::sqrt(size) * kMore + kLeast;
    off = is_zero ? 0.0 : std::sqrt(off) * kMore + kLeast;
  }
};

/// (I.6): a sum of `count` products of the middles of a and b.
DoubleBall around_sum(double sum, slong count, const Norms& a, const Norms& b) {
  if (a.is_zero || b.is_zero) return {};
  const double unit = 0x1.0p-52 * static_cast<double>(count);
  const double error = unit * a.size * b.size + a.size * b.off + a.off * (b.size + b.off);
  return {sum, error * kMore + kLeast};
}

struct Rows {
  explicit Rows(const DoubleMatrix& matrix);

  slong count, length;
  std::vector<double> values;  ///< middles
  std::vector<Norms> norms;
};

Rows::Rows(const DoubleMatrix& matrix)
    : count(matrix.rows()), length(matrix.columns()), norms(static_cast<std::size_t>(count)) {
  values.reserve(static_cast<std::size_t>(count * length));
  for (slong i = 0; i < count; ++i) {
    Norms& own = norms[static_cast<std::size_t>(i)];
    for (slong j = 0; j < length; ++j) {
      values.push_back(matrix.at(i, j).middle);
      own.add(matrix.at(i, j));
    }
    own.finish();
  }
}

/// b' in strips of kTogether columns, one after the other; zeros in columns beyond the last.
std::vector<double> strips_of(const Rows& b) {
  const slong strips = (b.count + kTogether - 1) / kTogether;
  std::vector<double> made(static_cast<std::size_t>(strips * b.length * kTogether), 0.0);
  for (slong i = 0; i < b.count; ++i) {
    const slong first = i / kTogether * b.length * kTogether + i % kTogether;
    for (slong k = 0; k < b.length; ++k)
      made[static_cast<std::size_t>(first + k * kTogether)] =
          b.values[static_cast<std::size_t>(i * b.length + k)];
  }
  return made;
}

/// Of a row with the columns of a strip.
std::array<double, kTogether> dots(const double* row, const double* strip, slong length) {
  std::array<double, kTogether> sums{};
  for (slong k = 0; k < length; ++k) {
    for (slong c = 0; c < kTogether; ++c)
      sums[static_cast<std::size_t>(c)] += row[k] * strip[k * kTogether + c];
  }
  return sums;
}

}  // namespace

DoubleMatrix::DoubleMatrix(const BallMatrix& matrix) : DoubleMatrix(matrix.rows(), matrix.columns()) {
  for (slong i = 0; i < rows_; ++i) {
    for (slong j = 0; j < columns_; ++j) set(i, j, DoubleBall(matrix.at(i, j)));
  }
}

BallMatrix DoubleMatrix::in_balls() const {
  BallMatrix made(rows_, columns_);
  for (slong i = 0; i < rows_; ++i) {
    for (slong j = 0; j < columns_; ++j) made.set(i, j, at(i, j).ball());
  }
  return made;
}

DoubleMatrix DoubleMatrix::columns_scaled(const DoubleBalls& right) const {
  DoubleMatrix made(rows_, columns_);
  for (slong i = 0; i < rows_; ++i) {
    for (slong j = 0; j < columns_; ++j) {
      if (!at(i, j).is_zero()) made.set(i, j, at(i, j) * right[static_cast<std::size_t>(j)]);
    }
  }
  return made;
}

DoubleMatrix DoubleMatrix::squared_entries() const {
  DoubleMatrix made(*this);
  for (DoubleBall& entry : made.entries_) {
    if (!entry.is_zero()) entry = entry * entry;
  }
  return made;
}

void DoubleMatrix::add(const DoubleMatrix& other) {
  for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i] = entries_[i] + other.entries_[i];
}

Balls DoubleMatrix::times(const Balls& vector) const {
  const DoubleBalls numbers = in_doubles(vector);
  Norms size_of_vector;
  for (const DoubleBall& entry : numbers) size_of_vector.add(entry);
  size_of_vector.finish();
  Balls made;
  for (slong i = 0; i < rows_; ++i) {
    Norms size;
    double sum = 0.0;
    for (slong j = 0; j < columns_; ++j) {
      const DoubleBall& entry = at(i, j);
      size.add(entry);
      sum += entry.middle * numbers[static_cast<std::size_t>(j)].middle;
    }
    size.finish();
    made.push_back(around_sum(sum, columns_, size, size_of_vector).ball());
  }
  return made;
}

Ball dot_of_rows(const DoubleMatrix& a, const DoubleMatrix& b, slong row) {
  DoubleBall total;
  for (slong j = 0; j < a.columns(); ++j) total = total + a.at(row, j) * b.at(row, j);
  return total.ball();
}

DoubleMatrix rounded_product(const DoubleMatrix& a, const DoubleMatrix& b) {
  const bool is_square = &a == &b;
  const Rows left(a);
  const std::optional<Rows> other = is_square ? std::nullopt : std::optional<Rows>(b);
  const Rows& right = other ? *other : left;
  const std::vector<double> strips = strips_of(right);
  DoubleMatrix made(left.count, right.count);
  for (slong i = 0; i < left.count; ++i) {
    // Half of what is symmetric.
    const slong end = is_square ? i + 1 : right.count;
    for (slong first = 0; first < end; first += kTogether) {
      const auto sums =
          dots(left.values.data() + i * left.length, strips.data() + first * left.length, left.length);
      for (slong j = first; j < std::min(end, first + kTogether); ++j) {
        const DoubleBall value =
            around_sum(sums[static_cast<std::size_t>(j - first)], left.length,
                       left.norms[static_cast<std::size_t>(i)], right.norms[static_cast<std::size_t>(j)]);
        made.set(i, j, value);
        if (is_square) made.set(j, i, value);
      }
    }
  }
  return made;
}

}  // namespace mixcert_check

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A tile of the product keeps its running totals in registers: four packets of rows by up to three columns,
// which is what sixteen registers hold. Which tile an entry falls into changes neither its terms nor their
// order (R.7). Rows that do not fill a packet are scalars; that depends on the row, not on the column.
#include "core/column_product.h"

#include <algorithm>

namespace mixcert {
namespace {

// Packet types are register types with an alignment attribute, which template arguments drop.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

/// Rows of `left` that are taken together, in packets.
constexpr int kTilePackets = 4;
/// Columns of `right` that are taken together.
constexpr int kTileColumns = 3;
/// Terms added before the next columns take their turn: a slice of `left` that stays in the cache.
constexpr Index kSlice = 64;

/// Where an operand's entries lie, column by column.
struct Operand {
  const double* data;
  Index stride;
};

/// Adds `terms` terms to the totals of `Packets` packets of rows and `Columns` columns.
template <class Packet, int Packets, int Columns>
inline void add_terms(Operand left, Operand right, Index terms, double* totals, Index stride) {
  namespace simd = Eigen::internal;
  constexpr int size = simd::unpacket_traits<Packet>::size;
  Packet sums[Packets][Columns];
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
#pragma GCC unroll 4
    for (int p = 0; p < Packets; ++p) sums[p][c] = simd::ploadu<Packet>(totals + c * stride + p * size);
  }
  for (Index k = 0; k < terms; ++k) {
    const double* rows = left.data + k * left.stride;
    Packet entries[Packets];
#pragma GCC unroll 4
    for (int p = 0; p < Packets; ++p) entries[p] = simd::ploadu<Packet>(rows + p * size);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      const auto factor = simd::pset1<Packet>(right.data[k + c * right.stride]);
#pragma GCC unroll 4
      for (int p = 0; p < Packets; ++p) sums[p][c] = simd::pmadd(entries[p], factor, sums[p][c]);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
#pragma GCC unroll 4
    for (int p = 0; p < Packets; ++p) simd::pstoreu(totals + c * stride + p * size, sums[p][c]);
  }
}

/// Adds `terms` terms to `Columns` columns of totals.
template <int Columns>
void add_to_columns(Operand left, Operand right, Index rows, Index terms, double* totals) {
  using Packet = Eigen::internal::packet_traits<double>::type;
  constexpr Index size = Eigen::internal::packet_traits<double>::size;
  const Index stride = rows;
  Index i = 0;
  for (; i + kTilePackets * size <= rows; i += kTilePackets * size) {
    add_terms<Packet, kTilePackets, Columns>({left.data + i, left.stride}, right, terms, totals + i, stride);
  }
  for (; i + size <= rows; i += size) {
    add_terms<Packet, 1, Columns>({left.data + i, left.stride}, right, terms, totals + i, stride);
  }
  for (; i < rows; ++i) {
    add_terms<double, 1, Columns>({left.data + i, left.stride}, right, terms, totals + i, stride);
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace

Matrix column_product(ConstMatrixRef left, ConstMatrixRef right) {
  const Index rows = left.rows();
  const Index columns = right.cols();
  Matrix product = Matrix::Zero(rows, columns);
  for (Index first = 0; first < left.cols(); first += kSlice) {
    const Index terms = std::min(kSlice, left.cols() - first);
    const Operand slice{left.data() + first * left.outerStride(), left.outerStride()};
    for (Index j = 0; j < columns; j += kTileColumns) {
      const Operand factors{right.data() + first + j * right.outerStride(), right.outerStride()};
      double* totals = product.data() + j * rows;
      if (columns - j >= kTileColumns) {
        add_to_columns<kTileColumns>(slice, factors, rows, terms, totals);
      } else if (columns - j == 2) {
        add_to_columns<2>(slice, factors, rows, terms, totals);
      } else {
        add_to_columns<1>(slice, factors, rows, terms, totals);
      }
    }
  }
  return product;
}

}  // namespace mixcert

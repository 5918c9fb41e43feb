// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/pair_sums.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/elementary.h"
#include "mixcert/core/parallel.h"
#include "mixcert/core/rounding.h"

namespace mixcert {
namespace {

constexpr Index kBlock = 256;
/// Numbers that a block of monomials, and tensors of blocks that wait for each other, may take.
constexpr Index kScratchNumbers = Index{1} << 23U;

struct Block {
  Index first, count;
};

Block block_at(Index number, Index masks, Index size = kBlock) {
  const Index first = number * size;
  return {first, std::min(size, masks - first)};
}

/// Monomials of one degree in the coordinates of u: each is one of the degree below times one coordinate.
struct Monomials {
  std::vector<Index> parent, variable;
  Vector multiplicity;  ///< q!/alpha!: how many entries of a symmetric tensor are equal to this one
};

/// Of degrees 1 to 4, in `m` variables.
std::array<Monomials, 4> monomials(Index m) {
  std::array<Monomials, 4> all;
  std::vector<double> runs(1, 0.0), counts(1, 1.0);  // how often the last variable occurs; multiplicities
  std::vector<Index> last(1, 0);
  for (std::size_t degree = 0; degree < 4; ++degree) {
    Monomials& made = all[degree];
    std::vector<double> next_runs, next_counts;
    for (std::size_t i = 0; i < last.size(); ++i) {
      for (Index v = last[i]; v < m; ++v) {
        const double run = v == last[i] ? runs[i] + 1.0 : 1.0;
        made.parent.push_back(static_cast<Index>(i));
        made.variable.push_back(v);
        next_runs.push_back(run);
        next_counts.push_back(counts[i] * static_cast<double>(degree + 1) / run);
      }
    }
    last = made.variable;
    runs = next_runs;
    counts = next_counts;
    made.multiplicity = Eigen::Map<const Vector>(counts.data(), static_cast<Index>(counts.size()));
  }
  return all;
}

/// Contributions of a block of masks to the four tensors, and to sum_j |c_j| |x_jq| and sum_j |c_j| t_j.
struct TensorSums {
  std::array<Matrix, 4> tensors;
  Eigen::Array4d absolute = Eigen::Array4d::Zero();

  void add(const TensorSums& other) {
    for (std::size_t q = 0; q < 4; ++q) tensors[q] += other.tensors[q];
    absolute += other.absolute;
  }
};

Eigen::Array4d absolute_sums(const PairTerms& terms, Block block) {
  const auto sizes = terms.sizes.segment(block.first, block.count);
  Eigen::Array4d sums;
  sums.head<3>() =
      (terms.weights.middleRows(block.first, block.count).cwiseAbs().transpose() * sizes).array();
  sums(3) = sizes.dot(terms.rests.segment(block.first, block.count));
  return sums;
}

TensorSums block_tensors(const PairTerms& terms, const std::array<Monomials, 4>& basis, Block block) {
  TensorSums sums;
  sums.absolute = absolute_sums(terms, block);
  const Matrix u = terms.directions.middleCols(block.first, block.count).transpose();
  const Matrix c = terms.vectors.middleCols(block.first, block.count).transpose();
  Matrix powers = Matrix::Ones(block.count, 1), next;
  for (std::size_t q = 0; q < 4; ++q) {
    const Index count = basis[q].multiplicity.size();
    next.resize(block.count, count);
    for (Index i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      next.col(i) = powers.col(basis[q].parent[at]).cwiseProduct(u.col(basis[q].variable[at]));
    }
    powers.swap(next);
    if (q < 3) {
      const auto x = terms.weights.col(static_cast<Index>(q)).segment(block.first, block.count);
      sums.tensors[q] = powers.transpose() * (x.asDiagonal() * c);
    } else {
      const auto t = terms.rests.segment(block.first, block.count);
      sums.tensors[q] = powers.transpose() * t.cwiseProduct(terms.sizes.segment(block.first, block.count));
    }
  }
  return sums;
}

Index block_count(const PairTerms& terms, Index size = kBlock) {
  return (terms.vectors.cols() + size - 1) / size;
}

/// Numbers of the four tensors of m outputs.
Index tensor_size(const std::array<Monomials, 4>& basis, Index m) {
  Index sum = basis[3].multiplicity.size();
  for (std::size_t q = 0; q < 3; ++q) sum += m * basis[q].multiplicity.size();
  return sum;
}

}  // namespace

std::array<double, 4> pair_sums_by_tensors(const PairTerms& terms, int threads) {
  const Index n = terms.vectors.cols(), m = terms.vectors.rows();
  const std::array<Monomials, 4> basis = monomials(m);
  const Index size = std::clamp<Index>(kScratchNumbers / basis[3].multiplicity.size(), 1, kBlock);
  const Index blocks = block_count(terms, size);
  // Blocks are added in their order, a few at a time: tensors of all of them would take gigabytes.
  const Index most = std::clamp<Index>(kScratchNumbers / tensor_size(basis, m), 1, 64);
  TensorSums total;
  for (Index first = 0; first < blocks; first += most) {
    std::vector<TensorSums> parts(static_cast<std::size_t>(std::min(most, blocks - first)));
    parallel_for(static_cast<Index>(parts.size()), threads, [&](Index b) {
      parts[static_cast<std::size_t>(b)] = block_tensors(terms, basis, block_at(first + b, n, size));
    });
    for (TensorSums& part : parts) {
      if (total.tensors[0].size() == 0) {
        total = std::move(part);
      } else {
        total.add(part);
      }
    }
  }
  std::array<double, 4> sums{};
  for (std::size_t q = 0; q < 4; ++q) {
    const double norm =
        std::sqrt((total.tensors[q].rowwise().squaredNorm().array() * basis[q].multiplicity.array()).sum());
    // Entry by entry a tensor is off by gamma times the sum of absolute values, whose norm is at most this.
    const double error = rounding_gamma(n + 16) * total.absolute(static_cast<Index>(q));
    sums[q] = enlarged(square(enlarged(norm) + enlarged(error)));
  }
  return sums;
}

std::array<double, 4> pair_sums_by_blocks(const PairTerms& terms, int threads) {
  const Index n = terms.vectors.cols(), m = terms.vectors.rows(), blocks = block_count(terms);
  std::vector<Eigen::Array4d> parts(static_cast<std::size_t>(blocks), Eigen::Array4d::Zero());
  std::vector<Eigen::Array4d> absolute(parts);
  const Vector scaled_rests = terms.rests.cwiseProduct(terms.sizes);
  parallel_for(blocks, threads, [&](Index b) {
    const Block rows = block_at(b, n);
    Eigen::Array4d& part = parts[static_cast<std::size_t>(b)];
    absolute[static_cast<std::size_t>(b)] = absolute_sums(terms, rows);
    for (Index other = 0; other <= b; ++other) {
      const Block cols = block_at(other, n);
      const double times = other == b ? 1.0 : 2.0;
      const Matrix r = terms.directions.middleCols(rows.first, rows.count).transpose() *
                       terms.directions.middleCols(cols.first, cols.count);
      Matrix product = terms.vectors.middleCols(rows.first, rows.count).transpose() *
                       terms.vectors.middleCols(cols.first, cols.count);
      for (Index q = 0; q < 3; ++q) {
        product = product.cwiseProduct(r);
        part(q) += times * terms.weights.col(q)
                               .segment(rows.first, rows.count)
                               .dot(product * terms.weights.col(q).segment(cols.first, cols.count));
      }
      part(3) += times * scaled_rests.segment(rows.first, rows.count)
                             .dot(r.array().square().square().matrix() *
                                  scaled_rests.segment(cols.first, cols.count));
    }
  });
  std::array<double, 4> sums{};
  for (Index q = 0; q < 4; ++q) {
    double sum = 0.0, size = 0.0;
    for (std::size_t b = 0; b < parts.size(); ++b) {
      sum += parts[b](q);
      size += absolute[b](q);
    }
    // A pair counts at most |c_j||c_k||x_j||x_k|; no sum runs over more than n + 2 kBlock terms at a level.
    const double error = rounding_gamma(4 * n + 8 * m + 4 * kBlock + 64) * square(size);
    sums[static_cast<std::size_t>(q)] = enlarged(positive_part(sum)) + enlarged(error);
  }
  return sums;
}

namespace {

/// Operations for each mask, by tensors and by pairs.
struct Operations {
  double tensors, pairs;
};

Operations operations(Index masks, Index outputs) {
  const auto n = static_cast<double>(masks), m = static_cast<double>(outputs);
  const double cubes = m * (m + 1.0) * (m + 2.0) / 6.0;
  return {2.0 * m * (m + m * m / 2.0 + cubes) + 0.75 * cubes * (m + 3.0), n * (2.0 * m + 16.0)};
}

}  // namespace

double pair_operations(Index masks, Index outputs) {
  const Operations one = operations(masks, outputs);
  return static_cast<double>(masks) * std::min(one.tensors, one.pairs);
}

std::array<double, 4> pair_sums(const PairTerms& terms, int threads) {
  const Operations one = operations(terms.vectors.cols(), terms.vectors.rows());
  return one.tensors <= one.pairs ? pair_sums_by_tensors(terms, threads)
                                  : pair_sums_by_blocks(terms, threads);
}

}  // namespace mixcert

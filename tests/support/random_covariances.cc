// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One structure after the other.
#include "support/random_covariances.h"

#include "support/random_laws.h"

namespace mixcert::testing {

const std::vector<Structure>& all_structures() {
  static const std::vector<Structure> all = {
      Structure::Zero,   Structure::Diagonal,      Structure::SparseDiagonal, Structure::DiagonalLowRank,
      Structure::Blocks, Structure::BlocksLowRank, Structure::Dense,          Structure::RankOne};
  return all;
}

std::string to_string(Structure structure) {
  static const std::vector<std::string> names = {
      "Zero", "Diagonal", "SparseDiagonal", "DiagonalLowRank", "Blocks", "BlocksLowRank", "Dense", "RankOne"};
  return names[static_cast<std::size_t>(structure)];
}

Matrix random_blocks(Generator& generator, Index count, Index size) {
  Matrix stacked(count * size, size);
  for (Index i = 0; i < count; ++i) {
    const Matrix factor = random_matrix(generator, size, i % 3 == 2 ? 1 : size + 1);
    stacked.middleRows(i * size, size) = factor * factor.transpose();
  }
  return stacked;
}

Covariance random_structured(Generator& generator, Structure structure, Index dimension, Index rank) {
  const auto variances = [&] { return Vector(random_matrix(generator, dimension, 1).cwiseAbs2()); };
  switch (structure) {
    case Structure::Zero:
      return Covariance::zero(dimension);
    case Structure::Diagonal:
      return Covariance::diagonal(variances());
    case Structure::SparseDiagonal:
      return Covariance::diagonal(Vector(variances().array() * (variances().array() > 0.5).cast<double>()));
    case Structure::DiagonalLowRank: {
      const Covariance base = Covariance::diagonal(variances());
      return base.plus_low_rank(random_matrix(generator, dimension, rank));
    }
    case Structure::Blocks:
      return Covariance::block_diagonal(random_blocks(generator, dimension / 3, 3));
    case Structure::BlocksLowRank: {
      const Covariance base = Covariance::block_diagonal(random_blocks(generator, dimension / 3, 3));
      return base.plus_low_rank(random_matrix(generator, dimension, rank));
    }
    case Structure::Dense:
      return Covariance::dense(random_covariance(generator, dimension));
    case Structure::RankOne: {
      const Vector direction = random_matrix(generator, dimension, 1);
      return Covariance::dense(direction * direction.transpose());
    }
  }
  return Covariance::zero(dimension);
}

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// (lambda I - C)^+ b for an eigenvalue lambda of a structured covariance: what eigenvectors move by when C
// does, (Z.22). Eigenvectors whose eigenvalue is numerically lambda are left out: their part of the motion is
// no derivative but a choice (Kasim 2020).
#pragma once

#include "mixcert/mixture/covariance.h"

namespace mixcert {

/// Eigenvalues closer to lambda than this fraction of it count as equal.
inline constexpr double kEqualEigenvalues = 1e-8;

class ShiftedInverse {
 public:
  explicit ShiftedInverse(const Covariance& covariance);

  /// Without a low-rank part eigenvectors live in single blocks, and so do solutions: those of different
  /// blocks never mix.
  [[nodiscard]] Vector solve(double lambda, ConstVectorRef right) const;

 private:
  [[nodiscard]] Vector rotate(ConstVectorRef x, bool back) const;

  Vector values_;                  ///< eigenvalues of the blocks
  std::vector<Matrix> rotations_;  ///< their eigenvectors, block by block
  Matrix factor_;                  ///< low-rank part in these coordinates
};

}  // namespace mixcert

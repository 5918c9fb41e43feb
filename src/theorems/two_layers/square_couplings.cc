// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Theta = sum_j m_j^2 rho_j sd(d_j^2) + 2^{1/2} D^2 + 2 3^{1/2} D Y + (6 K)^{1/2} Y^2, (Y.29). Constants are
// rounded up.
#include "theorems/two_layers/square_couplings.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/rounding.h"

namespace mixcert {

Vector square_couplings(const Matrix& m, const NeuronErrors& first, const Vector& signal) {
  const Vector gain = first.gain.cwiseAbs(), gain2 = gain.cwiseAbs2();
  const Matrix m2 = m.cwiseAbs2(), m3 = m2.cwiseProduct(m.cwiseAbs());
  const Vector own = m3 * gain.cwiseProduct(first.square_sd);
  const Vector linear = m2 * gain.cwiseProduct(first.linear), bent = m3 * gain2.cwiseProduct(first.bent);
  Vector all(m.rows());
  for (Index l = 0; l < m.rows(); ++l) {
    const double v = reduced(signal(l));
    const double largest =
        enlarged(2.0 * (m2.row(l).transpose().cwiseProduct(gain2)).maxCoeff<Eigen::PropagateNaN>() / v);
    if (!(v > 0.0) || !(largest < 1.0)) {
      all(l) = INFINITY;
      continue;
    }
    // No less than sup_k k r^{k-1}.
    const double growth = largest <= 0.5 ? 1.0 : larger_or_nan(1.0, -0.36788 / (largest * std::log(largest)));
    const double d = linear(l) / std::sqrt(v), y = bent(l) / v;
    all(l) = enlarged(own(l) / std::sqrt(v) + 1.41422 * d * d + 3.46411 * d * y +
                      2.4495 * std::sqrt(growth) * y * y);
  }
  return all;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One standardised dropout mask seen through Gaussian noise, docs/theory/mask-sums.md (D.15): Y = -A with
// probability p and 1/A otherwise, A = ((1-p)/p)^{1/2}, T = Y + s z. The score
//
//     rho(t) = (1 + s^-2) E[Y | T = t] - s^-2 t
//
// is what drives the flow of a sum of masks (D.10); here are its mean square and its Hermite coefficients,
// with proven errors.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert {

inline constexpr int kMaskOrders = 3;

struct NoisyMask {
  double square = 0.0;                        ///< no less than E rho(T)^2
  std::array<double, kMaskOrders> hermite{};  ///< h_q = E rho(Y + s z) H_q(z), q = 1, 2, 3
  double error = 0.0;                         ///< no less than that of each coefficient
  double rest = 0.0;                          ///< no less than (sum_{q>3} h_q^2)^{1/2}
};

/// 0 < rate <= 1/2, deviation > 0 as they stand. Nothing where the quadrature would take too many nodes:
/// deviation below 1/200 of the distance of the mask's two values.
std::optional<NoisyMask> noisy_mask(double rate, double deviation);

/// No less than E (Y - g)^2 of a mask and a standard normal g that grow together: 2 - 2 kap, (D.2).
double mask_coupling_cost(double rate);

/// Deviations may be made smaller in (D.10), so they are rounded down to levels: 128 to an octave.
class NoisyMaskTable {
 public:
  explicit NoisyMaskTable(double rate) : rate_(rate) {}

  /// The highest level whose deviation is no more than s; -1 where there is none.
  static int level(double s);
  static double deviation(int level);

  /// Computes what is missing of these levels.
  void prepare(const std::vector<int>& levels, int threads);
  /// Of a level that has been prepared; null where there is no value.
  [[nodiscard]] const NoisyMask* find(int level) const;

 private:
  double rate_;
  std::map<int, std::optional<NoisyMask>> values_;
};

}  // namespace mixcert

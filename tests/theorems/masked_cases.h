// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Masked sums and networks, random ones and extreme ones, beside the oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mixcert/network/network.h"
#include "theorems/masked_sum_oracle.h"
#include "theorems/output_law/lattice_law.h"

namespace mixcert::testing {

/// Up to `most` masks: equal, normal, log-normal or one that dominates; zeros among them; a mixture that is
/// its Gaussian, another Gaussian, or several; all of it times `scale`.
struct MaskedCase {
  MaskedSum sum;
  LineGaussians mixture;

  MaskedCase(std::uint64_t seed, double scale, std::uint64_t most = 5);
  /// The distance, exactly.
  [[nodiscard]] long double truth() const;
  [[nodiscard]] double deviation() const;  ///< of the sum
  [[nodiscard]] double size() const;       ///< the largest deviation or mean of sum and mixture
};

/// The bound of a random masked sum is no less than the truth, and close to it.
void expect_bound_of_sum(std::uint64_t seed, double scale, std::uint64_t most = 5);

/// Up to `most` masks behind one hidden layer with deterministic weights, and its law at the input 1.
struct MaskedNetwork {
  Network network;
  std::vector<long double> contributions;
  double rate, bias;

  /// Less `center`: places beside a large bias would lose their digits.
  [[nodiscard]] Atoms atoms(double center) const {
    return enumerated_sum(contributions, rate, static_cast<long double>(bias) - center);
  }
};
MaskedNetwork random_masked_network(std::uint64_t seed, double scale, double bias, std::uint64_t most);

/// Certificates with one and with several components are no less than the distance of the mixture they are
/// about.
void expect_bound_of_network(std::uint64_t seed, double scale, double bias, std::uint64_t most = 5);

/// Gaussian weights, biases or hidden neurons beside up to five masks. Which theorem bounds the output's
/// term?
std::string expect_bound_with_noise(std::uint64_t seed);

/// 1-64-1, random weights, ReLU, at a random input.
struct RegressionBounds {
  double coupled = 0.0;       ///< one Gaussian, masks coupled one by one (D.3)
  double one = 0.0;           ///< one Gaussian, the law computed
  double least = 0.0;         ///< no more than the distance of that Gaussian
  double fitted = 0.0;        ///< five components
  double milliseconds = 0.0;  ///< of a certificate with five components
};
RegressionBounds regression_bounds(std::uint64_t seed, double rate);

}  // namespace mixcert::testing

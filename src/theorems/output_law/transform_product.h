// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The product of the neurons' characteristic functions at multiples kh of a frequency, with its error:
// docs/theory/stein.md (Y.4).
#pragma once

#include <cstring>
#include <vector>

#include "activation/neuron/neuron_nodes.h"
#include "mixcert/core/types.h"

namespace mixcert {

using FourValues = Eigen::Array<double, 4, 1>;
/// Numbers at kh, k = 1, 2, .., four to an entry.
using FrequencyValues = std::vector<FourValues>;

/// The frequencies kh, k = 1 .. count, and what follows.
struct Frequencies {
  Frequencies(double h, Index frequency_count);

  double spacing;
  Index count;
  FrequencyValues order;  ///< k
  FrequencyValues time;   ///< kh
};

/// One factor, and no less than its error; where that is above 1 the factor counts as 0 with error 1.
struct TransformFactor {
  explicit TransformFactor(std::size_t size) : real(size), imaginary(size), error(size) {}
  void resize(std::size_t size);

  FrequencyValues real, imaginary, error;
};

/// Values of f_j by recurrence over frequencies, from nodes (Y.4). Overwrites all of `factor`, which may have
/// fewer entries than there are frequencies.
void factor_by_nodes(const SummandNeuron& neuron, const NeuronNodes& nodes, const Frequencies& frequencies,
                     TransformFactor& factor);

class TransformProduct {
 public:
  /// exp(-beta t^2/2) alone.
  TransformProduct(const Frequencies& frequencies, double bias_variance);

  void multiply(const TransformFactor& factor);
  /// Entries (of four) that are not negligible; factors need no more. The others stay as they are, with an
  /// error that covers all further factors.
  [[nodiscard]] std::size_t active() const { return active_; }
  [[nodiscard]] double real(Index k) const { return at(real_, k); }
  [[nodiscard]] double imaginary(Index k) const { return at(imaginary_, k); }
  /// Without the rounding of products.
  [[nodiscard]] double error(Index k) const { return at(error_, k); }

 private:
  static double at(const FrequencyValues& values, Index k) {
    return values[static_cast<std::size_t>(k / 4)](k % 4);
  }
  FrequencyValues real_, imaginary_;
  FrequencyValues size_;  ///< product of bounds of |f_j|
  FrequencyValues error_;
  std::size_t active_;
};

// Two numbers in one register, for the innermost loops: arrays of fixed size are kept in memory by the
// compiler, which takes twice as many instructions. GCC's and Clang's vector extension.

using TwoLanes = double __attribute__((vector_size(16)));

inline TwoLanes load_two(const double* from) {
  TwoLanes two;
  std::memcpy(&two, from, sizeof two);
  return two;
}
inline void store_two(const TwoLanes& two, double* to) { std::memcpy(to, &two, sizeof two); }
inline TwoLanes both(double value) { return TwoLanes{value, value}; }

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Random networks of one hidden layer behind dropout, and their enumerated laws on the line.
#pragma once

#include <random>
#include <vector>

#include "mixcert/certify/certify.h"

namespace mixcert::testing {

/// A law on the line: components of weight, mean and deviation, which may be zero.
struct LinePiece {
  double weight, mean, deviation;
};
using LineLaw = std::vector<LinePiece>;

struct MaskedNet {
  Matrix first, second;
  Vector bias;
  Matrix variances;  ///< of the second layer; empty: deterministic
  double rate = 0.1;

  [[nodiscard]] Network network() const;
  /// Of one output.
  [[nodiscard]] LineLaw law(const Vector& input) const;
};

class RandomMaskedNets {
 public:
  explicit RandomMaskedNets(unsigned seed) : random_(seed) {}
  MaskedNet draw(Index neurons, Index outputs, bool noisy);
  Matrix matrix(Index rows, Index cols);

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

/// By method moment.
Result certify_masked(const MaskedNet& net, const Vector& input, Index pieces);

/// Bounds from above and below of so many networks of up to `most` masks and one output, or a second one that
/// is zero, enclose the distances of their enumerated laws. How many had a lower bound above zero.
int expect_enclosed(unsigned seed, int rounds, Index most);

}  // namespace mixcert::testing

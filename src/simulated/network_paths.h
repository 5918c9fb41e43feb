// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Draws of the network's pre-activations, a block at a time, and beside each draw a number: how far the
// computed ones may be from the exact ones of the exact normals, docs/theory/simulation.md (F.7).
#pragma once

#include <cstdint>
#include <functional>

#include "mixcert/core/parallel.h"
#include "network/graph/affine_operator.h"
#include "simulated/box_muller.h"
#include "simulated/coupled_chain.h"
#include "simulated/draws.h"

namespace mixcert {

/// Which draws: blocks of the same seed, use and input are independent of each other.
struct DrawPlan {
  std::uint64_t seed = 0;
  DrawUse use = DrawUse::Main;
  std::uint64_t input = 0;
  Index draws = 0;
};

/// work(first draw, how many, bits of their own) for every block of draws: the same blocks, and so the same
/// numbers, whatever the number of threads.
void for_each_block(const DrawPlan& plan, int threads, const CancelFlag* cancel,
                    const std::function<void(Index, Index, RandomBits&)>& work);

/// Euclidean norms of the columns.
DrawRow column_norms(const Matrix& matrix);
Matrix standard_normals(RandomBits& bits, Index rows, Index draws);

/// More than underflow can hide in one step.
inline constexpr double kUnderflow = 1e-140;

/// No less than how far activations of computed pre-activations `z`, off by `error`, are from those of the
/// exact ones, of each draw by itself: draws stay independent.
DrawRow activation_error(const ActivationMap& activation, double slope, const Matrix& z,
                         const DrawRow& error);

class NetworkPaths {
 public:
  /// Hidden layer 1, from its normals.
  NetworkPaths(const CoupledChain& chain, Matrix normals);

  /// A column per draw.
  [[nodiscard]] const Matrix& values() const { return values_; }
  /// Euclidean distances.
  [[nodiscard]] const DrawRow& error() const { return error_; }

  struct Activations {
    Matrix values;      ///< a
    DrawRow error;      ///< of them
    Matrix deviations;  ///< S(a)^{1/2} of the next layer
  };
  [[nodiscard]] Activations activations(const CoupledStep& step) const;

  /// On to the layer behind `step`, the output's among them.
  void advance(const CoupledStep& step, const Matrix& normals);

 private:
  Matrix values_;
  DrawRow error_;
};

}  // namespace mixcert

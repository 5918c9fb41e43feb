// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How far the law of the output can move while the input moves in a small box, with the mean slopes that the
// first activation has there in place of its steepest ones (M.12).
#pragma once

#include <vector>

#include "mixcert/core/parallel.h"
#include "mixcert/core/rounding.h"
#include "mixcert/network/network.h"

namespace mixcert {

/// Belongs to the network whatever the input.
class LocalChange {
 public:
  /// Are the first hidden layer's pre-activations independent normals, and the next layer's outputs
  /// independent?
  static bool covers(const Network& network);

  /// `network` must be covered. Interrupted between two layers where the flag is set; it may be null.
  LocalChange(const Network& network, const CancelFlag* cancel);

  /// No less than W2 between the network's laws where the first layer's weights see `seen` and anywhere
  /// within half_widths of it, number by number.
  [[nodiscard]] UpperBound in_box(ConstVectorRef seen, ConstVectorRef half_widths) const;

 private:
  /// factor |e|_A for differences e of the first hidden layer's activations, A <= (1 + 1e-9) root'root +
  /// diag(rest); diag(metric) >= A.
  struct Behind {
    double factor = 1.0;
    Matrix root;
    Vector rest, diagonal, metric;
    // Guesses that any change leaves valid: where |root d| is large, and the best metric of the first layer's
    // columns for half-widths of one.
    Matrix leading;
    Vector columns;
  };
  struct Neurons;

  /// The half-widths are `widest` times `unit`.
  [[nodiscard]] Neurons neurons_in(ConstVectorRef seen, ConstVectorRef unit, double widest) const;
  [[nodiscard]] static double weighted_means(const Vector& weights, const Behind& behind,
                                             const Neurons& neurons);
  [[nodiscard]] static double change_behind(const Behind& behind, const Neurons& neurons);

  DenseLayer first_;
  ActivationMap activation_;
  std::vector<Behind> behind_;
};

}  // namespace mixcert

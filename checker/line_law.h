// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A law Y on the line that is near N(0,1), from its characteristic function: docs/theory/stein.md (Y.2).
#pragma once

#include <vector>

#include "ball_matrix.h"
#include "summand.h"

namespace mixcert_check {

/// log E e^{rY}, or log E e^{-rY}, is at most this.
struct TailMoment {
  Ball order, log;
};

/// P(Y > y) - P(Z > y) = value, for y >= 0, and its derivative in y with the other sign, at nodes `cell`
/// apart: numbers, between which cubics stand for them. The left side is the right one of -Y.
struct LineSide {
  std::vector<double> value, slope;
  std::vector<TailMoment> moments;
};

struct LineLaw {
  double cell = 0.0;
  LineSide upper, lower;
  Ball error;  ///< no less than |F_Y - Phi - cubic| on the whole grid
};

/// Y = sum_j summand_j + beta^{1/2} g, what is random in its neurons' weights included; `noise` is about its
/// part of the variance. Throws BadFile where there is too little noise.
class SumOfNeurons {
 public:
  SumOfNeurons(const Activation& f, std::vector<SummandSizes> neurons, Ball bias_variance, double noise);
  [[nodiscard]] LineLaw law() const;

 private:
  void find_frequencies(double noise);
  void compute_moments();
  void compute_transform();
  [[nodiscard]] Ball left_out(const Ball& highest) const;
  [[nodiscard]] Ball other_periods() const;
  void fill(long cells, LineLaw& law) const;

  const Activation& f_;
  std::vector<SummandSizes> sizes_;
  std::vector<Summand> summands_;
  Ball bias_variance_;
  double range_ = 6.5;
  long period_ = 0;                           ///< P
  long count_ = 0;                            ///< K
  Balls real_, imaginary_;                    ///< u_k, v_k
  Balls real_by_order_, imaginary_by_order_;  ///< u_k/k, v_k/k
  std::vector<TailMoment> plus_, minus_;
};

}  // namespace mixcert_check

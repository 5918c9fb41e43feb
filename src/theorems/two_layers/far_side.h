// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The side of zero on which a neuron of the second hidden layer rarely is, docs/theory/two_layers.md (Y.26),
// and how its smoothed slope's slope varies (Y.22).
#pragma once

#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

/// Activations a_j = f(m_j + s_j x_j) of the first hidden layer, f piecewise linear.
class SideMoments {
 public:
  SideMoments(const ActivationMap& f, const Gaussian& piece);

  /// Are all activations piecewise linear? Nothing else may be asked if not.
  [[nodiscard]] bool exist() const { return exist_; }

  /// A neuron z = bias + sum_j means_j a_j + (least + sum_j variances_j a_j^2)^{1/2} g.
  struct Neuron {
    double bias, least;
    Eigen::Ref<const Vector> means, variances;
  };
  /// No less than E ((side z)_+)^2, by e^{rate side z}; side is 1 or -1, rate > 0. Infinity where that has no
  /// mean.
  [[nodiscard]] double square(const Neuron& neuron, double side, double rate) const;

 private:
  struct Branches {
    double mean, deviation;
    double left, right;    ///< slopes
    double left_constant;  ///< P(z < 0) where the left slope is zero, else -1
  };
  bool exist_ = true;
  std::vector<Branches> neurons_;
};

/// No less than E (phi((m + t h)/s) - center)^4, h standard normal.
double smoothed_density_fourth(double m, double t, double s, double center);

}  // namespace mixcert

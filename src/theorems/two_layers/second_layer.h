// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What the second hidden layer makes of the first one's error, docs/theory/two_layers.md (Y.21) - (Y.29).
#pragma once

#include <functional>
#include <vector>

#include "methods/moment/moment_error.h"
#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"
#include "mixcert/mixture/gaussian_mixture.h"

namespace mixcert {

// One neuron of the second hidden layer, docs/theory/two_layers.md (Y.21) - (Y.23), (Y.26): how far its
// activation is from that of the surrogate network, to first order and beyond.

/// z = m + S^{1/2} g against z' = m' + noise^{1/2} g given the first layer's inputs x. With h = m' - E m',
/// delta = m - m', u = S/noise - 1, all centred; every number but `mean`, `noise` and `least` is no less
/// than what it stands for.
struct NeuronSpread {
  double mean = 0.0;      ///< E m'
  double noise = 0.0;     ///< E S, positive
  double least = 0.0;     ///< no more than S
  bool convex = false;    ///< is S^{1/2} a convex function of x? (Y.27)
  double signal = 0.0;    ///< E h^2
  double delta2 = 0.0;    ///< E delta^2
  double delta_sd = 0.0;  ///< |Cov(psi(h), delta^2)| over the deviation of psi(h), for every psi (Y.29)
  double delta4 = 0.0;    ///< E delta^4
  double u2 = 0.0;        ///< E u^2
  double u3 = 0.0;        ///< |E u^3|
  double u4 = 0.0;        ///< E u^4
  double h_delta = 0.0;   ///< L2 norm of h delta
  double h_u = 0.0;       ///< of h u
  double delta_u = 0.0;   ///< of delta u
};

/// No less than E p^2, p what z has on the side of zero that its mean is not on (Y.26), by e^{rate |p|}.
using FarSide = std::function<double(double rate)>;

/// With D = s(z) - s(z'):
struct NeuronCarry {
  double slope = 0.0;        ///< alpha
  double noise_slope = 0.0;  ///< gamma
  double rest = 0.0;         ///< no less than |E[D | x] - alpha delta - gamma noise u|_2
  double own = 0.0;          ///< no less than E (D - alpha delta)^2
  double whole = 0.0;        ///< no less than E D^2
};

/// `mean` and `noise` may be off by this much of the deviation and of themselves.
inline constexpr double kSpreadAccuracy = 1e-7;

/// `far_side` is asked where it seems to gain something; null: it is not known.
NeuronCarry carry_neuron(const Activation& f, const NeuronSpread& spread, const FarSide& far_side = nullptr);

// The side of zero on which a neuron of the second hidden layer rarely is, docs/theory/two_layers.md (Y.26),
// and how its smoothed slope's slope varies (Y.22).

/// Activations a_j = f(m_j + s_j x_j) of the first hidden layer, f piecewise linear.
class FarSides {
 public:
  FarSides(const ActivationMap& f, const Gaussian& piece);

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

// What the neurons of the second hidden layer add up to at the output: the first layer's error alone (Y.20),
// and together with the second one's (Y.28).

/// The parts of (Y.20): its right side is the sum of the squares.
struct CarriedParts {
  double mean = 0.0;   ///< of the conditional means
  Vector around;       ///< |T_l|^2 E (D_l - alpha_l delta_l)^2, one entry per neuron
  double whole = 0.0;  ///< root of sum_l w_l E D_l^2

  /// `d` and `q`: no less than the norms of d_j and q_j.
  CarriedParts(const DenseLayer& layer, const DenseLayer& next, const Vector& d, const Vector& q,
               const std::vector<NeuronCarry>& neurons);
  [[nodiscard]] double distance() const;
};

struct JoinedDistance {
  double distance = 0.0;
  double slack = 0.0;  ///< of the second layer's inputs, which are not quite those of (Y.20)
};

/// (Y.28): of both layers. `second` is the second layer's error with its surrogate `law`, `lipschitz` a
/// constant of its activation.
JoinedDistance joined_distance(const CarriedParts& first, const std::vector<NeuronSpread>& spreads,
                               const DenseLayer& layer, const DenseLayer& next, const SurrogateLaw& law,
                               const PieceError& second, const NormTerm& output, double lipschitz);

// How strongly the square of a sum of small errors can go with a function of the signal,
// docs/theory/two_layers.md (Y.29): both have many neurons in common, each of which has little of either.

/// Per neuron of the first layer: gain of x_j in the signal, and of its error d_j no less than |E d x|, the
/// norm of what it has of Hermite rank two or more, and the deviation of d^2.
struct NeuronErrors {
  Vector gain, linear, bent, square_sd;
};

/// Theta for every row of m: with h = sum_j m_j gain_j x_j, delta = sum_j m_j d_j and `signal` = Var h,
/// |Cov(psi(h), delta^2)| <= Theta sd(psi(h)) for every function psi. Infinite where one neuron makes half of
/// h.
Vector square_couplings(const Matrix& m, const NeuronErrors& first, const Vector& signal);

}  // namespace mixcert

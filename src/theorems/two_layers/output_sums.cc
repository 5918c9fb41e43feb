// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums over the second hidden layer's neurons, docs/theory/two_layers.md (Y.20), (Y.28). Sums of nonnegative
// numbers are enlarged (R.10); products with signs get their rounding.
#include <algorithm>
#include <cmath>
#include <variant>

#include "mixcert/core/rounding.h"
#include "theorems/two_layers/second_layer.h"

namespace mixcert {

namespace {

/// N = T G, columns scaled by s: how far sums of independent variables of sizes s, given to the second layer
/// by G and to the output by T, reach.
class LinearImages {
 public:
  LinearImages(const Matrix& out, const Matrix& given, const Vector& sizes, double rounding)
      : out_(out),
        image_((out * given) * sizes.asDiagonal()),
        // Columns of |T| |G| are no longer than sums of |T_l| |G_lj|.
        error_(rounding *
               (given.cwiseAbs().transpose() * out.colwise().norm().transpose()).cwiseProduct(sizes)) {}

  /// Of the columns, no less than exact.
  [[nodiscard]] Vector norms() const { return image_.colwise().norm().transpose() + error_; }
  /// Entry (l, j): no less than |T_l . N_j|.
  [[nodiscard]] Matrix along() const {
    const Vector lengths = out_.colwise().norm().transpose();
    // The second product's own rounding is relative to sums of sizes, of which error_ is a fraction already.
    return (out_.transpose() * image_).cwiseAbs() + 2.0 * lengths * error_.transpose();
  }

 private:
  const Matrix& out_;
  Matrix image_;
  Vector error_;  ///< of the columns' lengths
};

/// What (Y.28) uses of one neuron of the second layer: a - b = p x + q H_2(x) + rest.
struct NeuronOrders {
  double p2, q2, t2;

  /// What is left of the mean square where powers of `factor` are taken off.
  [[nodiscard]] double without(double factor, double third) const {
    return p2 * (1.0 - factor) + q2 * (1.0 - factor * factor) + t2 * (1.0 - third);
  }
};

/// Means and noise of the second layer's inputs are those of (Y.20) but for an eighth of so much of their
/// deviations: a - b moves twice, by a and by b, and is counted once, as (Y.28) explains.
constexpr double kInputAccuracy = 1e-6;

}  // namespace

CarriedParts::CarriedParts(const DenseLayer& layer, const DenseLayer& next, const Vector& d, const Vector& q,
                           const std::vector<NeuronCarry>& neurons) {
  const Index n = next.inputs();
  Vector slope(n), noise_slope(n), rest(n), own(n), all(n);
  for (Index l = 0; l < n; ++l) {
    const NeuronCarry& k = neurons[static_cast<std::size_t>(l)];
    slope(l) = k.slope;
    noise_slope(l) = k.noise_slope;
    rest(l) = k.rest;
    own(l) = k.own;
    all(l) = k.whole;
  }
  const Matrix& out = next.weight_mean();
  const double rounding = rounding_gamma(2 * n + next.outputs() + 16);
  const LinearImages images(out, slope.asDiagonal() * layer.weight_mean(), d, rounding);
  const LinearImages noise_images(out, noise_slope.asDiagonal() * layer.weight_variances(), q, rounding);
  const double linear = (images.norms() + noise_images.norms()).norm();
  const Vector column_norms = out.colwise().norm();
  const Matrix gram = (out.transpose() * out).cwiseAbs();
  const double spread = column_norms.dot(rest);
  const double bent = std::sqrt(positive_part(rest.dot(gram * rest)) + 4.0 * rounding * spread * spread);
  // What is bent in neuron l meets what is linear in the direction of column l alone.
  const Vector along = (images.along() + noise_images.along()).rowwise().norm();
  const double product = std::min(linear * bent, rest.dot(along));
  mean = enlarged(std::sqrt(linear * linear + bent * bent + 2.0 * product));
  around = enlarged(column_norms.cwiseAbs2().cwiseProduct(own));
  whole = enlarged(std::sqrt(next.weight_variances().colwise().sum().transpose().dot(all)));
}

double CarriedParts::distance() const {
  return enlarged(std::sqrt(mean * mean + around.sum() + whole * whole));
}

JoinedDistance joined_distance(const CarriedParts& first, const std::vector<NeuronSpread>& spreads,
                               const DenseLayer& layer, const DenseLayer& next, const SurrogateLaw& law,
                               const PieceError& second, const NormTerm& output, double lipschitz) {
  const Matrix& out = next.weight_mean();
  const Matrix variances = next.weight_variances();
  double own = 0.0, unseen = 0.0, shift = 0.0, noise_shift = 0.0, sizes = 0.0, noise_sizes = 0.0;
  for (Index l = 0; l < next.inputs(); ++l) {
    const NeuronSpread& spread = spreads[static_cast<std::size_t>(l)];
    const double full = spread.signal + spread.noise, share = spread.signal / full;
    const double column = out.col(l).norm();
    const double move = kInputAccuracy * lipschitz * std::sqrt(full);
    const NeuronOrders orders{law.linear(l) * law.linear(l), law.quadratic(l) * law.quadratic(l),
                              law.rest(l) * law.rest(l)};
    const double most = std::min(1.0, share * (1.0 + 1e-6)), least = share * (1.0 - 1e-6);
    unseen += column * column * orders.without(most, most * most * most);
    own += std::sqrt(first.around(l)) *
           (enlarged(column * std::sqrt(orders.without(least, 0.0))) + column * move);
    shift += column * move;
    noise_shift += std::sqrt(variances.col(l).sum()) * move;
    sizes += column * column * full;
    noise_sizes += variances.col(l).sum() * full;
  }
  // Rounded covariances move all neurons together by so much of their deviations.
  const double rounding = lipschitz * covariance_rounding(layer);
  own += std::sqrt(first.around.sum() * sizes) * rounding;
  shift += std::sqrt(sizes) * rounding;
  noise_shift += std::sqrt(noise_sizes) * rounding;
  const double square = second.signal_square(output).upper;
  const double seen = std::sqrt(positive_part(square - reduced(unseen))) + shift;
  const double signal = std::sqrt(square) + shift;
  const double noise = std::sqrt(second.noise().sum()) + noise_shift;
  const double alone = first.distance();
  const double sum =
      alone * alone + signal * signal + noise * noise + 2.0 * (first.mean * seen + own + first.whole * noise);
  return {enlarged(std::sqrt(sum)), 2.0 * (shift + noise_shift)};
}

// Theta = sum_j m_j^2 rho_j sd(d_j^2) + 2^{1/2} D^2 + 2 3^{1/2} D Y + (6 K)^{1/2} Y^2, (Y.29). Constants are
// rounded up.

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

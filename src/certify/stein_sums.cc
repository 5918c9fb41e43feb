// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.13): means are summed with their signs, fluctuations by the exact covariances of a
// neuron's kernels.
#include "certify/stein_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace mixcert {
namespace {

double magnitude_of(const Enclosed& x) { return std::abs(x.value) + x.error; }

/// The packed entries a <= c of a symmetric matrix, those off the diagonal times `off`.
Vector packed(const Matrix& x, double off) {
  Vector entries(x.rows() * (x.rows() + 1) / 2);
  Index at = 0;
  for (Index c = 0; c < x.rows(); ++c) {
    for (Index a = 0; a < c; ++a) entries(at++) = off * x(a, c);
    entries(at++) = x(c, c);
  }
  return entries;
}

/// No less than the covariances of kernels whose chords have second moments `g` and whose remainders have L2
/// norms `rest`: (x + y)(x + y)' <= (1 + e) xx' + (1 + 1/e) yy' for every e > 0, and E yy' <= n diag(rest^2).
template <class Square>
Square with_remainders(const Square& g, const double* rest, const double* norms) {
  constexpr int n = Square::RowsAtCompileTime;
  double missed = 0.0, known = 0.0;
  for (int p = 0; p < n; ++p) {
    missed += rest[p] * norms[p];
    known += std::sqrt(std::max(0.0, g(p, p))) * norms[p];
  }
  if (!(missed > 0.0)) return g;
  const double e = std::clamp(std::sqrt(1.0 * n) * missed / std::max(known, 1e-300), 1e-6, 1e6);
  Square sum = (1.0 + e) * g;
  for (int p = 0; p < n; ++p) sum(p, p) += (1.0 + 1.0 / e) * n * rest[p] * rest[p];
  return sum * kSafety;
}

}  // namespace

SteinSums::SteinSums(const DenseLayer& layer, Matrix root)
    : weights_(layer.weight_mean()), root_(std::move(root)), outputs_(layer.outputs()), size_(root_.norm()) {
  const auto* law = std::get_if<MeanFieldWeights>(&layer.weights());
  variances_ = law != nullptr ? law->variance : Matrix::Zero(outputs_, layer.inputs());
  const Index pairs = outputs_ * (outputs_ + 1) / 2, neurons = layer.inputs();
  sums_.second.mean = sums_.second.fluctuation = sums_.second_shared = Matrix::Zero(outputs_, pairs);
  sums_.third.mean = sums_.second.mean;
  straight_ = flat_ = across_ = Matrix::Zero(pairs, neurons);
  images_ = turns_ = spread_ = Matrix::Zero(outputs_, neurons);
  along_ = Matrix::Zero(outputs_ * outputs_, neurons);
}

void SteinSums::add(Index neuron, const NeuronKernels& k, double share) {
  Column c;
  c.m = weights_.col(neuron);
  c.v = variances_.col(neuron);
  c.image = root_ * c.m;
  c.scaled = root_ * c.v.asDiagonal();
  c.noise = c.scaled * root_.transpose();
  c.weighed = c.scaled * c.scaled.transpose();
  c.mixed = c.scaled * c.m;
  c.length = c.m.squaredNorm();
  add_means(neuron, c, k);
  add_second(c, k, share);
  add_third(neuron, c, k);
  add_first(c, k);
  add_rounding(c, k);
}

/// E A = M (x) straight + (turn V) (x) image, E B = along (x) flat.
void SteinSums::add_means(Index neuron, const Column& c, const NeuronKernels& k) {
  straight_.col(neuron) =
      packed(k.tau_value.mean.value * c.noise + k.kernel.mean.value * c.image * c.image.transpose(), 1.0);
  flat_.col(neuron) = packed(c.noise, 1.0);
  images_.col(neuron) = c.image;
  turns_.col(neuron) = k.square.mean.value * c.v;
  for (Index i = 0; i < outputs_; ++i) {
    along_.col(neuron).segment(i * outputs_, outputs_) =
        (k.kernel_value.mean.value * c.m(i)) * c.image + k.square_value.mean.value * c.scaled.col(i);
  }
}

/// Slices of sum_j E A_j in the first slot, symmetric.
std::vector<Matrix> SteinSums::second_means() const {
  const Matrix straight = weights_ * straight_.transpose();
  const Matrix turned = turns_ * images_.transpose();
  std::vector<Matrix> slices;
  for (Index i = 0; i < outputs_; ++i) {
    const Matrix mixed = root_.col(i) * turned.row(i);
    Matrix slice = 0.5 * (mixed + mixed.transpose());
    for (Index c = 0; c < outputs_; ++c) {
      for (Index a = 0; a < outputs_; ++a) slice(a, c) += straight(i, packed_place(a, c));
    }
    slices.push_back(std::move(slice));
  }
  return slices;
}

/// 6 |Sym|^2 of the slices of sum_j E B_j.
void SteinSums::square_third_means(Matrix& squares) const {
  const Index n = outputs_;
  const Matrix sums = along_ * flat_.transpose();
  for (Index i = 0; i < n; ++i) {
    const auto t = sums.middleRows(i * n, n);
    for (Index c = 0; c < n; ++c) {
      for (Index b = 0; b <= c; ++b) {
        for (Index a = 0; a < n; ++a) {
          const double mean =
              (t(a, packed_place(b, c)) + t(b, packed_place(a, c)) + t(c, packed_place(a, b))) / 3.0;
          squares(a, packed_place(b, c)) += (b == c ? 6.0 : 12.0) * mean * mean;
        }
      }
    }
  }
}

/// 2 sum_i E X_i X_i', X = k_1 M(x)V + k_2 M(x)M(x)M + k_3 V(x)M symmetric in the last two slots: row b of
/// the coefficients is 2 sum_i E X_i,ba X_i,bc.
void SteinSums::add_second(const Column& c, const NeuronKernels& k, double share) {
  const Vector& q = c.image;
  const double noise = c.noise.norm(), image = q.squaredNorm(), length = std::sqrt(c.length);
  const double norms[] = {length * noise, length * image, c.scaled.norm() * std::sqrt(image)};
  const Eigen::Matrix3d g = with_remainders(k.squares.second, &k.squares.rest[kTauValue], norms);
  for (Index b = 0; b < outputs_; ++b) {
    const Vector v = c.noise.col(b);
    const Vector z = c.mixed(b) * q + q(b) * c.mixed;
    const Vector e = (c.length * g(0, 1) * q(b)) * q + (0.5 * g(0, 2)) * z + (0.5 * c.length * g(0, 0)) * v;
    const Vector f = (0.5 * c.length * g(1, 1) * q(b) * q(b) + 0.125 * g(2, 2) * c.weighed(b, b)) * q +
                     (0.25 * g(2, 2) * q(b)) * c.weighed.col(b) + (0.5 * g(1, 2) * q(b)) * z;
    const double w = 0.25 * g(2, 2) * q(b) * q(b);
    Index at = 0;
    for (Index j = 0; j < outputs_; ++j) {
      for (Index i = 0; i <= j; ++i, ++at) {
        const double entry = v(i) * e(j) + v(j) * e(i) + q(i) * f(j) + q(j) * f(i) + w * c.weighed(i, j);
        const double term = (i == j ? 2.0 : 4.0) * entry;
        sums_.second.fluctuation(b, at) += term;
        sums_.second_shared(b, at) += share * term;
      }
    }
  }
  const KernelLaw* laws[] = {&k.tau_value, &k.kernel, &k.square};
  for (int p = 0; p < 3; ++p) sums_.second.error += laws[p]->mean.error * norms[p];
}

/// a Dt M(x)M(x)V + a Dq V(x)V; 6 |Sym B|^2 is at most six times the squared norm.
void SteinSums::add_third(Index neuron, const Column& c, const NeuronKernels& k) {
  const double noise = c.noise.norm();
  const double norms[] = {std::sqrt(c.length) * c.image.norm() * noise, c.scaled.norm() * noise};
  const Eigen::Matrix2d g = with_remainders(k.squares.third, &k.squares.rest[kKernelValue], norms);
  const Vector along = 6.0 * (c.length * g(0, 0) * c.image.cwiseAbs2() +
                              2.0 * g(0, 1) * c.image.cwiseProduct(c.mixed) + g(1, 1) * c.weighed.diagonal());
  spread_.col(neuron) = along.cwiseMax(0.0);
  across_.col(neuron) = packed(c.noise.cwiseAbs2(), 2.0);
  sums_.third.error += k.kernel_value.mean.error * norms[0] + k.square_value.mean.error * norms[1];
}

/// (T - C) Q^{1/2}, Q = root' root.
void SteinSums::add_first(const Column& c, const NeuronKernels& k) {
  const double turned = c.image.squaredNorm(), scaled = c.scaled.squaredNorm();
  const double cross = c.mixed.dot(c.image);
  const Enclosed& half = k.kernel_value.mean;  // Cov(tau, a^2)/2
  const double covariance = half.value * cross + half.error * std::abs(cross);
  first_ += c.length * turned * k.tau.deviation * k.tau.deviation +
            2.0 * magnitude_of(k.square_value.mean) * scaled + 4.0 * covariance +
            c.length * c.noise.trace() * k.tau_square;
}

/// Majorants of everything that is added, for its rounding.
void SteinSums::add_rounding(const Column& c, const NeuronKernels& k) {
  const double root = std::sqrt(static_cast<double>(outputs_)), length = std::sqrt(c.length);
  const double noise = c.v.maxCoeff();
  const double m = length * size_, v = noise * size_ * size_, axis = noise * size_ * root;
  const auto size = [](const KernelLaw& law) { return magnitude_of(law.mean) + law.deviation; };
  sums_.second.size +=
      2.0 * (length * (v * size(k.tau_value) + m * m * size(k.kernel)) + axis * m * size(k.square));
  sums_.third.size += 3.0 * (length * m * size(k.kernel_value) + axis * size(k.square_value)) * v;
  const double each = length * m * k.tau.deviation +
                      axis * std::sqrt(2.0 * magnitude_of(k.square_value.mean)) +
                      length * std::sqrt(root * root * v * k.tau_square);
  first_size_ += each * each;
}

SteinNorms SteinSums::norms() const {
  SteinNorms norms = sums_;
  norms.gamma = rounding_gamma(256 * (weights_.cols() + outputs_ * outputs_ * outputs_ + 64));
  norms.first = std::sqrt(std::max(0.0, first_) + norms.gamma * first_size_) * kSafety;
  for (const Matrix& slice : second_means()) {
    for (Index a = 0; a < outputs_; ++a) {
      norms.second.mean.row(a) += 2.0 * packed(slice.col(a) * slice.row(a), 2.0).transpose();
    }
  }
  square_third_means(norms.third.mean);
  norms.third.fluctuation = spread_ * across_.transpose();
  norms.second.error = 1.5 * (norms.second.error + norms.gamma * norms.second.size);
  norms.third.error = 2.5 * (norms.third.error + norms.gamma * norms.third.size);
  return norms;
}

}  // namespace mixcert

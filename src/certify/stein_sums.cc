// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.13). The fluctuation of a neuron is a sum of two or three tensors with random
// coefficients; (x_1 + .. + x_n)^2 <= sum x_p^2 / lambda_p with lambda_p in proportion to the x_p at omega =
// 1, so nothing is lost there.
#include "certify/stein_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace mixcert {
namespace {

double magnitude_of(const Enclosed& x) { return std::abs(x.value) + x.error; }

/// Entries b <= c of a symmetric matrix, those off the diagonal times `off`.
Vector upper_entries(const Matrix& x, double off) {
  const Index n = x.rows();
  Vector entries(n * (n + 1) / 2);
  Index at = 0;
  for (Index c = 0; c < n; ++c) {
    for (Index b = 0; b < c; ++b) entries(at++) = off * x(b, c);
    entries(at++) = x(c, c);
  }
  return entries;
}

/// Where entry (b, c) is among them.
Index place_of(Index b, Index c) { return b <= c ? c * (c + 1) / 2 + b : b * (b + 1) / 2 + c; }

/// 1 / lambda of a part, given the sum of all parts.
double inverse_share(double part, double sum) { return part > 0.0 ? sum / part : 0.0; }

}  // namespace

SteinSums::SteinSums(const DenseLayer& layer, Matrix root)
    : weights_(layer.weight_mean()),
      root_(std::move(root)),
      outputs_(layer.outputs()),
      size_(root_.norm()),
      second_(static_cast<std::size_t>(outputs_), Matrix::Zero(outputs_, outputs_)),
      third_(static_cast<std::size_t>(outputs_), Matrix::Zero(outputs_, outputs_ * (outputs_ + 1) / 2)) {
  const auto* law = std::get_if<MeanFieldWeights>(&layer.weights());
  variances_ = law != nullptr ? law->variance : Matrix::Zero(outputs_, layer.inputs());
  sums_.second.fluctuation = Matrix::Zero(outputs_, outputs_);
  sums_.third.fluctuation = Matrix::Zero(outputs_, outputs_ * (outputs_ + 1) / 2);
}

void SteinSums::add(Index neuron, const NeuronKernels& k) {
  const Vector m = weights_.col(neuron);
  const Vector v = variances_.col(neuron);
  const Vector image = root_ * m;                    // M in the new coordinates
  scaled_ = root_ * v.asDiagonal();                  // V_i e_i
  const Matrix noise = scaled_ * root_.transpose();  // V
  add_means(m, v, image, noise, k);
  add_second(k, image, noise, m.norm());
  add_third(k, image, noise, m.norm());
  add_first(k, m, v, image, noise);
  add_rounding(m.norm(), v.maxCoeff(), k);
}

/// sum_j E A_j and sum_j E B_j: slice i is that of the first slot.
void SteinSums::add_means(const Vector& m, const Vector& v, const Vector& image, const Matrix& noise,
                          const NeuronKernels& k) {
  const Matrix straight = k.tau_value.mean.value * noise + k.kernel.mean.value * image * image.transpose();
  const Vector flat = upper_entries(noise, 1.0);
  for (Index i = 0; i < outputs_; ++i) {
    const auto slice = static_cast<std::size_t>(i);
    second_[slice] += m(i) * straight;
    Vector along = k.kernel_value.mean.value * m(i) * image;
    if (v(i) > 0.0) {
      second_[slice] += (k.square.mean.value * scaled_.col(i)) * image.transpose();
      along += k.square_value.mean.value * scaled_.col(i);
    }
    third_[slice].noalias() += along * flat.transpose();
  }
}

/// tau a M(x)V + Dt M(x)M(x)M + Dq V(x)M, symmetric in the last two slots; 2 tr(AQAQ) is twice the squared
/// norm.
void SteinSums::add_second(const NeuronKernels& k, const Vector& image, const Matrix& noise, double length) {
  const Vector squares = image.cwiseAbs2();
  const Matrix weighed = scaled_ * scaled_.transpose();  // sum_i V_i^2 e_i e_i'
  const Vector rows = weighed.diagonal();
  const Matrix part1 = length * length * noise.cwiseAbs2();
  const Matrix part2 = length * length * squares * squares.transpose();
  // |(u m' + m u')/2|^2 summed over the u = V_i e_i; entries ab and ba alike.
  const Matrix mixed = weighed.cwiseProduct(image * image.transpose());
  const Matrix part3 = 0.25 * (rows * squares.transpose() + squares * rows.transpose() + 2.0 * mixed);
  const double norms[] = {std::sqrt(part1.sum()), std::sqrt(part2.sum()),
                          std::sqrt(std::max(0.0, part3.sum()))};
  const KernelLaw* laws[] = {&k.tau_value, &k.kernel, &k.square};
  const Matrix* parts[] = {&part1, &part2, &part3};
  double sum = 0.0, fourth = 0.0;
  for (int p = 0; p < 3; ++p) {
    sum += laws[p]->deviation * norms[p];
    fourth += laws[p]->fourth * norms[p];
    sums_.second.error += laws[p]->mean.error * norms[p];
  }
  for (int p = 0; p < 3; ++p) {
    const double share = inverse_share(laws[p]->deviation * norms[p], sum);
    sums_.second.fluctuation += (2.0 * laws[p]->deviation * laws[p]->deviation * share) * *parts[p];
  }
  sums_.second.fourth += 4.0 * std::pow(fourth, 4);
}

/// a Dt M(x)M(x)V + a Dq V(x)V; 6 |Sym B|^2 is at most six times the squared norm.
void SteinSums::add_third(const NeuronKernels& k, const Vector& image, const Matrix& noise, double length) {
  const Vector along1 = length * length * image.cwiseAbs2();
  const Vector along2 = scaled_.rowwise().squaredNorm();
  const Matrix across = noise.cwiseAbs2();
  const Vector flat = upper_entries(across, 2.0);
  const double norm = std::sqrt(across.sum());
  const double norm1 = std::sqrt(along1.sum()) * norm, norm2 = std::sqrt(along2.sum()) * norm;
  const double x1 = k.kernel_value.deviation * norm1, x2 = k.square_value.deviation * norm2;
  const Vector along =
      (6.0 * k.kernel_value.deviation * k.kernel_value.deviation * inverse_share(x1, x1 + x2)) * along1 +
      (6.0 * k.square_value.deviation * k.square_value.deviation * inverse_share(x2, x1 + x2)) * along2;
  sums_.third.fluctuation.noalias() += along * flat.transpose();
  sums_.third.error += k.kernel_value.mean.error * norm1 + k.square_value.mean.error * norm2;
  sums_.third.fourth += 36.0 * std::pow(k.kernel_value.fourth * norm1 + k.square_value.fourth * norm2, 4);
}

/// (T - C) Q^{1/2}, Q = root' root.
void SteinSums::add_first(const NeuronKernels& k, const Vector& m, const Vector& v, const Vector& image,
                          const Matrix& noise) {
  const double length = m.squaredNorm(), turned = image.squaredNorm(), scaled = scaled_.squaredNorm();
  const double cross = m.cwiseProduct(v).dot(root_.transpose() * image);
  const Enclosed& half = k.kernel_value.mean;  // Cov(tau, a^2)/2
  const double covariance = half.value * cross + half.error * std::abs(cross);
  first_ += length * turned * k.tau.deviation * k.tau.deviation +
            2.0 * magnitude_of(k.square_value.mean) * scaled + 4.0 * covariance +
            length * noise.trace() * k.tau_square;
}

/// Majorants of everything that is added, for its rounding.
void SteinSums::add_rounding(double length, double noise, const NeuronKernels& k) {
  const double root = std::sqrt(static_cast<double>(outputs_));
  const double m = length * size_, v = noise * size_ * size_, axis = noise * size_ * root;
  const auto size = [](const KernelLaw& law) { return magnitude_of(law.mean) + law.deviation; };
  second_size_ += length * (v * size(k.tau_value) + m * m * size(k.kernel)) + axis * m * size(k.square);
  third_size_ += (length * m * size(k.kernel_value) + axis * size(k.square_value)) * v;
  const double each = length * m * k.tau.deviation +
                      axis * std::sqrt(2.0 * magnitude_of(k.square_value.mean)) +
                      length * std::sqrt(root * root * v * k.tau_square);
  first_size_ += each * each;
}

SteinNorms SteinSums::norms() const {
  SteinNorms norms = sums_;
  const Index n = outputs_;
  const double gamma = rounding_gamma(64 * (weights_.cols() + n * n + 64));
  norms.first = std::sqrt(std::max(0.0, first_) + gamma * first_size_) * kSafety;
  norms.second.mean = Matrix::Zero(n, n);
  norms.third.mean = Matrix::Zero(n, n * (n + 1) / 2);
  for (std::size_t i = 0; i < second_.size(); ++i) {
    norms.second.mean += 2.0 * (0.5 * (second_[i] + second_[i].transpose())).cwiseAbs2();
    const Matrix& t = third_[i];
    for (Index a = 0; a < n; ++a) {
      for (Index c = 0; c < n; ++c) {
        for (Index b = 0; b <= c; ++b) {
          const double mean = (t(a, place_of(b, c)) + t(b, place_of(a, c)) + t(c, place_of(a, b))) / 3.0;
          norms.third.mean(a, place_of(b, c)) += (b == c ? 6.0 : 12.0) * mean * mean;
        }
      }
    }
  }
  norms.second.error = 1.5 * (norms.second.error + gamma * second_size_);
  norms.third.error = 2.5 * (norms.third.error + gamma * third_size_);
  norms.second.fluctuation.array() += gamma * second_size_ * second_size_;
  norms.third.fluctuation.array() += gamma * third_size_ * third_size_;
  return norms;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// docs/theory/stein.md (Y.13): means are summed with their signs, fluctuations by the exact covariances of a
// neuron's kernels.
#include <algorithm>
#include <cmath>

#include "core/column_product.h"
#include "theorems/stein/stein_distance.h"

namespace mixcert {
namespace {

double magnitude_of(const Enclosed& x) { return std::abs(x.value) + x.error; }

/// No less than the covariances of kernels whose chords have second moments `g` and whose remainders have L2
/// norms `rest`: (x + y)(x + y)' <= (1 + e) xx' + (1 + 1/e) yy' for every e > 0, and E yy' <= n diag(rest^2).
template <class Square>
Square with_remainders(const Square& g, const double* rest, const double* norms) {
  constexpr int n = Square::RowsAtCompileTime;
  double missed = 0.0, known = 0.0;
  for (int p = 0; p < n; ++p) {
    missed += rest[p] * norms[p];
    known += std::sqrt(positive_part(g(p, p))) * norms[p];
  }
  if (missed <= 0.0) return g;
  const double e = std::clamp(std::sqrt(1.0 * n) * missed / std::max(known, 1e-300), 1e-6, 1e6);
  Square sum = (1.0 + e) * g;
  for (int p = 0; p < n; ++p) sum(p, p) += (1.0 + 1.0 / e) * n * rest[p] * rest[p];
  return enlarged(sum);
}

class SteinSums {
 public:
  SteinSums(const SteinColumns& columns, const std::vector<NeuronKernels>& kernels)
      : c_(columns), kernels_(kernels), n_(columns.outputs()) {}

  SteinNorms norms(const Vector& shares) {
    norms_.gamma = rounding_gamma(256 * (c_.neurons() + n_ * n_ * n_ + 64));
    add_second(shares);
    add_third();
    add_first();
    add_rounding();
    square_second_means();
    square_third_means();
    norms_.second.error = 1.5 * (norms_.second.error + norms_.gamma * norms_.second.size);
    norms_.third.error = 2.5 * (norms_.third.error + norms_.gamma * norms_.third.size);
    return norms_;
  }

 private:
  [[nodiscard]] const NeuronKernels& kernels(Index j) const { return kernels_[static_cast<std::size_t>(j)]; }

  /// The values of one mean of all neurons.
  [[nodiscard]] Eigen::RowVectorXd means(KernelLaw NeuronKernels::*law) const {
    Eigen::RowVectorXd values(c_.neurons());
    for (Index j = 0; j < values.size(); ++j) values(j) = (kernels(j).*law).mean.value;
    return values;
  }

  /// tau a M(x)V + Dt M(x)M(x)M + Dq V(x)M.
  void add_second(const Vector& shares) {
    SecondWeights weights{Matrix(c_.neurons(), SecondWeights::kPairs)};
    for (Index j = 0; j < c_.neurons(); ++j) {
      const NeuronKernels& k = kernels(j);
      const double length = std::sqrt(c_.lengths(j));
      const double norms[] = {length * c_.noise(j), length * c_.turned(j),
                              std::sqrt(c_.scaled(j) * c_.turned(j))};
      const Eigen::Matrix3d g = with_remainders(k.squares.second, &k.squares.rest[kTauValue], norms);
      weights.pairs.row(j) << g(0, 0), g(0, 1), g(0, 2), g(1, 1), g(1, 2), g(2, 2);
      norms_.second.error +=
          k.tau_value.mean.error * norms[0] + k.kernel.mean.error * norms[1] + k.square.mean.error * norms[2];
    }
    SecondFluctuation fluctuation = second_fluctuation(c_, weights, shares);
    norms_.second.fluctuation = std::move(fluctuation.plain);
    norms_.second_shared = std::move(fluctuation.shared);
  }

  /// a Dt M(x)M(x)V + a Dq V(x)V; 6 |Sym B|^2 is at most six times the squared norm.
  void add_third() {
    Matrix along(n_, c_.neurons());
    const Matrix weighed = c_.root.cwiseAbs2() * c_.variances.cwiseAbs2();  // diagonals of R V^2 R'
    for (Index j = 0; j < c_.neurons(); ++j) {
      const NeuronKernels& k = kernels(j);
      const double norms[] = {std::sqrt(c_.lengths(j) * c_.turned(j)) * c_.noise(j),
                              std::sqrt(c_.scaled(j)) * c_.noise(j)};
      const Eigen::Matrix2d g = with_remainders(k.squares.third, &k.squares.rest[kKernelValue], norms);
      along.col(j) = (6.0 * c_.lengths(j) * g(0, 0)) * c_.images.col(j).cwiseAbs2() +
                     (12.0 * g(0, 1)) * c_.images.col(j).cwiseProduct(c_.mixed.col(j)) +
                     (6.0 * g(1, 1)) * weighed.col(j);
      norms_.third.error += k.kernel_value.mean.error * norms[0] + k.square_value.mean.error * norms[1];
    }
    const Matrix noise = c_.axes * c_.variances;  // packed R V R'
    norms_.third.fluctuation =
        column_product(noise.cwiseAbs2(), positive_part(along).transpose()).transpose();
    for (Index c = 0; c < n_; ++c) {
      for (Index a = 0; a < c; ++a) norms_.third.fluctuation.col(packed_place(a, c)) *= 2.0;
    }
  }

  /// (T - C) Q^{1/2}, Q = root' root.
  void add_first() {
    double sum = 0.0, size = 0.0;
    for (Index j = 0; j < c_.neurons(); ++j) {
      const NeuronKernels& k = kernels(j);
      const Enclosed& half = k.kernel_value.mean;  // Cov(tau, a^2)/2
      const double covariance = half.value * c_.cross(j) + half.error * std::abs(c_.cross(j));
      sum += c_.lengths(j) * c_.turned(j) * k.tau.deviation * k.tau.deviation +
             2.0 * magnitude_of(k.square_value.mean) * c_.scaled(j) + 4.0 * covariance +
             c_.lengths(j) * c_.traces(j) * k.tau_square;
      size += first_size(j);
    }
    norms_.first = enlarged(std::sqrt(positive_part(sum) + norms_.gamma * size));
  }

  /// Majorants of everything that is added, for its rounding.
  struct Majorant {
    double root, length, noise, m, v, axis;
  };
  [[nodiscard]] Majorant majorant(Index j) const {
    const double root = std::sqrt(static_cast<double>(n_)), length = std::sqrt(c_.lengths(j));
    const double noise = c_.variances.col(j).maxCoeff<Eigen::PropagateNaN>(), size = c_.root_size;
    return {root, length, noise, length * size, noise * size * size, noise * size * root};
  }

  [[nodiscard]] double first_size(Index j) const {
    const NeuronKernels& k = kernels(j);
    const auto [root, length, noise, m, v, axis] = majorant(j);
    const double each = length * m * k.tau.deviation +
                        axis * std::sqrt(2.0 * magnitude_of(k.square_value.mean)) +
                        length * std::sqrt(root * root * v * k.tau_square);
    return each * each;
  }

  void add_rounding() {
    const auto size = [](const KernelLaw& law) { return magnitude_of(law.mean) + law.deviation; };
    for (Index j = 0; j < c_.neurons(); ++j) {
      const NeuronKernels& k = kernels(j);
      const auto [root, length, noise, m, v, axis] = majorant(j);
      norms_.second.size +=
          2.0 * (length * (v * size(k.tau_value) + m * m * size(k.kernel)) + axis * m * size(k.square));
      norms_.third.size += 3.0 * (length * m * size(k.kernel_value) + axis * size(k.square_value)) * v;
    }
  }

  /// 2 |Sym|^2 of the slices of sum_j E A_j = M (x) (tau R V R' + kernel image image') + square V (x) image.
  void square_second_means() {
    const Matrix noise =
        c_.weights * means(&NeuronKernels::tau_value).asDiagonal() * c_.variances.transpose();
    const Matrix turned = c_.variances * means(&NeuronKernels::square).asDiagonal() * c_.images.transpose();
    const Matrix bent = means(&NeuronKernels::kernel).asDiagonal() * c_.weights.transpose();
    const Matrix straight = c_.axes * noise.transpose() + column_product(c_.image_squares, bent);
    Matrix& squares = norms_.second.mean = Matrix::Zero(n_, packed_count(n_));
    Matrix slice(n_, n_);
    for (Index i = 0; i < n_; ++i) {
      for (Index c = 0; c < n_; ++c) {
        for (Index a = 0; a <= c; ++a) {
          slice(a, c) = slice(c, a) = straight(packed_place(a, c), i) +
                                      0.5 * (c_.root(a, i) * turned(i, c) + c_.root(c, i) * turned(i, a));
        }
      }
      for (Index c = 0; c < n_; ++c) {
        for (Index a = 0; a <= c; ++a) {
          squares.col(packed_place(a, c)) += (a == c ? 2.0 : 4.0) * slice.col(a).cwiseProduct(slice.col(c));
        }
      }
    }
  }

  /// 6 |Sym|^2 of the slices of sum_j E B_j = (kernel_value M (x) image + square_value R V) (x) R V R'.
  void square_third_means() {
    const Eigen::RowVectorXd bent = means(&NeuronKernels::kernel_value);
    const Matrix flat =
        c_.variances * means(&NeuronKernels::square_value).asDiagonal() * c_.variances.transpose();
    // Slice i, entry a of the second slot: column i n + a.
    Matrix along(c_.neurons(), n_ * n_);
    for (Index i = 0; i < n_; ++i) {
      along.middleCols(i * n_, n_) =
          bent.cwiseProduct(c_.weights.row(i)).asDiagonal() * c_.images.transpose();
    }
    Matrix raw = column_product(c_.variances, along);
    for (Index i = 0; i < n_; ++i) raw.middleCols(i * n_, n_) += flat.col(i) * c_.root.col(i).transpose();
    const Matrix tensor = column_product(c_.axes, raw);
    Matrix& squares = norms_.third.mean = Matrix::Zero(n_, packed_count(n_));
    for (Index i = 0; i < n_; ++i) {
      const auto t = tensor.middleCols(i * n_, n_);
      for (Index c = 0; c < n_; ++c) {
        for (Index b = 0; b <= c; ++b) {
          const Index place = packed_place(b, c);
          for (Index a = 0; a < n_; ++a) {
            const double mean = (t(place, a) + t(packed_place(a, c), b) + t(packed_place(a, b), c)) / 3.0;
            squares(a, place) += (b == c ? 6.0 : 12.0) * mean * mean;
          }
        }
      }
    }
  }

  const SteinColumns& c_;
  const std::vector<NeuronKernels>& kernels_;
  const Index n_;
  SteinNorms norms_;
};

}  // namespace

SteinNorms stein_norms(const DenseLayer& layer, const Matrix& root, const std::vector<NeuronKernels>& kernels,
                       const Vector& shares) {
  const SteinColumns columns(layer, root);
  return SteinSums(columns, kernels).norms(shares);
}

}  // namespace mixcert

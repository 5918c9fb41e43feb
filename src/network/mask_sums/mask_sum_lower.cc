// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "network/mask_sums/mask_sum_lower.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/elementary.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rounding.h"
#include "mixture/symmetric_eigen.h"
#include "network/mask_sums/mask_lattice.h"
#include "network/mask_sums/reverse_water_filling.h"

namespace mixcert {
namespace {

int exponent_of(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0.0 ? exponent : 0;
}

Matrix in_units_of(int exponent, const Matrix& x) {
  return x.unaryExpr([exponent](double entry) { return std::ldexp(entry, -exponent); });
}

/// No more than `x` units; NaN gives nothing.
double from_units(double x, int exponent) {
  return x > 0.0 ? positive_part(next_down(std::ldexp(reduced(x), exponent))) : 0.0;
}

/// All masks in units of about their largest entry, large ones first; those of inactive neurons are left out.
struct OrderedMasks {
  int exponent = 0;
  Matrix vectors;
  Vector squares;    ///< |c_j|^2
  Vector entropies;  ///< no less than those of the masks
  Vector rare;       ///< the smaller probability, exact
  Vector signs;      ///< -1 where it is that of dropping
};

OrderedMasks ordered_masks(const std::vector<MaskGroup>& groups) {
  double largest = 0.0;
  Index count = 0, outputs = 0;
  for (const MaskGroup& group : groups) {
    require(group.rate > 0.0 && group.rate < 1.0 && group.vectors.allFinite(),
            "nearest_gaussian_distance: expected rates between 0 and 1 and finite vectors, got rate " +
                format_number(group.rate));
    if (group.vectors.size() > 0) largest = std::max(largest, group.vectors.cwiseAbs().maxCoeff());
    count += group.vectors.cols();
    outputs = group.vectors.rows();
  }
  OrderedMasks all;
  all.exponent = exponent_of(largest);
  Matrix vectors(outputs, count);
  Vector entropies(count), rare(count), signs(count);
  Index next = 0;
  for (const MaskGroup& group : groups) {
    const Index own = group.vectors.cols();
    vectors.middleCols(next, own) = in_units_of(all.exponent, group.vectors);
    entropies.segment(next, own).setConstant(mask_entropy(group.rate));
    rare.segment(next, own).setConstant(std::min(group.rate, 1.0 - group.rate));
    signs.segment(next, own).setConstant(group.rate <= 0.5 ? -1.0 : 1.0);
    next += own;
  }
  const Vector squares = vectors.colwise().squaredNorm();
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return squares(a) > squares(b); });
  while (!order.empty() && squares(order.back()) == 0.0) order.pop_back();
  all.vectors = vectors(Eigen::all, order);
  all.squares = squares(order);
  all.entropies = entropies(order);
  all.rare = rare(order);
  all.signs = signs(order);
  return all;
}

/// (D.9 ii) for the first `count` masks, less the deviation of the others.
double by_entropy(const OrderedMasks& masks, Index count) {
  const auto own = masks.vectors.leftCols(count);
  const double trace = enlarged(masks.squares.head(count).sum());
  const double error = enlarged(rounding_gamma(count + 8) * trace);
  const Vector values = proven_eigenvalues(own * own.transpose(), error);
  const double entropy = enlarged(masks.entropies.head(count).sum());
  const double left = masks.squares.tail(masks.squares.size() - count).sum();
  return reduced(std::sqrt(least_distortion({{1.0, values}}, entropy))) - enlarged(std::sqrt(left));
}

/// Operations of the eigenvalues of m x m matrices, about.
double eigen_operations(Index m) { return 20.0 * std::pow(static_cast<double>(m), 3.0); }

/// Small masks have as much entropy as large ones: the best of some numbers of masks that are looked at.
double best_by_entropy(const OrderedMasks& masks, double most_operations) {
  constexpr double kNextCount = 0.8;
  constexpr double kMostCounts = 12.0;
  const Index m = masks.vectors.rows();
  Index last = masks.squares.size();
  const double one = static_cast<double>(last) * square(static_cast<double>(m)) + eigen_operations(m);
  const auto counts = static_cast<int>(std::min(kMostCounts, most_operations / one));
  double best = 0.0;
  for (int tried = 0; tried < counts && last > 0; ++tried) {
    best = std::max(best, by_entropy(masks, last));
    last = static_cast<Index>(kNextCount * static_cast<double>(last));
  }
  return best;
}

/// (D.9 i): squared distances in orthonormal directions add up.
double by_lines(const OrderedMasks& masks, const MaskLowerSettings& settings) {
  const Index n = masks.vectors.cols(), m = masks.vectors.rows();
  constexpr double kQuantile = 200.0;  // operations of one, about
  const double per_point = static_cast<double>(n) + kQuantile;
  const double affordable = settings.most_operations / per_point / static_cast<double>(m);
  const auto points = static_cast<Index>(std::min(affordable, static_cast<double>(settings.most_points)));
  // Coarser than this lattices prove nothing.
  if (points < 8 * n || eigen_operations(m) > settings.most_operations) return 0.0;
  const Matrix basis = symmetric_eigen(masks.vectors * masks.vectors.transpose()).vectors;
  const double defect = enlarged((basis.transpose() * basis - Matrix::Identity(m, m)).norm() +
                                 2.0 * rounding_gamma(m + 4) * static_cast<double>(m + 1));
  if (!(defect < 1e-6)) return 0.0;
  // Y takes two values that are (p kappa)^{-1/2} apart.
  const Vector distances =
      (masks.rare.array() * (1.0 - masks.rare.array())).sqrt().inverse() * masks.signs.array();
  // What the computed sizes of a direction are off by, in deviations of the sum.
  const double rounded =
      enlarged(rounding_gamma(m + 16) * 1.01 * std::sqrt(static_cast<double>(m) * masks.squares.sum()));
  double squared = 0.0;
  for (Index k = 0; k < m; ++k) {
    const Vector sizes = (masks.vectors.transpose() * basis.col(k)).cwiseProduct(distances);
    const auto lattice = mask_lattice(sizes, masks.rare, points);
    if (lattice) squared += square(positive_part(nearest_gaussian(*lattice) - rounded));
  }
  return reduced(std::sqrt(squared / (1.0 + defect)));
}

}  // namespace

double mask_entropy(double rate) {
  const double rare = std::min(rate, 1.0 - rate);
  return enlarged(-rare * std::log(rare) - (1.0 - rare) * std::log1p(-rare));
}

double nearest_gaussian_distance(const std::vector<MaskGroup>& masks, const MaskLowerSettings& settings) {
  const OrderedMasks all = ordered_masks(masks);
  const Index n = all.vectors.cols(), m = all.vectors.rows();
  if (n == 0 || m == 0) return 0.0;
  const double best = std::max(best_by_entropy(all, settings.most_operations), by_lines(all, settings));
  // Entries of vectors below 2^-1022 units, and squares below: vectors of masks that were left out, too.
  Index given = 0;
  for (const MaskGroup& group : masks) given += group.vectors.cols();
  return from_units(best - 1e-140 * static_cast<double>(given), all.exponent);
}

double mixture_lower_bound(const GaussianMixture& mixture, double entropy,
                           const MaskLowerSettings& settings) {
  const Index m = mixture.dimension();
  const double work = static_cast<double>(mixture.size()) * eigen_operations(m);
  if (m == 0 || work > settings.most_operations) return 0.0;
  double largest = 0.0;
  for (const Gaussian& component : mixture.components()) {
    largest = std::max(largest, component.covariance.variances().maxCoeff());
  }
  // Even, so that the unit of lengths is a power of two.
  const int exponent = 2 * (exponent_of(largest) / 2);
  std::vector<WeightedSpectrum> spectra;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Covariance& covariance = mixture.component(i).covariance;
    const Matrix dense = in_units_of(exponent, covariance.to_dense());
    const double error = enlarged(rounding_gamma(covariance.rank() + 4) * dense.trace()) + 1e-290;
    spectra.push_back({mixture.weights()(i), proven_eigenvalues(dense, error)});
  }
  return from_units(std::sqrt(least_distortion(spectra, entropy)), exponent / 2);
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weighted k-means and moment matching.
#include "mixcert/propagate/compression.h"

#include <cmath>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"
#include "mixcert/core/rounding.h"
#include "mixcert/mixture/symmetric_eigen.h"

namespace mixcert {
namespace {

constexpr int kMaxLloydSteps = 50;

/// Index drawn with probability proportional to `mass`; the last positive one if rounding
/// runs past the end.
Index draw(const Vector& mass, Generator& generator) {
  double left = uniform(generator) * mass.sum();
  Index last = 0;
  for (Index i = 0; i < mass.size(); ++i) {
    if (mass(i) <= 0.0) continue;
    last = i;
    left -= mass(i);
    if (left < 0.0) break;
  }
  return last;
}

Matrix seed_centers(ConstMatrixRef points, ConstVectorRef weights, Index clusters, Generator& generator) {
  Matrix centers(points.rows(), clusters);
  centers.col(0) = points.col(draw(weights, generator));
  Vector nearest = (points.colwise() - centers.col(0)).colwise().squaredNorm();
  for (Index c = 1; c < clusters; ++c) {
    const Vector mass = weights.cwiseProduct(nearest);
    centers.col(c) = points.col(mass.sum() > 0.0 ? draw(mass, generator) : 0);
    const Vector distance = (points.colwise() - centers.col(c)).colwise().squaredNorm();
    nearest = nearest.cwiseMin(distance);
  }
  return centers;
}

std::vector<Index> assign(ConstMatrixRef points, const Matrix& centers) {
  std::vector<Index> cluster(static_cast<std::size_t>(points.cols()));
  for (Index i = 0; i < points.cols(); ++i) {
    Index best = 0;
    (centers.colwise() - points.col(i)).colwise().squaredNorm().minCoeff(&best);
    cluster[static_cast<std::size_t>(i)] = best;
  }
  return cluster;
}

/// Weighted means; a cluster without mass keeps its center.
void move_centers(ConstMatrixRef points, ConstVectorRef weights, const std::vector<Index>& cluster,
                  Matrix& centers) {
  Matrix sums = Matrix::Zero(centers.rows(), centers.cols());
  Vector mass = Vector::Zero(centers.cols());
  for (Index i = 0; i < points.cols(); ++i) {
    const Index c = cluster[static_cast<std::size_t>(i)];
    sums.col(c) += weights(i) * points.col(i);
    mass(c) += weights(i);
  }
  for (Index c = 0; c < centers.cols(); ++c) {
    if (mass(c) > 0.0) centers.col(c) = sums.col(c) / mass(c);
  }
}

/// Renumbers clusters by first appearance; returns how many there are.
Index renumber(std::vector<Index>& cluster, Index clusters) {
  std::vector<Index> name(static_cast<std::size_t>(clusters), -1);
  Index next = 0;
  for (Index& c : cluster) {
    Index& slot = name[static_cast<std::size_t>(c)];
    if (slot < 0) slot = next++;
    c = slot;
  }
  return next;
}

/// The same F F' with as few columns as it has rank, longest first: principal directions.
Matrix principal_factor(const Matrix& factor) {
  if (factor.cols() <= 1) return factor;
  const bool tall = factor.cols() <= factor.rows();
  const SymmetricEigen eigen =
      symmetric_eigen(tall ? Matrix(factor.transpose() * factor) : Matrix(factor * factor.transpose()));
  const Vector values = positive_part(eigen.values).reverse();
  const Matrix vectors = eigen.vectors.rowwise().reverse();
  const Index rank = (values.array() > 1e-30 * values(0)).count();
  if (tall) return factor * vectors.leftCols(rank);
  return vectors.leftCols(rank) * values.head(rank).cwiseSqrt().asDiagonal();
}

/// Mean and covariance of the members: averages plus the spread of their means.
Gaussian match_moments(const GaussianMixture& mixture, const std::vector<Index>& members, double mass) {
  const auto count = static_cast<Index>(members.size());
  Vector weights(count);
  std::vector<const Covariance*> covariances;
  Vector mean = Vector::Zero(mixture.dimension());
  for (Index i = 0; i < count; ++i) {
    const Index member = members[static_cast<std::size_t>(i)];
    // A cluster of weightless components counts its members equally.
    weights(i) = mass > 0.0 ? mixture.weights()(member) / mass : 1.0 / static_cast<double>(count);
    covariances.push_back(&mixture.component(member).covariance);
    mean += weights(i) * mixture.component(member).mean;
  }
  if (count == 1) return mixture.component(members.front());
  Matrix spread(mixture.dimension(), count);
  for (Index i = 0; i < count; ++i) {
    const Index member = members[static_cast<std::size_t>(i)];
    spread.col(i) = std::sqrt(weights(i)) * (mixture.component(member).mean - mean);
  }
  // The weighted deviations sum to zero, so two members span one direction.
  if (count == 2 && weights(1) > 0.0) {
    spread = Matrix(spread.col(0) / std::sqrt(weights(1)));
  }
  return {mean, weighted_sum(weights, covariances).plus_low_rank(principal_factor(spread))};
}

}  // namespace

std::vector<Index> weighted_k_means(ConstMatrixRef points, ConstVectorRef weights, Index clusters,
                                    std::uint64_t seed) {
  require(clusters >= 1 && points.cols() >= 1 && weights.size() == points.cols(),
          "weighted_k_means: needs points, one weight each, and at least one cluster");
  Generator generator = make_generator(seed, Stream::KMeans);
  Matrix centers = seed_centers(points, weights, clusters, generator);
  std::vector<Index> cluster = assign(points, centers);
  for (int step = 0; step < kMaxLloydSteps; ++step) {
    move_centers(points, weights, cluster, centers);
    std::vector<Index> next = assign(points, centers);
    if (next == cluster) break;
    cluster = std::move(next);
  }
  renumber(cluster, clusters);
  return cluster;
}

Compressed compress(const GaussianMixture& mixture, Index count, ConstVectorRef metric, std::uint64_t seed) {
  Matrix points(mixture.dimension(), mixture.size());
  const Vector scale = metric.cwiseSqrt();
  for (Index i = 0; i < mixture.size(); ++i) points.col(i) = scale.cwiseProduct(mixture.component(i).mean);
  const std::vector<Index> cluster = weighted_k_means(points, mixture.weights(), count, seed);

  std::vector<std::vector<Index>> members;
  Compressed result;
  for (Index i = 0; i < mixture.size(); ++i) {
    const auto c = static_cast<std::size_t>(cluster[static_cast<std::size_t>(i)]);
    if (c == members.size()) members.emplace_back();
    members[c].push_back(i);
    result.plan.push_back({i, static_cast<Index>(c), mixture.weights()(i)});
  }
  Vector weights = Vector::Zero(static_cast<Index>(members.size()));
  std::vector<Gaussian> components;
  for (std::size_t c = 0; c < members.size(); ++c) {
    for (const Index i : members[c]) weights(static_cast<Index>(c)) += mixture.weights()(i);
    components.push_back(match_moments(mixture, members[c], weights(static_cast<Index>(c))));
  }
  result.mixture = GaussianMixture(weights, std::move(components));
  return result;
}

}  // namespace mixcert

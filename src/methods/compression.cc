// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weighted k-means.
#include "methods/compression.h"

#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/rng.h"

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

Sealed<CompressionTrace> compress(const GaussianMixture& mixture, Index count, ConstVectorRef metric,
                                  std::uint64_t seed) {
  Matrix points(mixture.dimension(), mixture.size());
  const Vector scale = metric.cwiseSqrt();
  for (Index i = 0; i < mixture.size(); ++i) points.col(i) = scale.cwiseProduct(mixture.component(i).mean);
  return merge_components(mixture, weighted_k_means(points, mixture.weights(), count, seed));
}

}  // namespace mixcert

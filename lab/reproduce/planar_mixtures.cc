// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Drawing mixtures, componentwise signatures, and distances by transport.
#include "reproduce/planar_mixtures.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "methods/compression.h"
#include "mixcert/core/rng.h"
#include "mixcert/transport/mixture_transport.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

Matrix squared_distances(const Matrix& a, const Matrix& b) {
  Matrix cost = (-2.0 * a.transpose() * b).eval();
  cost.colwise() += a.colwise().squaredNorm().transpose();
  cost.rowwise() += b.colwise().squaredNorm();
  return cost.cwiseMax(0.0);
}

/// Shares of the points among `count` draws.
Vector drawn_shares(const DiscreteLaw& law, Index count, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Floor);
  std::vector<double> edges;
  double sum = 0.0;
  for (Index i = 0; i < law.weights.size(); ++i) edges.push_back(sum += law.weights(i));
  Vector shares = Vector::Zero(law.weights.size());
  for (Index i = 0; i < count; ++i) {
    const auto at = std::upper_bound(edges.begin(), edges.end() - 1, uniform(generator) * sum);
    shares(at - edges.begin()) += 1.0 / static_cast<double>(count);
  }
  return shares / shares.sum();
}

/// sum_j lambda_j (4 log N_j / N_j^2 + r(N_j)), axes with one point at their full eigenvalue.
double uniform_rate(const GridSignature& signature, double trace) {
  double rest = trace;
  double rate = 0.0;
  for (Index axis = 0; axis < signature.axis_count(); ++axis) {
    const double eigenvalue = signature.directions.col(axis).squaredNorm();
    rest -= eigenvalue;
    rate += eigenvalue * uniform_quantizer_rate(signature.quantizers[static_cast<std::size_t>(axis)]->size());
  }
  return rate + std::max(rest, 0.0);
}

}  // namespace

GaussianMixture planar_mixture(Index components, std::uint64_t seed) {
  Generator generator = make_generator(seed, Stream::Example, static_cast<std::uint64_t>(components));
  Matrix centres(2, components);
  for (Index i = 0; i < components; ++i) {  // modes on a circle, a little off it
    const double angle = 2.0 * std::numbers::pi * (static_cast<double>(i) + 0.4 * uniform(generator)) /
                         static_cast<double>(components);
    const double radius = components == 1 ? 0.0 : 1.0 + 0.4 * uniform(generator);
    centres.col(i) = radius * Eigen::Vector2d(std::cos(angle), std::sin(angle));
  }
  Vector weights(components);
  std::vector<Gaussian> parts;
  double square = 0.0;
  for (Index i = 0; i < components; ++i) weights(i) = 0.5 + uniform(generator);
  weights /= weights.sum();
  for (Index i = 0; i < components; ++i) {
    const Eigen::Matrix2d turn = Eigen::Rotation2Dd(std::numbers::pi * uniform(generator)).toRotationMatrix();
    const Eigen::Vector2d variances(0.12 + 0.2 * uniform(generator), 0.02 + 0.08 * uniform(generator));
    parts.push_back({centres.col(i), Covariance::dense(turn * variances.asDiagonal() * turn.transpose())});
    square += weights(i) * (centres.col(i).squaredNorm() + variances.sum());
  }
  for (Gaussian& part : parts) {
    part.mean /= std::sqrt(square);
    part.covariance = part.covariance.scaled(Vector::Constant(2, 1.0 / std::sqrt(square)));
  }
  return {weights, parts};
}

MixtureSignature grid_signature_of(const GaussianMixture& mixture, Index locations, QuantizerFamily family) {
  const Index each = std::max<Index>(1, locations / mixture.size());
  MixtureSignature result;
  std::vector<DiscreteLaw> laws;
  Index total = 0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const Gaussian& part = mixture.component(i);
    const GridSignature signature = grid_signature(part.covariance, Vector::Ones(2), each, family);
    const Vector variances = part.covariance.variances();
    result.bound += mixture.weights()(i) * signature.mean_square_errors(variances).sum();
    result.rate += mixture.weights()(i) * uniform_rate(signature, variances.sum());
    laws.push_back(signature.points(part.mean));
    total += laws.back().weights.size();
  }
  result.bound = std::sqrt(result.bound);
  result.rate = std::sqrt(result.rate);
  result.law = {Matrix(2, total), Vector(total)};
  Index at = 0;
  for (Index i = 0; i < mixture.size(); ++i) {
    const DiscreteLaw& law = laws[static_cast<std::size_t>(i)];
    const Index size = law.weights.size();
    result.law.points.middleCols(at, size) = law.points;
    result.law.weights.segment(at, size) = mixture.weights()(i) * law.weights;
    at += size;
  }
  result.law.weights /= result.law.weights.sum();
  return result;
}

DiscreteLaw clustered_signature(const Matrix& samples, Index locations, std::uint64_t seed) {
  const Index count = samples.cols();
  const Vector weights = Vector::Constant(count, 1.0 / static_cast<double>(count));
  const std::vector<Index> cluster = weighted_k_means(samples, weights, locations, seed);
  const Index size = *std::max_element(cluster.begin(), cluster.end()) + 1;
  DiscreteLaw law{Matrix::Zero(samples.rows(), size), Vector::Zero(size)};
  for (Index i = 0; i < count; ++i) {
    const Index c = cluster[static_cast<std::size_t>(i)];
    law.points.col(c) += samples.col(i);
    law.weights(c) += 1.0;
  }
  for (Index c = 0; c < size; ++c) law.points.col(c) /= law.weights(c);
  law.weights /= law.weights.sum();
  return law;
}

LawDistance sample_distance(const Matrix& samples, const DiscreteLaw& law, std::uint64_t seed) {
  const Index count = samples.cols();
  const Vector equal = Vector::Constant(count, 1.0 / static_cast<double>(count));
  LawDistance result;
  result.distance = std::sqrt(optimal_plan(equal, law.weights, squared_distances(samples, law.points)).cost);
  result.floor = std::sqrt(std::max(0.0, optimal_plan(drawn_shares(law, count, seed), law.weights,
                                                      squared_distances(law.points, law.points))
                                             .cost));
  return result;
}

}  // namespace mixcert::lab

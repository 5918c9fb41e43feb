// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A cluster's covariance is the average of its members' plus X X', columns sqrt(w_i) (m_i - m). It is stored
// as F F' with F = X V, V the right singular vectors; only where the transport cost leaves columns of F out
// (T.3) does anything depend on V, which is then differentiated too (Z.25).
#include <cmath>

#include "gradient/signature/signature_gradient.h"

namespace mixcert {
namespace {

// Columns of F below this fraction of the longest (squared) are rounding errors of zeros.
constexpr double kZeroColumn = 1e-20;

void add(double factor, const GaussianGradient& from, GaussianGradient& to) {
  to.mean += factor * from.mean;
  to.blocks += factor * from.blocks;
  to.factor += factor * from.factor;
}

/// One cluster of a compression.
struct Cluster {
  std::vector<Index> members;
  Vector weights;  ///< of the members in the cluster
  Matrix spread;   ///< X
};

std::vector<Cluster> clusters_of(const CompressionTrace& trace) {
  std::vector<Cluster> clusters(static_cast<std::size_t>(trace.after.size()));
  for (std::size_t i = 0; i < trace.clusters.size(); ++i) {
    clusters[static_cast<std::size_t>(trace.clusters[i])].members.push_back(static_cast<Index>(i));
  }
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    Cluster& cluster = clusters[c];
    cluster.weights = trace.before.weights()(cluster.members);
    const double mass = cluster.weights.sum();
    if (mass > 0.0) {
      cluster.weights /= mass;
    } else {
      cluster.weights.setConstant(1.0 / static_cast<double>(cluster.members.size()));
    }
    const Vector& mean = trace.after.component(static_cast<Index>(c)).mean;
    cluster.spread.resize(trace.before.dimension(), cluster.weights.size());
    for (Index i = 0; i < cluster.weights.size(); ++i) {
      const Gaussian& member = trace.before.component(cluster.members[static_cast<std::size_t>(i)]);
      cluster.spread.col(i) = std::sqrt(cluster.weights(i)) * (member.mean - mean);
    }
  }
  return clusters;
}

/// X_bar from F_bar where F = X V: (F_bar + F (S + S')) V', S = K o (F'F_bar), K_ij = 1/(|f_j|^2 - |f_i|^2).
Matrix spread_gradient(const Matrix& spread, const Matrix& factor, const Matrix& factor_bar) {
  const Vector squares = factor.colwise().squaredNorm();
  if (squares.size() == 0 || !(squares.maxCoeff() > 0.0)) return Matrix::Zero(spread.rows(), spread.cols());
  const double longest = squares.maxCoeff();
  const Matrix overlap = factor.transpose() * factor_bar;
  Matrix turned = Matrix::Zero(overlap.rows(), overlap.cols());
  for (Index i = 0; i < turned.rows(); ++i) {
    for (Index j = 0; j < turned.cols(); ++j) {
      const double gap = squares(j) - squares(i);
      if (std::abs(gap) > kEqualEigenvalues * longest) turned(i, j) = (overlap(i, j) - overlap(j, i)) / gap;
    }
  }
  const Vector inverse = (squares.array() > kZeroColumn * longest).select(squares.cwiseInverse(), 0.0);
  const Matrix v = spread.transpose() * factor * inverse.asDiagonal();
  return (factor_bar + factor * turned) * v.transpose();
}

}  // namespace

Vector add_compression_cost_gradient(const CompressionTrace& trace, ConstVectorRef g, double cost_bar,
                                     std::vector<GaussianGradient>& before,
                                     std::vector<GaussianGradient>& after) {
  Vector g_bar = Vector::Zero(g.size());
  for (const PlanEntry& entry : trace.plan) {
    const StructuredTransportGradient gradient = structured_transport_gradient(
        trace.before.component(entry.source), trace.after.component(entry.target), g);
    const double bar = cost_bar * entry.mass;
    add(bar, gradient.from, before[static_cast<std::size_t>(entry.source)]);
    add(bar, gradient.to, after[static_cast<std::size_t>(entry.target)]);
    g_bar += bar * gradient.metric;
  }
  return g_bar;
}

void pull_back_compression(const CompressionTrace& trace, const std::vector<GaussianGradient>& after,
                           std::vector<GaussianGradient>& before) {
  const std::vector<Cluster> clusters = clusters_of(trace);
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const Cluster& cluster = clusters[c];
    const Covariance& covariance = trace.after.component(static_cast<Index>(c)).covariance;
    const GaussianGradient& bar = after[c];
    // A single block has taken X X' up.
    Matrix spread_bar = covariance.block_count() == 1
                            ? Matrix(2.0 * bar.blocks * cluster.spread)
                            : spread_gradient(cluster.spread, covariance.factor(), bar.factor);
    const Vector roots = cluster.weights.cwiseSqrt();
    const Vector mean_bar = bar.mean - spread_bar * roots;
    for (Index i = 0; i < roots.size(); ++i) {
      GaussianGradient& member =
          before[static_cast<std::size_t>(cluster.members[static_cast<std::size_t>(i)])];
      member.mean += roots(i) * spread_bar.col(i) + cluster.weights(i) * mean_bar;
      member.blocks += cluster.weights(i) * bar.blocks;
    }
  }
}

}  // namespace mixcert

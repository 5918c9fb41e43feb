// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// With h_1 = W_1 x + b_1, h_2 = W_2 s(h_1) + b_2, critic w_3 . s(h_2), s softplus and s' its slope, the
// critic's derivative in x is  g = W_1' (s'(h_1) o W_2' (s'(h_2) o w_3)).  The gradient of the penalty
// (|g| - 1)^2 goes backwards through this formula and then through h_2 and h_1: written out here, 19 products
// of a batch with a square matrix for a step. Mixed functions are linear in the given ones, so their h_1 and
// their part of dW_1 come without products of their own.
#include "prior/critic.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/parallel.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert::lab {
namespace {

// What a batch needs then stays in the cache; 512 at once took about a third longer.
constexpr Index kBatchSize = 64;

/// s(h) and s'(h) from one exponential, for either sign of h.
void softplus(const FloatRows& h, FloatRows& values, FloatRows& slopes) {
  const FloatRows small = (-h.array().abs()).exp();
  values = h.array().max(0.0F) + (1.0F + small.array()).log();
  slopes = (h.array() >= 0.0F).select(1.0F, small.array()) / (1.0F + small.array());
}

}  // namespace

template <class Scalar>
struct Critic::View {
  using Rows = std::conditional_t<std::is_const_v<Scalar>, const FloatRows, FloatRows>;
  using Row = std::conditional_t<std::is_const_v<Scalar>, const Eigen::RowVectorXf, Eigen::RowVectorXf>;

  View(Scalar* place, Index inputs, Index width)
      : w1(place, width, inputs),
        b1(place + width * inputs, width),
        w2(b1.data() + width, width, width),
        b2(w2.data() + width * width, width),
        w3(b2.data() + width, width) {}

  Eigen::Map<Rows> w1;
  Eigen::Map<Row> b1;
  Eigen::Map<Rows> w2;
  Eigen::Map<Row> b2;
  Eigen::Map<Row> w3;
};

struct Critic::Batch {
  const FloatRows& network;
  const FloatRows& target;
  const FloatVector& mixing;
  double penalty_weight;
  Index begin;
  Index count;
};

Critic::Critic(Index inputs, Index width) : inputs_(inputs), width_(width) {}

FloatVector Critic::initial_parameters(Generator& generator) const {
  Matrix normals(parameter_count(), 1);
  fill_normal(generator, normals);
  FloatVector parameters = normals.col(0).cast<float>();
  View<float> view(parameters.data(), inputs_, width_);
  view.w1 *= std::sqrt(2.0F / static_cast<float>(inputs_ + width_));
  view.w2 *= std::sqrt(1.0F / static_cast<float>(width_));
  view.w3 *= std::sqrt(2.0F / static_cast<float>(width_ + 1));
  return parameters;
}

CriticLoss Critic::loss(const FloatVector& parameters, const FloatRows& network, const FloatRows& target,
                        const FloatVector& mixing, double penalty_weight, int threads,
                        FloatVector& gradient) const {
  const Index total = network.rows();
  const Index batches = (total + kBatchSize - 1) / kBatchSize;
  std::vector<FloatVector> gradients(static_cast<std::size_t>(batches));
  std::vector<CriticLoss> losses(static_cast<std::size_t>(batches));
  parallel_for(batches, threads, [&](Index i) {
    const Index begin = i * kBatchSize;
    const Batch batch{network, target, mixing, penalty_weight, begin, std::min(kBatchSize, total - begin)};
    const auto place = static_cast<std::size_t>(i);
    losses[place] = add_batch(parameters, batch, gradients[place]);
  });
  CriticLoss sum;
  gradient = FloatVector::Zero(parameter_count());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradient += gradients[i];
    sum.difference += losses[i].difference;
    sum.penalty += losses[i].penalty;
  }
  return sum;
}

CriticLoss Critic::add_batch(const FloatVector& parameters, const Batch& batch, FloatVector& gradient) const {
  const Index m = batch.count;
  const auto share = 1.0F / static_cast<float>(batch.network.rows());
  const View<const float> at(parameters.data(), inputs_, width_);
  gradient.resize(parameter_count());
  View<float> to(gradient.data(), inputs_, width_);
  const auto mix = batch.mixing.segment(batch.begin, m).array();
  const auto network = batch.network.middleRows(batch.begin, m);
  const auto target = batch.target.middleRows(batch.begin, m);

  // Rows: functions of the network, of the target, mixed.
  FloatRows h1(3 * m, width_);
  h1.topRows(m).noalias() = network * at.w1.transpose();
  h1.middleRows(m, m).noalias() = target * at.w1.transpose();
  h1.topRows(2 * m).rowwise() += at.b1;
  h1.bottomRows(m) =
      h1.topRows(m).array().colwise() * mix + h1.middleRows(m, m).array().colwise() * (1.0F - mix);
  FloatRows s1, d1, s2, d2;
  softplus(h1, s1, d1);
  FloatRows h2(3 * m, width_);
  h2.noalias() = s1 * at.w2.transpose();
  h2.rowwise() += at.b2;
  softplus(h2, s2, d2);

  // The slope g of the mixed functions, and the penalty backwards through its formula.
  const auto mixed_d1 = d1.bottomRows(m).array();
  const auto mixed_d2 = d2.bottomRows(m).array();
  const FloatRows u2 = mixed_d2.rowwise() * at.w3.array();
  const FloatRows v1 = u2 * at.w2;
  const FloatRows u1 = v1.array() * mixed_d1;
  FloatRows g = u1 * at.w1;
  const Eigen::ArrayXf norms = g.rowwise().norm().array().max(1e-20F);
  const float weight = 2.0F * static_cast<float>(batch.penalty_weight) * share;
  g.array().colwise() *= weight * (1.0F - norms.inverse());
  to.w1.noalias() = u1.transpose() * g;
  const FloatRows from_u1 = g * at.w1.transpose();
  const FloatRows from_v1 = from_u1.array() * mixed_d1;
  to.w2.noalias() = u2.transpose() * from_v1;
  const FloatRows from_u2 = from_v1 * at.w2.transpose();

  // Backwards through h_2 and h_1; the difference enters with weight -1 for the network, +1 for the target.
  FloatRows from_h2 = d2.array().rowwise() * at.w3.array();
  from_h2.topRows(m) *= -share;
  from_h2.middleRows(m, m) *= share;
  from_h2.bottomRows(m).array() *= from_u2.array() * (1.0F - mixed_d2);
  to.w3 = (from_u2.array() * mixed_d2).colwise().sum();
  to.w3 += share * (s2.middleRows(m, m).colwise().sum() - s2.topRows(m).colwise().sum());
  to.w2.noalias() += from_h2.transpose() * s1;
  to.b2 = from_h2.colwise().sum();
  FloatRows from_h1 = from_h2 * at.w2;
  from_h1.array() *= d1.array();
  from_h1.bottomRows(m).array() += from_u1.array() * v1.array() * mixed_d1 * (1.0F - mixed_d1);
  to.b1 = from_h1.colwise().sum();
  from_h1.topRows(m).array() += from_h1.bottomRows(m).array().colwise() * mix;
  from_h1.middleRows(m, m).array() += from_h1.bottomRows(m).array().colwise() * (1.0F - mix);
  to.w1.noalias() += from_h1.topRows(m).transpose() * network;
  to.w1.noalias() += from_h1.middleRows(m, m).transpose() * target;

  const FloatVector values = s2.topRows(2 * m) * at.w3.transpose();
  return {static_cast<double>(share * (values.head(m).sum() - values.tail(m).sum())),
          static_cast<double>(share * (norms - 1.0F).square().sum())};
}

Critic::Slopes Critic::slopes(const FloatVector& parameters, const FloatRows& functions) const {
  const View<const float> at(parameters.data(), inputs_, width_);
  FloatRows s1, d1, s2, d2;
  softplus((functions * at.w1.transpose()).rowwise() + at.b1, s1, d1);
  softplus((s1 * at.w2.transpose()).rowwise() + at.b2, s2, d2);
  const FloatRows u2 = d2.array().rowwise() * at.w3.array();
  const FloatRows v1 = u2 * at.w2;
  const FloatRows u1 = v1.array() * d1.array();
  return {s2 * at.w3.transpose(), u1 * at.w1};
}

}  // namespace mixcert::lab

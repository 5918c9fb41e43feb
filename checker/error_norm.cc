// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "error_norm.h"

namespace mixcert_check {
namespace {

// Norms double with every layer on the way; from here on one diagonal metric takes the place of two norms.
// Another number would be as true.
constexpr std::size_t kMostNorms = 8;

BallMatrix weight_mean(const Layer& layer) { return {layer.outputs, layer.inputs, layer.mean}; }

/// A = E W'QW = M'QM + diag_j(sum_i Q_ii V_ij)  (M.3)
BallMatrix second_moment(const Norm& norm, const Layer& layer) {
  BallMatrix a = mean_gram(norm, layer);
  if (layer.variance.empty()) return a;
  const Balls added =
      BallMatrix(layer.outputs, layer.inputs, layer.variance).transposed().times(norm.diagonal);
  for (slong j = 0; j < layer.inputs; ++j) a.add(j, j, added[static_cast<std::size_t>(j)]);
  return a;
}

Balls diagonal_of(const BallMatrix& matrix) {
  Balls made;
  for (slong i = 0; i < matrix.rows(); ++i) made.push_back(matrix.at(i, i));
  return made;
}

/// diag(g) >= A, or NotProven.
void prove_feasible(const Balls& g, const BallMatrix& a, const std::string& name) {
  BallMatrix rest(a.rows(), a.columns());
  for (slong i = 0; i < a.rows(); ++i) {
    for (slong j = 0; j < a.columns(); ++j) rest.set(i, j, -a.at(i, j));
    rest.add(i, i, g[static_cast<std::size_t>(i)]);
  }
  if (!proves_semidefinite(rest)) throw NotProven(name + ": diag(g) >= E W'QW was not proven (M.8)");
}

/// The metrics g of a proof, one for each norm behind the next layer.
std::vector<Balls> metrics(const Block& proof, const std::string& name, std::size_t count, long size) {
  const std::vector<double>& given = proof.values(name, {static_cast<long>(count), size});
  std::vector<Balls> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (long j = 0; j < size; ++j) {
      const double g = given[i * static_cast<std::size_t>(size) + static_cast<std::size_t>(j)];
      if (g < 0.0) throw NotProven(name + ": a metric is negative");
      made[i].emplace_back(g);
    }
  }
  return made;
}

}  // namespace

BallMatrix mean_gram(const Norm& norm, const Layer& layer) {
  const BallMatrix m = weight_mean(layer);
  const BallMatrix weighted = norm.full.empty() ? m.rows_scaled(norm.diagonal) : norm.full.front().times(m);
  return m.transposed().times(weighted);
}

Norm output_norm(const Model& model) {
  return {1.0, Balls(static_cast<std::size_t>(model.layers.back().outputs), Ball(1.0)), {}};
}

std::vector<std::vector<Norm>> carried_norms(const Model& model, const Block& proof,
                                             const std::string& chain) {
  const std::size_t last = model.layers.size() - 1;
  std::vector<std::vector<Norm>> norms(last + 1);
  norms[last].push_back(output_norm(model));
  for (std::size_t k = last; k-- > 1;) {
    const std::vector<Norm>& behind = norms[k + 1];
    const bool split = 2 * behind.size() <= kMostNorms;
    const Activation& f = model.activations[k];
    // Difference quotients lie in [centre - stray, centre + stray].
    const Ball centre = split ? (f.lowest_slope() + f.highest_slope()) / 2.0 : Ball(0.0);
    const Ball stray = larger(f.highest_slope() - centre, centre - f.lowest_slope());
    const std::string name = "metric/" + chain + "/" + std::to_string(k);
    const std::vector<Balls> g = stray.is_zero()
                                     ? std::vector<Balls>(behind.size())
                                     : metrics(proof, name, behind.size(), model.layers[k].outputs);
    for (std::size_t i = 0; i < behind.size(); ++i) {
      BallMatrix a = second_moment(behind[i], model.layers[k + 1]);
      if (!stray.is_zero()) prove_feasible(g[i], a, name);
      if (!centre.is_zero()) {
        Balls diagonal = diagonal_of(a);
        norms[k].push_back({behind[i].factor * absolute(centre), std::move(diagonal), {std::move(a)}});
      }
      if (!stray.is_zero()) norms[k].push_back({behind[i].factor * stray, g[i], {}});
    }
  }
  return norms;
}

}  // namespace mixcert_check

// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "error_norm.h"

#include <utility>

namespace mixcert_check {
namespace {

// Norms double with every layer on the way; from here on one diagonal metric takes the place of two norms.
// Another number would be as true.
constexpr std::size_t kMostNorms = 8;

Norm diagonal_norm(const Ball& factor, const Balls& diagonal, const Layer& layer) {
  return {factor, diagonal, layer.mean.transposed().times(layer.mean.rows_scaled(diagonal))};
}

/// A = E W'QW = M'QM + diag_j(sum_i Q_ii V_ij)  (M.3); behind a mask A + nu diag(A) (D.1)
BallMatrix second_moment(const Norm& norm, const Layer& layer, const Mask& mask) {
  BallMatrix a = norm.gram;
  // Behind such layers norms are diagonal, so that (M.3) needs no other entry of Q.
  if (layer.dependent) a.add(layer.dependent->gram(norm.diagonal));
  if (layer.is_random) {
    const Balls added = layer.variance.transposed().times(norm.diagonal);
    for (slong j = 0; j < layer.inputs; ++j) a.add(j, j, added[static_cast<std::size_t>(j)]);
  }
  if (mask.is_random) {
    for (slong j = 0; j < layer.inputs; ++j) a.add(j, j, mask.variance * a.at(j, j));
  }
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

Norm output_norm(const Model& model) {
  const Layer& layer = model.layers.back();
  return diagonal_norm(1.0, Balls(static_cast<std::size_t>(layer.outputs), Ball(1.0)), layer);
}

std::vector<std::vector<Norm>> carried_norms(const Model& model, const Block& proof,
                                             const std::string& chain) {
  const std::size_t last = model.layers.size() - 1;
  std::vector<std::vector<Norm>> norms(last + 1);
  norms[last].push_back(output_norm(model));
  for (std::size_t k = last; k-- > 1;) {
    const std::vector<Norm>& behind = norms[k + 1];
    // Norms with signs need outputs that are independent given their inputs.
    const bool split = 2 * behind.size() <= kMostNorms && model.layers[k].has_independent_outputs();
    const Activation& f = model.activations[k];
    // Difference quotients lie in [centre - stray, centre + stray].
    const Ball centre = split ? (f.lowest_slope() + f.highest_slope()) / 2.0 : Ball(0.0);
    const Ball stray = larger(f.highest_slope() - centre, centre - f.lowest_slope());
    const std::string name = "metric/" + chain + "/" + std::to_string(k);
    const std::vector<Balls> g = stray.is_zero()
                                     ? std::vector<Balls>(behind.size())
                                     : metrics(proof, name, behind.size(), model.layers[k].outputs);
    for (std::size_t i = 0; i < behind.size(); ++i) {
      const BallMatrix a = second_moment(behind[i], model.layers[k + 1], model.masks[k]);
      const Layer& layer = model.layers[k];
      if (!centre.is_zero()) {
        BallMatrix gram = layer.mean.transposed().times(a.times(layer.mean));
        norms[k].push_back({behind[i].factor * absolute(centre), diagonal_of(a), std::move(gram)});
      }
      if (!stray.is_zero()) {
        prove_feasible(g[i], a, name);
        norms[k].push_back(diagonal_norm(behind[i].factor * stray, g[i], layer));
      }
    }
  }
  return norms;
}

}  // namespace mixcert_check

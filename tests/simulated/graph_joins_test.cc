// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums and concatenations in what simulation makes of graphs: slopes against differences, moments of slopes
// against draws (O.6), rounding errors and the bound of the coupling (O.7).
#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/network/network_builder.h"
#include "mixture/symmetric_eigen.h"
#include "simulated/graph/graph_coupling.h"
#include "simulated/graph/graph_stein.h"
#include "simulated/graph_cases.h"
#include "support/random_graphs.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace graph_joins_test {

GraphCase joined_case(std::uint64_t seed, double noise) {
  const RandomGraph made = random_graph(seed, seed % 2 == 1, noise);
  Generator generator = make_generator(seed, Stream::Example, 3040);
  return {build_graph(made.layers), random_vector(generator, made.input.size())};
}

bool has_concat(const LayerGraph& graph) {
  for (Index k = 0; k < graph.size(); ++k) {
    if (std::holds_alternative<ConcatNode>(graph.node(k).work)) return true;
  }
  return false;
}

BlockRandomness draw_of(const LayerGraph& graph, Generator& generator, Index draws = 1) {
  return {graph, draws, [&](Matrix& out) { out = random_matrix(generator, out.rows(), out.cols()); }};
}

/// Outputs by normals.
Matrix all_slopes(const GraphCase& at, const BlockRandomness& draw) {
  Matrix all(at.graph.outputs(), 0);
  for (const Matrix& factor : slopes_at(at.graph, at.input, draw)) {
    if (factor.size() == 0) continue;
    all.conservativeResize(Eigen::NoChange, all.cols() + factor.rows());
    all.rightCols(factor.rows()) = factor.transpose();
  }
  return all;
}

TEST(GraphJoins, SlopesAgreeWithDifferences) {
  int concats = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = joined_case(seed, 0.3);
    concats += has_concat(at.graph) ? 1 : 0;
    Generator generator = make_generator(seed, Stream::Example, 3041);
    const BlockRandomness draw = draw_of(at.graph, generator);
    const Matrix naive = naive_slopes(at, draw), own = all_slopes(at, draw);
    ASSERT_EQ(own.cols(), naive.cols());
    EXPECT_LE((own - naive).norm(), 2e-4 * naive.norm() + 1e-4);
  }
  EXPECT_GE(concats, 6);
}

TEST(GraphJoins, MomentsOfSlopesAreNotExceeded) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = joined_case(seed, 0.3);
    const GraphNorms norms(at.graph);
    const GraphSlopes slopes(norms, {at.input, 0.0});
    Generator generator = make_generator(seed, Stream::Example, 3042);
    double fourth = 0.0;
    const int draws = 100;
    for (int i = 0; i < draws; ++i) {
      const Matrix jacobian = all_slopes(at, draw_of(at.graph, generator));
      fourth += std::pow(singular_values(jacobian).values(0), 4) / draws;
    }
    EXPECT_GE(slopes.of_outputs(4.0), 0.95 * std::pow(fourth, 0.25));
  }
}

TEST(GraphJoins, BoundsOfTheCouplingAreAboveItsCost) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const GraphCase at = joined_case(seed, 0.03);
    const SimulationSettings settings{.draws = 4096,
                                      .failure_probability = 1e-3,
                                      .seed = seed,
                                      .input = 0,
                                      .threads = 1,
                                      .cancel = nullptr};
    const GraphCoupling coupling(at.graph, {at.input, 0.0}, settings);
    const GraphNorms norms(at.graph);
    const Vector plain = coupling.costs(DrawUse::Statistic, 500);
    const Vector raised = coupling.proven_costs(DrawUse::Statistic, 500, norms);
    EXPECT_TRUE((raised.array() >= plain.array()).all());
    EXPECT_LE((raised - plain).maxCoeff(), 1e-6 * (1.0 + plain.maxCoeff()));
    const SimulatedBound bound = coupling.bound(norms);
    ASSERT_TRUE(bound.gap.empty()) << bound.gap;
    EXPECT_GE(bound.w2, 0.9 * std::sqrt(plain.mean()));
  }
}

}  // namespace graph_joins_test
}  // namespace mixcert::testing

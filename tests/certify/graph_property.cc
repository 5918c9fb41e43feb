// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums, concatenations, values that several layers see and heads, dense and convolutional: formal bounds of
// the graph of operators (O.15) and of its canonical form (O.18), by methods moment and signature, may not be
// below Gelbrich's lower bound, nor, for one output, below the distance by sorting.
#include "certify/graph_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "methods/graph/graph_chain.h"
#include "mixcert/certify/certify.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/matchers.h"
#include "support/random_graphs.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

struct GraphSummary {
  Index bounds = 0;
  double smallest_ratio = std::numeric_limits<double>::infinity();
};

void check_distance(double w2, const GaussianMixture& mixture, const Matrix& samples, GraphSummary& summary) {
  EXPECT_TRUE(std::isfinite(w2));
  const double lower = gelbrich_lower_bound(samples, mixture, 17, 0).lower;
  EXPECT_GE(w2, lower);
  if (lower > 0.0) summary.smallest_ratio = std::min(summary.smallest_ratio, w2 / lower);
  ++summary.bounds;
  if (samples.rows() != 1 || mixture.standard_deviation()(0) == 0.0) return;
  const EmpiricalDistance estimate = empirical_distance(samples, mixture, 19, 0);
  EXPECT_GE(w2, estimate.distance - 3.0 * estimate.floor);
}

void check_graph(std::uint64_t seed, Index samples, GraphSummary& summary) {
  const double noise = std::pow(10.0, -0.25 * static_cast<double>(seed % 7));
  const auto [layers, shape] = random_graph(seed, seed % 2 == 1, noise);
  const Network network = build_network(layers);
  ASSERT_NE(network.graph(), nullptr);
  Generator generator = make_generator(seed, Stream::Example, 3030);
  const Vector input = 0.7 * random_vector(generator, shape.size());
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 7;
  simulation.threads = 1;
  const Ensemble ensemble({network}, Vector::Ones(1));
  const Matrix drawn = simulate(ensemble, input, 0, simulation);
  const Network::Features features = network.features(input);
  for (const Index most_dense : {3000, 0}) {
    const GraphChain::Bound bound = GraphChain(*network.graph(), {.most_dense = most_dense})
                                        .certify(features.values.col(0), features.errors(0));
    check_distance(bound.w2, GaussianMixture(bound.gaussian), drawn, summary);
  }
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  for (const Method method : {Method::Moment, Method::Signature, Method::Auto}) {
    Options options;
    options.threads = 1;
    options.method = method;
    const Result result = certify(ensemble, input, options, services).front();
    ASSERT_TRUE(result.w2.exists());
    check_distance(result.w2.value, result.mixture, drawn, summary);
  }
}

}  // namespace

void check_graphs(Index graphs, Index samples) {
  GraphSummary summary;
  for (Index i = 0; i < graphs && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    check_graph(static_cast<std::uint64_t>(i), samples, summary);
  }
  std::printf("graphs: %td of them, %td bounds, %td samples each; smallest bound / lower bound %.4g\n",
              graphs, summary.bounds, samples, summary.smallest_ratio);
}

}  // namespace mixcert::testing

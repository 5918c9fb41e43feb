// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sums, concatenations, values that several layers see and heads, dense and convolutional, with every
// activation, mask and law of weights. Samples must have the moments of draws by the definitions of the
// layers; formal bounds of the graph of operators (O.15) and of its canonical form (O.18), by methods moment
// and signature, may not be below Gelbrich's lower bound, nor, for one output, below the distance by sorting,
// nor, without further theorems, below the cost of the simulated coupling (C.3).
#include "certify/graph_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "bits/digest.h"
#include "methods/graph/graph_chain.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "statistics/sample_statistics.h"
#include "support/matchers.h"
#include "support/naive_draw.h"
#include "support/random_graphs.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace {

constexpr GraphParts kParts[] = {GraphParts::Plain, GraphParts::Operators, GraphParts::AnyLaw};

struct GraphSummary {
  Index samples = 0;  ///< graphs that can be drawn
  Index bounds = 0, couplings = 0;
  Index refused_networks = 0, refused_bounds = 0;
  double smallest_ratio = std::numeric_limits<double>::infinity();
  double smallest_coupled = std::numeric_limits<double>::infinity();
};

/// The sentence of what throws InvalidArgument; empty where nothing does.
template <class Work>
std::string refusal(Work work) {
  try {
    work();
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

/// What (O.19) says that has no canonical form, and nothing else.
void expect_known_refusal(const std::string& sentence) {
  const bool is_known =
      sentence.find("which have no canonical form where other values pass the layer") != std::string::npos ||
      sentence.find("drops a part of what later layers see") != std::string::npos ||
      sentence.find("drops whole channels") != std::string::npos;
  EXPECT_TRUE(is_known) << sentence;
}

void check_distance(double w2, const GaussianMixture& mixture, const Matrix& samples, GraphSummary& summary) {
  EXPECT_TRUE(std::isfinite(w2));
  const double lower = gelbrich_lower_bound(samples, mixture, 17, 0).lower;
  EXPECT_GE(w2, lower);
  if (lower > 0.0) summary.smallest_ratio = std::min(summary.smallest_ratio, w2 / lower);
  ++summary.bounds;
  if (samples.rows() != 1 || mixture.standard_deviation()(0) == 0.0) return;
  // Two samples of a law with far modes differ by the root of how many fell into each, which may be nothing.
  double floor = 0.0;
  for (std::uint64_t seed = 20; seed < 28; ++seed)
    floor = std::max(floor, empirical_distance(samples, mixture, seed, 0).floor);
  EXPECT_GE(w2, empirical_distance(samples, mixture, 19, 0).distance - 3.0 * floor);
}

/// The mean cost of the coupling that a bound without further theorems speaks of, less its margin.
void check_coupling(const Result& result, GraphSummary& summary) {
  const TwoSidedStatistics& statistics = *result.statistics;
  if (std::isnan(statistics.coupled_cost)) return;
  const double square = statistics.coupled_cost * statistics.coupled_cost;
  const double least = 2.0 * square - statistics.w2_upper_statistical * statistics.w2_upper_statistical;
  EXPECT_GE(result.w2.value, std::sqrt(std::max(0.0, least)));
  ++summary.couplings;
  if (least > 0.0)
    summary.smallest_coupled = std::min(summary.smallest_coupled, result.w2.value / statistics.coupled_cost);
}

struct TestedGraph {
  Ensemble ensemble;
  Vector input;
  Matrix drawn;  ///< of its output
};

void check_graph_bounds(const TestedGraph& tested, GraphSummary& summary) {
  const Network& network = tested.ensemble.member(0);
  if (tested.ensemble.size() > 1 || network.graph() == nullptr) return;
  if (!graph_chain_refusal(*network.graph()).empty()) return;
  const Network::Features features = network.features(tested.input);
  for (const Index most_dense : {3000, 0}) {
    const GraphChain::Bound bound = GraphChain(*network.graph(), {.most_dense = most_dense})
                                        .certify(features.values.col(0), features.errors(0));
    check_distance(bound.w2, GaussianMixture(bound.gaussian), tested.drawn, summary);
  }
}

Services all_services() {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  services.statistics = statistics_service();
  services.ensemble_statistics = ensemble_statistics_service();
  return services;
}

void check_methods(const TestedGraph& tested, GraphSummary& summary) {
  const Services services = all_services();
  for (const Method method : {Method::Moment, Method::Signature, Method::Auto}) {
    Options options;
    options.threads = 1;
    options.method = method;
    if (method == Method::Moment) {
      options.theorems = TheoremSet::Coupling;
      options.statistics = tested.drawn.cols() / 10;
    }
    std::vector<Result> results;
    const std::string refused =
        refusal([&] { results = certify(tested.ensemble, tested.input, options, services); });
    if (!refused.empty()) {
      expect_known_refusal(refused);
      ++summary.refused_bounds;
      continue;
    }
    const Result& result = results.front();
    ASSERT_TRUE(result.w2.exists());
    check_distance(result.w2.value, result.mixture, tested.drawn, summary);
    if (method == Method::Moment) check_coupling(result, summary);
  }
}

void check_graph(std::uint64_t seed, Index samples, GraphSummary& summary) {
  const double noise = std::pow(10.0, -0.25 * static_cast<double>(seed % 7));
  const auto [layers, shape] = random_graph(seed, seed % 2 == 1, noise, kParts[seed / 2 % 3]);
  std::optional<Ensemble> ensemble;
  const std::string refused = refusal([&, &list = layers] { ensemble = build_ensemble(list); });
  if (!refused.empty()) {
    expect_known_refusal(refused);
    ++summary.refused_networks;
    return;
  }
  Generator generator = make_generator(seed, Stream::Example, 3030);
  const Vector input = 0.7 * random_vector(generator, shape.size());
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 7;
  simulation.threads = 1;
  const TestedGraph tested{*ensemble, input, simulate(*ensemble, input, 0, simulation)};
  const Matrix naive = naive_samples(layers, shape, input, samples / 10, generator);
  EXPECT_LE(two_sample_z(tested.drawn, naive), kSigmas);
  ++summary.samples;
  check_graph_bounds(tested, summary);
  check_methods(tested, summary);
}

}  // namespace

void check_graphs(Index first, Index graphs, Index samples) {
  GraphSummary summary;
  for (Index i = first; i < first + graphs && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    check_graph(static_cast<std::uint64_t>(i), samples, summary);
  }
  std::printf(
      "graphs: %td of them, %td drawn with %td samples each, %td without a canonical form; %td bounds, %td "
      "more "
      "refused; smallest bound / lower bound %.4g, / cost of %td couplings %.4g\n",
      graphs, summary.samples, samples, summary.refused_networks, summary.bounds, summary.refused_bounds,
      summary.smallest_ratio, summary.couplings, summary.smallest_coupled);
  // Most graphs are taken, whatever is in them.
  EXPECT_GE(10 * summary.samples, 8 * graphs);
}

void check_chains(Index chains, Index samples) {
  const Services services = all_services();
  Index compared = 0;
  for (Index i = 0; i < chains; ++i) {
    SCOPED_TRACE("chain " + std::to_string(i));
    const auto seed = static_cast<std::uint64_t>(i);
    const auto [layers, shape] = random_chain(seed, seed % 2 == 1, 0.3, kParts[seed / 2 % 3]);
    const std::vector<LayerSpec>* forms[] = {&layers, nullptr};
    const std::vector<LayerSpec> graph = written_as_graph(layers);
    forms[1] = &graph;
    Generator generator = make_generator(seed, Stream::Example, 3031);
    const Vector input = random_vector(generator, shape.size());
    // Values, refusals and samples of both forms.
    std::vector<std::uint64_t> prints[2];
    for (const int form : {0, 1}) {
      const auto add = [&](auto compute) {
        Digest digest;
        const std::string refused = refusal([&] { compute(digest); });
        digest.add(std::string_view(refused));
        if (refused.empty()) ++compared;
        prints[form].push_back(digest.value());
      };
      std::optional<Ensemble> ensemble;
      add([&](Digest&) { ensemble = build_ensemble(*forms[form]); });
      if (!ensemble) continue;
      add([&](Digest& digest) { digest.add(simulate(*ensemble, input, 0, {samples, 3, 1})); });
      for (const Method method : {Method::Moment, Method::Signature, Method::Auto}) {
        Options options;
        options.threads = 1;
        options.method = method;
        add([&](Digest& digest) { digest.add(certify(*ensemble, input, options, services).front()); });
      }
    }
    EXPECT_EQ(prints[0], prints[1]);
  }
  EXPECT_GE(compared, 6 * chains);  // most have all five, twice
}

}  // namespace mixcert::testing

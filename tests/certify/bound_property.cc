// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lower bounds come from Monte Carlo samples of the network; seeds are fixed, so a failure is
// reproduced by the number of its case.
#include "certify/bound_property.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "certificate/certificate.h"
#include "methods/signature/plan/signature_plan.h"
#include "methods/signature/signature_certificate.h"
#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "support/matchers.h"
#include "support/random_network.h"

namespace mixcert::testing {
namespace {

template <typename T>
T pick(Generator& generator, const std::vector<T>& choices) {
  return choices[static_cast<std::size_t>(generator() % choices.size())];
}

double log_uniform(Generator& generator, double low, double high) {
  return low * std::pow(high / low, uniform(generator));
}

/// Families that may be mixed in one network, and the width they can afford.
struct FamilyGroup {
  std::vector<WeightFamily> families;
  Index widest;
};

const std::vector<FamilyGroup>& family_groups() {
  static const std::vector<FamilyGroup> groups = {
      {{WeightFamily::MeanField, WeightFamily::MeanField, WeightFamily::Deterministic}, 64},
      {{WeightFamily::Kronecker, WeightFamily::KroneckerEigenbasis, WeightFamily::LowRank}, 24},
      {{WeightFamily::Full, WeightFamily::Joint, WeightFamily::MeanField}, 12}};
  return groups;
}

Network property_network(Generator& generator, const FamilyGroup& group, Index hidden_layers, Index widest) {
  const auto width = [&](Index most) {
    return 1 + static_cast<Index>(generator() % static_cast<std::uint64_t>(most));
  };
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  Index inputs = width(std::min<Index>(8, widest));
  const double mean_scale = log_uniform(generator, 0.3, 3.0);
  for (Index k = 0; k <= hidden_layers; ++k) {
    LayerRecipe recipe;
    recipe.weights = k == 0 && group.widest == 64 ? WeightFamily::MeanField : pick(generator, group.families);
    recipe.bias = pick(generator, all_bias_families());
    recipe.inputs = inputs;
    recipe.outputs = width(k == hidden_layers ? 4 : widest);
    recipe.mean_scale = mean_scale;
    recipe.deviation = log_uniform(generator, 0.03, 3.0);
    layers.push_back(random_layer(generator, recipe, std::to_string(k)));
    const bool raw_input = k == 0 && generator() % 8 != 0;
    activations.emplace_back(
        Activation(raw_input ? ActivationFunction::Identity : pick(generator, all_activation_functions()),
                   pick<double>(generator, {0.1, -0.5, 1.5})));
    inputs = recipe.outputs;
  }
  return {std::move(layers), std::move(activations)};
}

double rounding_allowance(const Result& result, const Certificate& certificate) {
  double gain = 1.0;
  for (const LayerTerms& layer : certificate.layers) gain = std::max(gain, layer.gain);
  return 1e-4 * certificate.w2.nominal + 1e-6 * gain * (1.0 + std::sqrt(result.mixture.second_moment()));
}

/// |mean(p) - mean(q)| <= W1, the mean of p known to six standard errors.
void check_means(const Matrix& samples, const Result& result) {
  const Vector mean = samples.rowwise().mean();
  const double variance = (samples.colwise() - mean).squaredNorm() / static_cast<double>(samples.cols());
  const double error = Tolerance::standard_errors * std::sqrt(variance / static_cast<double>(samples.cols()));
  EXPECT_LE((mean - result.mixture.mean()).norm() - error, result.w1.value);
}

SizePlanner fixed_sizes(const Options& options) {
  return [sizes = LayerSizes{options.components, options.signature_size}](Index, const GaussianMixture&) {
    return sizes;
  };
}

}  // namespace

Services transport_services() {
  Services services;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

PropertyCase property_case(std::uint64_t index) {
  Generator generator = make_generator(index, Stream::Example, 2026);
  const FamilyGroup& group = family_groups()[index % family_groups().size()];
  const Index hidden_layers = 1 + static_cast<Index>((index / 3) % 3);
  Options options;
  options.method = Method::Signature;
  options.joint = generator() % 3 == 0;
  const Index widest = options.joint ? std::min<Index>(group.widest, 16) : group.widest;
  Network network = property_network(generator, group, hidden_layers, widest);
  const Index input_count = options.joint ? 2 + static_cast<Index>(generator() % 4) : 1;
  options.certificate =
      pick(generator, std::vector<CertificateMode>{CertificateMode::Best, CertificateMode::Metric,
                                                   CertificateMode::Expected, CertificateMode::Paper});
  options.grid = generator() % 4 == 0 ? GridPlacement::Uniform : GridPlacement::Adaptive;
  options.components = pick<Index>(generator, {0, 1, 3, 8});
  const Index most_points = options.components == 0 && hidden_layers > 1 ? (hidden_layers == 2 ? 16 : 6) : 64;
  options.signature_size = 1 + static_cast<Index>(generator() % static_cast<std::uint64_t>(most_points));
  options.threads = 1;
  Matrix inputs = log_uniform(generator, 0.3, 3.0) * random_matrix(generator, network.inputs(), input_count);
  return {std::move(network), std::move(inputs), options};
}

void check_against_simulation(const PropertyCase& tested, Index samples, PropertySummary& summary) {
  const Result result =
      std::move(certify(tested.network, tested.inputs, tested.options, transport_services()).front());
  ASSERT_TRUE(std::isfinite(result.w2.value));
  EXPECT_TRUE(is_valid_mixture(result.mixture));
  EXPECT_LE(result.w1.value, result.w2.value);
  SimulationOptions simulation;
  simulation.samples = samples;
  simulation.seed = 7;
  simulation.threads = 1;
  const Matrix drawn = tested.options.joint ? simulate_joint(tested.network, tested.inputs, simulation)
                                            : simulate(tested.network, tested.inputs.col(0), 0, simulation);
  const double lower = gelbrich_lower_bound(drawn, result.mixture, 11, 0).lower;
  EXPECT_GE(result.w2.value, lower);
  if (lower > 0.0) {
    summary.smallest_ratio = std::min(summary.smallest_ratio, result.w2.value / lower);
    ++summary.ratios;
  }
  check_means(drawn, result);
  if (drawn.rows() == 1) {
    // Three floors: the noise of the two samples may add up to more than one.
    const EmpiricalDistance estimate = empirical_distance(drawn, result.mixture, 13, 0);
    EXPECT_GE(result.w2.value, estimate.distance - 3.0 * estimate.floor);
  }
  ++summary.networks;
  summary.joint += tested.options.joint ? 1 : 0;
  summary.compressed += tested.options.components > 0 && tested.network.hidden_count() > 1 ? 1 : 0;
}

void check_forms_on_one_trace(const PropertyCase& tested, PropertySummary& summary) {
  const Sensitivity sensitivity = analyse_sensitivity(tested.network);
  const Sealed<SignatureTrace> trace = propagate(tested.network, tested.inputs, sensitivity, tested.options,
                                                 fixed_sizes(tested.options), transport_services());
  Result result;
  result.mixture = trace->output;
  std::vector<Certificate> certificates;
  for (const CertificateForm form :
       {CertificateForm::Metric, CertificateForm::Expected, CertificateForm::Paper}) {
    certificates.push_back(evaluate_signature_certificate(tested.network, sensitivity, trace, form));
    const Certificate& certificate = certificates.back();
    EXPECT_GE(certificate.w2.value, certificate.w2.nominal);
    EXPECT_GE(certificate.w1.value, certificate.w1.nominal);
    EXPECT_LE(certificate.w1.value, certificate.w2.value);
    const double slack = certificate.w2.value - certificate.w2.nominal;
    EXPECT_LE(slack, rounding_allowance(result, certificate));
    if (certificate.w2.nominal > 1e-3) {
      summary.largest_inflation = std::max(summary.largest_inflation, slack / certificate.w2.nominal);
    }
  }
  // Values with slack for rounding may cross where two forms have the same constants.
  for (std::size_t i = 0; i + 1 < certificates.size(); ++i) {
    EXPECT_LE(certificates[i].w2.nominal, certificates[i + 1].w2.nominal * (1.0 + 1e-12));
    EXPECT_LE(certificates[i].w2.value, certificates[i + 1].w2.value * (1.0 + 1e-8));
  }
}

void check_growing_signatures(const PropertyCase& tested, Index most_points, PropertySummary& summary) {
  Options options = tested.options;
  const Index hidden_layers = tested.network.hidden_count();
  if (hidden_layers > 1 && options.components == 0) options.components = 8;
  double last = std::numeric_limits<double>::infinity();
  // One hidden layer: every N, since by (S.6) more points never hurt. Deeper: doublings, counted.
  for (Index points = 1; points <= (hidden_layers == 1 ? 64 : most_points);
       points += hidden_layers == 1 ? 1 : points) {
    options.signature_size = points;
    const double bound =
        certify(tested.network, tested.inputs, options, transport_services()).front().w2.nominal;
    if (hidden_layers == 1) {
      EXPECT_LE(bound, last * (1.0 + 1e-9)) << "N = " << points;
      ++summary.shallow_steps;
      summary.shallow_rises += bound > last * (1.0 + 1e-9) ? 1 : 0;
    } else if (points > 1) {
      ++summary.deep_steps;
      summary.deep_falls += bound <= last * (1.0 + 1e-12) ? 1 : 0;
    }
    last = bound;
  }
}

void check_properties(Index networks, Index samples) {
  if (const char* wanted = std::getenv("MIXCERT_PROPERTY_NETWORKS")) networks = std::atol(wanted);
  PropertySummary summary;
  for (Index i = 0; i < networks; ++i) {
    const PropertyCase tested = property_case(static_cast<std::uint64_t>(i));
    SCOPED_TRACE("case " + std::to_string(i) + ", K = " + std::to_string(tested.network.hidden_count()) +
                 ", " + std::string(to_string(tested.options.certificate)) +
                 ", N = " + std::to_string(tested.options.signature_size) + ", M = " +
                 std::to_string(tested.options.components) + (tested.options.joint ? ", joint" : ""));
    try {
      check_against_simulation(tested, samples, summary);
      check_forms_on_one_trace(tested, summary);
      check_growing_signatures(tested, samples > 50000 ? 64 : 16, summary);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::printf(
      "properties: %td networks (%td joint, %td compressed), %td samples each; smallest bound / lower bound "
      "%.4g over %td positive lower bounds; largest rounding slack %.2g of the bound; K = 1: %td rises in "
      "%td "
      "steps of N; K >= 2: bound fell in %td of %td doublings of N\n",
      summary.networks, summary.joint, summary.compressed, samples, summary.smallest_ratio, summary.ratios,
      summary.largest_inflation, summary.shallow_rises, summary.shallow_steps, summary.deep_falls,
      summary.deep_steps);
}

}  // namespace mixcert::testing

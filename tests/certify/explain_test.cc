// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Bounds taken apart (X.1) - (X.4): amounts add up to the bound for every method and kind of network, those
// of one neuron are the formula's, written here from its definition; and trials of other options.
#include "mixcert/certify/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "certify/small_networks.h"
#include "mixcert/certify/trial.h"
#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert::testing {
namespace explain_test {

const Contribution* part_of(const LayerContributions& layer, Source source) {
  for (const Contribution& part : layer.parts) {
    if (part.source == source) return &part;
  }
  return nullptr;
}

double normal_mean(const std::function<double(double)>& f) {
  double sum = 0.0;
  for (int i = -12000; i <= 12000; ++i) {
    const double x = 1e-3 * i;
    sum += f(x) * std::exp(-0.5 * x * x);
  }
  return sum * 1e-3 / std::sqrt(2.0 * M_PI);
}

/// tanh(m + s x): the numbers of (H.1) and (H.2), by their definitions.
struct NaiveNeuron {
  double p, q, t, second, e, w;

  NaiveNeuron(double m, double s) {
    const auto a = [=](double x) { return std::tanh(m + s * x); };
    const double mean = normal_mean(a);
    const double c1 = normal_mean([=](double x) { return a(x) * x; });
    const double variance = normal_mean([=](double x) { return (a(x) - mean) * (a(x) - mean); });
    p = c1 - std::copysign(std::sqrt(variance), c1);
    q = normal_mean([=](double x) { return a(x) * (x * x - 1.0) / std::sqrt(2.0); });
    t = std::sqrt(variance - c1 * c1 - q * q);
    second = normal_mean([=](double x) { return a(x) * a(x); });
    e = normal_mean([=](double x) { return a(x) * a(x) * x; });
    const double fourth = normal_mean([=](double x) { return std::pow(a(x), 4); });
    w = std::sqrt(fourth - second * second - e * e);
  }
};

TEST(Explain, ANeuronsAmountIsTheFormula) {
  const Vector mean = (Vector(3) << 0.4, -0.7, 0.1).finished();
  const Matrix covariance = (Matrix(3, 3) << 0.5, 0.2, -0.1, 0.2, 0.8, 0.3, -0.1, 0.3, 0.6).finished();
  const Matrix m = (Matrix(2, 3) << 1.0, -0.5, 0.3, 0.2, 0.7, -1.1).finished();
  const Matrix v = (Matrix(2, 3) << 0.1, 0.3, 0.05, 0.2, 0.02, 0.15).finished();
  const Vector beta = (Vector(2) << 0.01, 0.2).finished();
  const DenseLayer first("first", Matrix::Zero(3, 1), mean, DeterministicWeights{},
                         CorrelatedBias{covariance});
  const Network network =
      network_of({first, mean_field_layer(m, v, Vector::Zero(2), beta)}, ActivationFunction::Tanh);
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  const Explanation explanation = explain(Ensemble(network), Vector::Zero(1), options);

  std::vector<NaiveNeuron> neurons;
  for (Index j = 0; j < 3; ++j) neurons.emplace_back(mean(j), std::sqrt(covariance(j, j)));
  const auto r = [&](Index i, Index j) {
    return covariance(i, j) / std::sqrt(covariance(i, i) * covariance(j, j));
  };
  const Matrix b = m.transpose() * m;
  Vector signal = Vector::Zero(3);
  Vector noise(2);
  Matrix variance = Matrix::Zero(2, 3);
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < 3; ++i) {
      const NaiveNeuron& x = neurons[static_cast<std::size_t>(i)];
      const NaiveNeuron& y = neurons[static_cast<std::size_t>(j)];
      signal(j) += b(i, j) * (x.p * y.p * r(i, j) + x.q * y.q * r(i, j) * r(i, j)) +
                   std::abs(b(i, j)) * std::pow(std::abs(r(i, j)), 3) * x.t * y.t;
      for (Index l = 0; l < 2; ++l) {
        variance(l, j) += v(l, i) * v(l, j) * (x.e * y.e * r(i, j) + r(i, j) * r(i, j) * x.w * y.w);
      }
    }
  }
  for (Index l = 0; l < 2; ++l) {
    double mean_square = beta(l);
    for (Index j = 0; j < 3; ++j) mean_square += v(l, j) * neurons[static_cast<std::size_t>(j)].second;
    const double var = variance.row(l).sum();
    noise(l) = std::min(var / std::pow(std::sqrt(mean_square) + std::sqrt(beta(l)), 2),
                        2.0 * mean_square * (1.0 - 1.0 / std::sqrt(1.0 + var / (mean_square * mean_square))));
  }
  const double root = std::sqrt(signal.sum() + noise.sum());
  ASSERT_EQ(explanation.contributions.layers.size(), 1U);
  const LayerContributions& layer = explanation.contributions.layers[0];
  const Contribution* activations = part_of(layer, Source::Activations);
  const Contribution* weights = part_of(layer, Source::WeightNoise);
  ASSERT_NE(activations, nullptr);
  ASSERT_NE(weights, nullptr);
  EXPECT_NEAR(activations->amount + weights->amount, root, 1e-7 * root);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(activations->neurons(j), signal(j) / root, 1e-7 * root) << j;
    double part = 0.0;
    for (Index l = 0; l < 2; ++l) part += noise(l) * variance(l, j) / variance.row(l).sum();
    EXPECT_NEAR(weights->neurons(j), part / root, 1e-7 * root) << j;
  }
  for (Index l = 0; l < 2; ++l) EXPECT_NEAR(weights->outputs(l), noise(l) / root, 1e-7 * root) << l;
}

Network random_member(WeightFamily family, std::uint64_t seed = 5) {
  NetworkRecipe recipe;
  recipe.widths = {3, 9, 7, 2};
  recipe.weights = family;
  recipe.seed = seed;
  return random_network(recipe);
}

struct Case {
  std::string name;
  std::function<Network()> network;
  std::function<void(Options&)> change;
  std::vector<Source> expected;  ///< must have amounts somewhere
};

class AmountsAddUp : public ::testing::TestWithParam<Case> {};

TEST_P(AmountsAddUp, ToTheBound) {
  const Network network = GetParam().network();
  Options options;
  GetParam().change(options);
  Generator generator = make_generator(7, Stream::Example);
  const Matrix inputs = random_matrix(generator, 3, options.joint ? 3 : 1);
  const Explanation explanation = explain(Ensemble(network), inputs, options);
  const BoundContributions& all = explanation.contributions;
  const Result result = certify(network, inputs, options).front();
  EXPECT_EQ(all.bound, result.w2.value);
  EXPECT_EQ(explanation.result.w2.value, result.w2.value);
  double sum = all.first;
  std::vector<Source> seen;
  for (std::size_t k = 0; k < all.layers.size(); ++k) {
    const LayerContributions& layer = all.layers[k];
    EXPECT_NEAR(layer.total, result.layers[k].compression + result.layers[k].local, 1e-12 * layer.total);
    double parts = 0.0;
    for (const Contribution& part : layer.parts) {
      parts += part.amount;
      seen.push_back(part.source);
      for (const Vector& amounts : {part.neurons, part.outputs}) {
        const double by_neuron = amounts.size() > 0 ? amounts.sum() : part.amount;
        EXPECT_NEAR(by_neuron, part.amount, 1e-9 * layer.total);
      }
    }
    EXPECT_NEAR(parts, layer.total, 1e-12 * layer.total);
    // The rest is called rounding: it must not hide anything else.
    if (const Contribution* rounding = part_of(layer, Source::Rounding)) {
      EXPECT_LT(std::abs(rounding->amount), 1e-3 * layer.total);
    }
    const Contribution* activations = part_of(layer, Source::Activations);
    if (layer.directions.size() > 0 && activations != nullptr) {
      EXPECT_NEAR(layer.directions.sum(), activations->amount, 1e-9 * layer.total);
      EXPECT_GE(layer.directions.minCoeff(), -1e-9 * layer.total);
    }
    sum += layer.total;
  }
  EXPECT_NEAR(sum, all.bound, 1e-12 * all.bound);
  for (const Source source : GetParam().expected) {
    EXPECT_NE(std::find(seen.begin(), seen.end(), source), seen.end()) << to_string(source);
  }
}

Network mean_field() { return random_member(WeightFamily::MeanField); }
Network dropout() { return with_masks(mean_field(), {Mask(), Mask::bernoulli(0.3), Mask::bernoulli(0.1)}); }
Network laplace() {
  std::vector<DenseLayer> layers;
  const Network network = mean_field();
  for (Index k = 0; k < network.layer_count(); ++k) {
    const DenseLayer& layer = network.layer(k);
    MeanFieldWeights weights = std::get<MeanFieldWeights>(layer.weights());
    weights.law = EntryLaw(EntryLaw::Family::Laplace);
    layers.emplace_back(layer.name(), layer.weight_mean(), layer.bias_mean(), std::move(weights),
                        layer.bias());
  }
  return network_of(std::move(layers), ActivationFunction::Relu);
}

/// Two activations behind convolutions: certified as a graph.
Network convolutions() {
  Generator generator = make_generator(1, Stream::Example, 4101);
  const LayerShape shape{1, {1, 3}, true};
  return build_network({same_convolution(generator, shape, true), activation_spec(ActivationFunction::Relu),
                        same_convolution(generator, shape, true), activation_spec(ActivationFunction::Relu),
                        FlattenSpec{},
                        DenseSpec{DenseLayer("sum", Matrix::Ones(1, 3), Vector::Zero(1),
                                             DeterministicWeights{}, DeterministicBias{})}});
}

INSTANTIATE_TEST_SUITE_P(
    All, AmountsAddUp,
    ::testing::Values(
        Case{"Moment",
             mean_field,
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
             },
             {Source::Activations, Source::WeightNoise}},
        Case{"Pieces",
             mean_field,
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
               o.pieces = 6;
             },
             {Source::Activations, Source::WeightNoise}},
        Case{"Kronecker",
             [] { return random_member(WeightFamily::Kronecker); },
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
             },
             {Source::Activations, Source::WeightNoise}},
        Case{"LowRank",
             [] { return random_member(WeightFamily::LowRank); },
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
             },
             {Source::Activations, Source::CorrelatedNoise}},
        Case{"Dropout",
             dropout,
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
               o.pieces = 4;
             },
             {Source::Masks}},
        Case{"Laplace",
             laplace,
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
             },
             {Source::ReplacedWeights}},
        Case{"ConvexNoise",  // both layers by (Y.27)
             laplace,
             [](Options& o) { o.method = Method::Auto; },
             {Source::Activations, Source::WeightNoise, Source::ReplacedWeights}},
        Case{"Graph", convolutions, [](Options&) {}, {Source::Activations, Source::WeightNoise}},
        Case{"JointMoment",
             mean_field,
             [](Options& o) {
               o.method = Method::Moment;
               o.theorems = TheoremSet::Coupling;
               o.joint = true;
             },
             {Source::Activations, Source::WeightNoise}},
        Case{"Signature",
             mean_field,
             [](Options& o) { o.method = Method::Signature; },
             {Source::Activations, Source::Compression}},
        Case{"SignatureExpected",
             mean_field,
             [](Options& o) {
               o.method = Method::Signature;
               o.certificate = CertificateMode::Expected;
             },
             {Source::Activations, Source::Compression}},
        Case{"SignatureDropout", dropout, [](Options& o) { o.method = Method::Signature; }, {Source::Masks}},
        Case{"SignatureLaplace",
             laplace,
             [](Options& o) { o.method = Method::Signature; },
             {Source::ReplacedWeights}},
        Case{"JointSignature",
             [] { return random_member(WeightFamily::Full); },
             [](Options& o) {
               o.method = Method::Signature;
               o.joint = true;
             },
             {Source::Activations}}),
    [](const auto& test) { return test.param.name; });

TEST(Explain, NetworksOfAnEnsembleAddUp) {
  const Ensemble ensemble(
      {random_member(WeightFamily::MeanField, 1), random_member(WeightFamily::MeanField, 2)},
      (Vector(2) << 0.3, 0.7).finished());
  const Vector input = Vector::Constant(3, 0.5);
  const Explanation explanation = explain(ensemble, input, {});
  ASSERT_EQ(explanation.members.size(), 2U);
  EXPECT_NEAR(explanation.members[0] + explanation.members[1], explanation.result.w2.value,
              1e-9 * explanation.result.w2.value);
  const auto at = static_cast<std::size_t>(explanation.member);
  EXPECT_EQ(explanation.members[at],
            *std::max_element(explanation.members.begin(), explanation.members.end()));
  EXPECT_EQ(explanation.contributions.bound,
            certify(ensemble.member(explanation.member), input, Options{}).front().w2.value);
  EXPECT_EQ(explanation.result.w2.value, certify(ensemble, input, Options{}).front().w2.value);
}

TEST(Explain, RefusesWhatHasNoBound) {
  Options options;
  options.method = Method::Cross;
  EXPECT_THROW(explain(Ensemble(mean_field()), Vector::Zero(3), options), InvalidArgument);
  EXPECT_THROW(explain(Ensemble(mean_field()), Matrix::Zero(3, 2), Options{}), InvalidArgument);
}

TEST(Explain, NetworksOfAnEnsembleOfGraphsAddUp) {
  const Network network = convolutions();
  const Ensemble ensemble({network, network}, (Vector(2) << 0.3, 0.7).finished());
  const Explanation explanation = explain(ensemble, Vector::Ones(3), Options{});
  EXPECT_EQ(explanation.member, 1);
  EXPECT_NEAR(explanation.members[0] + explanation.members[1], explanation.result.w2.value,
              1e-9 * explanation.result.w2.value);
  ASSERT_EQ(explanation.contributions.layers.size(), 2U);
  EXPECT_EQ(explanation.contributions.layers[0].title, "relu");
}

TEST(Trials, CandidatesAreValidAndDiffer) {
  const Vector input = Vector::Constant(3, 0.5);
  for (const Method method : {Method::Auto, Method::Moment, Method::Signature}) {
    for (const bool epsilon : {false, true}) {
      Options options;
      options.method = method;
      if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
      if (epsilon) options.epsilon = 100.0;
      const Result result = certify(mean_field(), input, options).front();
      const std::vector<Options> candidates = candidate_options(options, result);
      EXPECT_GE(candidates.size(), 2U);
      for (const Options& candidate : candidates) {
        EXPECT_NO_THROW(candidate.validate());
        EXPECT_NE(changed_options(options, candidate), "");
      }
    }
  }
}

TEST(Trials, GiveWhatCertifyGives) {
  const Ensemble ensemble(mean_field());
  const Vector input = Vector::Constant(3, 0.5);
  Options options;
  options.method = Method::Signature;
  Options larger = options;
  larger.signature_size = 40;
  larger.joint = true;
  EXPECT_EQ(changed_options(options, larger), "--joint --signature-size 40");
  larger.joint = false;
  const std::vector<Trial> trials = run_trials(ensemble, input, options, {larger}, 100.0);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].change, "");
  EXPECT_EQ(trials[0].w2_bound, certify(ensemble, input, options).front().w2.value);
  EXPECT_EQ(trials[1].w2_bound, certify(ensemble, input, larger).front().w2.value);
  EXPECT_EQ(trials[1].failure, "");
}

TEST(Trials, EndWithTheirTimeAndWithTheUser) {
  const Ensemble ensemble(mean_field());
  const Vector input = Vector::Constant(3, 0.5);
  Options slow;
  slow.method = Method::Moment;
  slow.theorems = TheoremSet::Coupling;
  slow.pieces = 100000;
  const std::vector<Trial> trials = run_trials(ensemble, input, Options{}, {slow, slow}, 0.05);
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials[0].failure, "");
  EXPECT_EQ(trials[1].failure, "the time is up");
  EXPECT_EQ(trials[2].failure, "the time is up");
  const CancelFlag cancel{true};
  Services services;
  services.cancel = &cancel;
  EXPECT_THROW(run_trials(ensemble, input, Options{}, {slow}, 1.0, services), Interrupted);
}

}  // namespace explain_test
}  // namespace mixcert::testing

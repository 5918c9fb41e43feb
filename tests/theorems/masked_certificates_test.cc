// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certificates of masked networks by (D.17) against exact distances: the trace's Gaussians, mixtures with the
// moments of the theorem, leaves of enumerated masks (D.19), a third hidden layer behind, wide layers.
#include "theorems/masked_certificates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "mixcert/certify/certify.h"
#include "support/random_laws.h"
#include "theorems/masked_layers_oracle.h"
#include "theorems/theorem_table.h"

namespace mixcert::testing {
namespace masked_certificates_test {

TEST(MaskedCertificates, OfTheTracesGaussiansAreNotBelowTheTruth) {
  const Compared compared = compare_masked(1, 300, 1, 1);
  EXPECT_GE(compared.used, 150);
  EXPECT_LE(compared.closest, 1.2);
  EXPECT_GE(compared.gained, 1.5);
}

TEST(MaskedCertificates, OfFittedGaussiansAreNotBelowTheTruth) {
  const Compared compared = compare_masked(301, 600, 1, 1000);
  EXPECT_GE(compared.used, 150);
  EXPECT_LE(compared.closest, 1.2);
}

TEST(MaskedCertificates, OfEnumeratedMasksAreNotBelowTheTruth) {
  EXPECT_GE(compare_masked(601, 750, 2, 1).used, 30);
  EXPECT_GE(compare_masked(751, 900, 4, 1000).used, 30);
}

/// Moments of draws, from the definition.
struct DrawnMoments {
  Vector mean, deviations;

  DrawnMoments(const TwoMaskedLayers& net, Index draws) {
    Generator generator = make_generator(3, Stream::Example, 78);
    const auto masked = [&](Vector values, double rate) {
      const Matrix normals = random_matrix(generator, values.size(), 1);
      for (Index j = 0; j < values.size(); ++j)
        values(j) *= 0.5 * std::erfc(-normals(j) / std::sqrt(2.0)) < rate ? 0.0 : 1.0 / (1.0 - rate);
      return values;
    };
    Matrix outputs(net.out_bias.size(), draws);
    for (Index i = 0; i < draws; ++i) {
      const Vector hidden = (net.weight * masked(net.inputs.cwiseMax(0.0), net.first_rate) + net.bias);
      outputs.col(i) = net.out_weight * masked(hidden.cwiseMax(0.0), net.second_rate) + net.out_bias;
    }
    mean = outputs.rowwise().mean();
    deviations =
        ((outputs.colwise() - mean).rowwise().squaredNorm() / static_cast<double>(draws)).cwiseSqrt();
  }
};

/// The Gaussian that `auto` returns has the network's moments; the trace's has not.
TEST(MaskedCertificates, HaveTheNetworksMeansAndDeviations) {
  for (const double rate : {0.5, 0.1}) {
    SCOPED_TRACE(rate);
    Generator generator = make_generator(9, Stream::Example, 77);
    TwoMaskedLayers net;
    const Index n = 32;
    net.inputs = random_matrix(generator, n, 1);
    net.weight = random_matrix(generator, n, n) * std::sqrt(2.0 / static_cast<double>(n));
    net.bias = 0.1 * random_matrix(generator, n, 1);
    net.out_weight = random_matrix(generator, 6, n) / std::sqrt(static_cast<double>(n));
    net.out_bias = Vector::Zero(6);
    net.first_rate = net.second_rate = rate;
    const DrawnMoments drawn(net, 20000);
    Options options;
    options.threads = 1;
    const Result result = certify(net.network(), Vector::Ones(1), options).front();
    EXPECT_EQ(result.layers.back().theorem, "D.17");
    EXPECT_EQ(result.mixture.size(), 1);
    const auto off = [&](const GaussianMixture& mixture) {
      return ((mixture.standard_deviation() - drawn.deviations).cwiseAbs() +
              (mixture.mean() - drawn.mean).cwiseAbs())
          .cwiseQuotient(drawn.deviations)
          .maxCoeff();
    };
    EXPECT_LE(off(result.mixture), 0.035);
    EXPECT_GE(off(MaskedCertificate(net.network(), 1, 1).output), 0.05);
  }
}

/// The first layer's masks are those of 1,200 neurons: lattices keep to their memory, and the bound is
/// smaller.
TEST(MaskedCertificates, WideLayersAreCertified) {
  Generator generator = make_generator(8, Stream::Example, 77);
  TwoMaskedLayers net;
  const Index wide = 1200, narrow = 24;
  net.inputs = random_matrix(generator, wide, 1);
  net.weight = random_matrix(generator, narrow, wide) / std::sqrt(static_cast<double>(wide));
  net.bias = random_matrix(generator, narrow, 1);
  net.out_weight = random_matrix(generator, 2, narrow) / std::sqrt(static_cast<double>(narrow));
  net.out_bias = Vector::Zero(2);
  net.first_rate = net.second_rate = 0.2;
  const MaskedCertificate made(net.network(), 1, 1);
  EXPECT_EQ(made.sharp.layers.front().theorem, "D.17");
  EXPECT_LT(made.sharp.w2.value, 0.8 * made.plain.w2.value);
}

/// The first term is what the second leaves of a bound of both: nobody may lower the second one afterwards.
TEST(MaskedCertificates, TermsThatAreCountedOnStay) {
  TheoremTable theorems = theorem_table();
  Theorem lowers{
      "X.0", "lowers the last term", "", {}, [](const Situation&, Index, Certificate& certificate) {
        return take_smaller({}, "X.0", certificate.layers.back());
      }};
  theorems.push_back(lowers);
  Index used = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MaskedCertificate made(random_masked_layers(seed, 1).network(), 1, 1);
    if (made.sharp.layers.front().theorem != "D.17") continue;
    const ErrorNorms norms = make_error_norms(made.network, SensitivityMode::Closed);
    const Certificate later = sharpened_certificate(theorems, made.network, norms, made.trace, made.plain);
    EXPECT_EQ(later.w2.value, made.sharp.w2.value);
    EXPECT_NE(later.layers.back().theorem, "X.0");
    ++used;
  }
  EXPECT_GE(used, 5);
}

/// As wide as networks of use: both layers at once are about twice as close as a carried term and another.
TEST(MaskedCertificates, BothLayersAtOnceAreHalfOfTheirTerms) {
  for (const double rate : {0.5, 0.1}) {
    Generator generator = make_generator(9, Stream::Example, 78);
    TwoMaskedLayers net;
    net.inputs = std::sqrt(2.0) * random_matrix(generator, 64, 1);
    net.weight = random_matrix(generator, 64, 64) * std::sqrt(2.0 / 64.0);
    net.bias = Vector::Zero(64);
    net.out_weight = random_matrix(generator, 10, 64) / 8.0;
    net.out_bias = Vector::Zero(10);
    net.first_rate = net.second_rate = rate;
    const MaskedCertificate traced(net.network(), 1, 1), fitted(net.network(), 1, 1000);
    EXPECT_GE(traced.plain.w2.value / traced.sharp.w2.value, 1.9) << rate;
    EXPECT_GE(fitted.plain.w2.value / fitted.sharp.w2.value, 2.1) << rate;
  }
}

/// Behind a third hidden layer the theorem is used in the metric of the second.
TEST(MaskedCertificates, ThirdLayersAreNotBelowTheTruth) {
  Index used = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 3);
    const Network two = net.network();
    const Matrix last = Matrix::Ones(1, 3);
    std::vector<DenseLayer> layers{two.layer(0), two.layer(1), two.layer(2)};
    layers.emplace_back("last", last, Vector::Zero(1), DeterministicWeights{}, DeterministicBias{});
    const Activation tanh(ActivationFunction::Tanh);
    const Network three(std::move(layers),
                        {ActivationMap(), two.activation(1), two.activation(2), ActivationMap(tanh)},
                        {Mask(), two.mask(1), two.mask(2), Mask()});
    const MaskedCertificate made(three, 1, 1);
    Patterns law = output_patterns(net);
    law.values = last * tanh.apply(law.values);
    const double exact = line_distance(law, Vector::Ones(1), made.output);
    EXPECT_GE(made.sharp.w2.value, exact * (1.0 - 1e-7));
    if (made.sharp.layers.front().theorem == "D.17") ++used;
  }
  EXPECT_GE(used, 100);
}

/// Squares of outputs of 1e-200 are zero; (R.9) charges what is lost below 1e-44.
TEST(MaskedCertificates, TinyOutputsAreNotBelowTheTruth) {
  Options options;
  options.method = Method::Moment;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const TwoMaskedLayers net = random_masked_layers(seed, 1);
    for (const double size : {1e25, 1e-30, 1e-40, 1e-150, 1e-200}) {
      TwoMaskedLayers scaled_net = net;
      scaled_net.out_weight *= size;
      scaled_net.out_bias *= size;
      const Result result = certify(scaled_net.network(), Matrix::Ones(1, 1), options).front();
      ASSERT_TRUE(result.w2.exists());
      // In units of the output, as squares of 1e-200 are zero.
      Patterns law = output_patterns(scaled_net);
      law.values /= size;
      std::vector<Gaussian> laws;
      for (Index i = 0; i < result.mixture.size(); ++i) {
        const Gaussian& one = result.mixture.component(i);
        laws.push_back({one.mean / size, Covariance::dense(one.covariance.to_dense() / size / size)});
      }
      const GaussianMixture scaled(result.mixture.weights(), std::move(laws));
      EXPECT_GE(result.w2.value / size, line_distance(law, Vector::Ones(1), scaled) * (1.0 - 1e-7)) << size;
    }
  }
}

}  // namespace masked_certificates_test
}  // namespace mixcert::testing

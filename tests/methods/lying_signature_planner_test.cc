// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The same for the signature method and for inputs jointly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "certificate/certificate.h"
#include "methods/bad_choices.h"
#include "methods/joint/joint_certificate.h"
#include "methods/joint/joint_tracer.h"
#include "methods/signature/signature_certificate.h"
#include "methods/signature/signature_trace.h"
#include "mixcert/core/error.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace lying_signature_planner_test {

#define MIXCERT_READ_ONLY(Type, member) \
  static_assert(std::is_const_v<std::remove_reference_t<decltype((std::declval<Sealed<Type>&>()->member))>>)

MIXCERT_READ_ONLY(SignatureTrace, settled);
MIXCERT_READ_ONLY(SignatureTrace, first.norm);
MIXCERT_READ_ONLY(SignatureTrace, first.raise);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].points);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].mask_errors);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].mask_leaves);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].second_moments);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].signatures[0].directions);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].signatures[0].direction_error);
MIXCERT_READ_ONLY(SignatureTrace, layers[0].signatures[0].quantizers);
MIXCERT_READ_ONLY(JointTrace, layers[0].law);
MIXCERT_READ_ONLY(JointTrace, layers[0].surrogate.rest);
MIXCERT_READ_ONLY(JointTrace, layers[0].noise.cost);
MIXCERT_READ_ONLY(JointTrace, layers[0].majorant);

static_assert(!std::is_constructible_v<Sealed<SignatureTrace>, SignatureTrace>);
static_assert(!std::is_constructible_v<Sealed<SignatureLayerTrace>, SignatureLayerTrace>);
static_assert(!std::is_constructible_v<Sealed<JointTrace>, JointTrace>);
static_assert(!std::is_invocable_v<decltype(evaluate_signature_certificate), const Network&,
                                   const Sensitivity&, const SignatureTrace&, CertificateForm>);
static_assert(!std::is_invocable_v<decltype(evaluate_joint_certificate), const Network&, const Sensitivity&,
                                   const ErrorNorms&, const JointTrace&>);

/// Masks that suit any layer.
MaskPointChoices some_masks(const GaussianMixture& mixture) {
  return {Vector::Ones(mixture.dimension()), 40, false};
}

/// Axes along random directions, or along the last coordinates of a diagonal covariance.
GridAxes random_axes(const Covariance& covariance, Generator& generator) {
  GridAxes axes;
  axes.quantizers = {&optimal_quantizer(3), &uniform_quantizer(4)};
  const Index n = covariance.dimension();
  if (covariance.is_diagonal()) {
    axes.coordinates = {n - 1, n - 2};
  } else {
    axes.duals = random_matrix(generator, n, 2);
  }
  return axes;
}

SignatureChoices random_choices(const GaussianMixture& mixture) {
  Generator generator = make_generator(17, Stream::Example);
  SignatureChoices choices;
  if (mixture.size() > 1) {
    choices.reduction =
        merge_components(mixture, std::vector<Index>(static_cast<std::size_t>(mixture.size()), 0));
  }
  const GaussianMixture& reduced = choices.reduction.is_empty() ? mixture : choices.reduction->after;
  for (const Gaussian& component : reduced.components()) {
    choices.grids.push_back(random_axes(component.covariance, generator));
  }
  choices.masks = some_masks(mixture);
  return choices;
}

/// `change` spoils choices that are good; for the first hidden layer.
template <class Change>
void expect_refused(const Network& network, const Change& change) {
  const auto choose = [&](Index, const GaussianMixture& mixture) {
    SignatureChoices choices = random_choices(mixture);
    change(choices);
    return choices;
  };
  EXPECT_THROW(trace_signatures(network, probe(network), {choose}), InvalidArgument);
}

TEST(LyingSignaturePlanner, AnythingThatFitsIsCertified) {
  for (const Network& network : {small_network(Mask()), small_network(Mask::bernoulli(0.2)),
                                 small_network(Mask::gaussian(0.2)), correlated_network()}) {
    for (const bool unperturbed : {false, true}) {
      const auto choose = [&](Index, const GaussianMixture& mixture) {
        SignatureChoices choices = random_choices(mixture);
        choices.masks.unperturbed = unperturbed;
        return choices;
      };
      const Sealed<SignatureTrace> trace = trace_signatures(network, probe(network), {choose});
      const Certificate certificate = evaluate_signature_certificate(network, analyse_sensitivity(network),
                                                                     trace, CertificateForm::Paper);
      EXPECT_GE(certificate.w2.value, proven_distance(network, trace->output));
    }
  }
}

TEST(LyingSignaturePlanner, DirectionsThatAreNoNumbersHaveNoBound) {
  const Network network = correlated_network();
  const auto choose = [](Index, const GaussianMixture& mixture) {
    SignatureChoices choices = random_choices(mixture);
    choices.grids[0].duals.setConstant(std::numeric_limits<double>::quiet_NaN());
    return choices;
  };
  try {
    const Sealed<SignatureTrace> trace = trace_signatures(network, probe(network), {choose});
    const Certificate certificate =
        evaluate_signature_certificate(network, analyse_sensitivity(network), trace, CertificateForm::Metric);
    EXPECT_FALSE(certificate.w2.value < INFINITY);
  } catch (const Error&) {
    SUCCEED();
  }
}

TEST(LyingSignaturePlanner, GridsFitTheirComponents) {
  const Network network = small_network(Mask());
  expect_refused(network, [](SignatureChoices& c) { c.grids.clear(); });
  expect_refused(network, [](SignatureChoices& c) { c.grids.emplace_back(); });
  expect_refused(network, [](SignatureChoices& c) { c.grids[0].coordinates[1] = c.grids[0].coordinates[0]; });
  expect_refused(network, [](SignatureChoices& c) { c.grids[0].coordinates[1] = -1; });
  expect_refused(network, [](SignatureChoices& c) { c.grids[0].coordinates[1] = 1000; });
  expect_refused(network, [](SignatureChoices& c) { c.grids[0].coordinates.pop_back(); });
  expect_refused(network, [](SignatureChoices& c) {
    c.grids[0].coordinates.clear();
    c.grids[0].duals = Matrix::Identity(5, 2);
  });
  const Network correlated = correlated_network();
  expect_refused(correlated, [](SignatureChoices& c) { c.grids[0].duals = Matrix::Ones(2, 2); });
  expect_refused(correlated, [](SignatureChoices& c) { c.grids[0].duals = Matrix::Ones(5, 1); });
  expect_refused(correlated, [](SignatureChoices& c) { c.grids[0].coordinates = {0, 1}; });
}

TEST(LyingSignaturePlanner, QuantizersAreThoseOfTheFamilies) {
  NormalQuantizer own = optimal_quantizer(3);
  own.distortion = UpperBound::exact(0.0);
  for (const Network& network : {small_network(Mask()), correlated_network()}) {
    expect_refused(network, [&](SignatureChoices& c) { c.grids[0].quantizers[0] = &own; });
    expect_refused(network, [](SignatureChoices& c) { c.grids[0].quantizers[0] = nullptr; });
  }
}

TEST(LyingSignaturePlanner, MasksFitTheLayer) {
  const Network network = small_network(Mask::bernoulli(0.2));
  expect_refused(network, [](SignatureChoices& c) { c.masks.weights.resize(0); });
  expect_refused(network, [](SignatureChoices& c) { c.masks.weights.setConstant(INFINITY); });
  // Points left unperturbed cost what the paper's constants say and nothing less (D.6).
  const auto choose = [](Index, const GaussianMixture& mixture) {
    SignatureChoices choices = random_choices(mixture);
    choices.masks.unperturbed = true;
    return choices;
  };
  const Sealed<SignatureTrace> trace = trace_signatures(network, probe(network), {choose});
  EXPECT_THROW(
      evaluate_signature_certificate(network, analyse_sensitivity(network), trace, CertificateForm::Metric),
      InvalidArgument);
}

TEST(LyingSignaturePlanner, ReductionsOfOtherMixturesAreRefused) {
  expect_refused(small_network(Mask()), [](SignatureChoices& c) {
    c.reduction = merge_components(pair_of_gaussians(), {0, 0});
  });
}

}  // namespace lying_signature_planner_test
}  // namespace mixcert::testing

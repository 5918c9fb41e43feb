// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Metric forms and error norms (Z.1) to (Z.5) against differences of the certified forms themselves.
#include <gtest/gtest.h>

#include "gradient/weight_gradient.h"
#include "gradient_checks.h"
#include "mixcert/core/error.h"
#include "mixture/symmetric_eigen.h"
#include "sensitivity/error_norm.h"
#include "support/random_network.h"

namespace mixcert {
namespace error_norm_gradient_cases_test {

using namespace mixcert::testing;

Matrix random_symmetric(Generator& generator, Index n) {
  const Matrix x = random_matrix(generator, n, n);
  return x + x.transpose();
}

Matrix random_second_moment(Generator& generator, Index n) {
  const Matrix x = random_matrix(generator, n + 2, n);
  return x.transpose() * x;
}

Vector random_errors(Generator& generator, Index n) {
  return random_matrix(generator, n, 1).cwiseAbs().array() + 0.2;
}

void expect_form_derivatives(const MetricForm& form, const Matrix& a, const Vector& errors, const Matrix& da,
                             const Vector& de) {
  Generator generator = make_generator(5, Stream::Example, 0);
  const Vector g_bar = random_matrix(generator, a.rows(), 1);
  const MetricGradient gradient = form.pull_back(a, errors, g_bar);
  EXPECT_LE((gradient.a - gradient.a.transpose()).norm(), 1e-14 * gradient.a.norm()) << form.name;
  double expected = gradient.a.cwiseProduct(da).sum();
  double size = gradient.a.norm() * da.norm();
  if (gradient.errors.size() > 0) {
    expected += gradient.errors.dot(de);
    size += gradient.errors.norm() * de.norm();
  }
  const double measured =
      difference([&](double t) { return g_bar.dot(form.form(a + t * da, errors + t * de)); }, 1e-3);
  EXPECT_NEAR(measured, expected, 1e-8 * size) << form.name;
}

TEST(MetricFormGradient, ClosedFormsMatchDifferences) {
  for (std::size_t c = 0; c < 6; ++c) {
    Generator generator = make_generator(c, Stream::Example, 1);
    const Index n = 2 + static_cast<Index>(c);
    const Matrix a = random_second_moment(generator, n);
    Vector errors = random_errors(generator, n);
    if (c == 3) errors(1) = 1e-8;  // below the floor
    const Vector de = (c == 3 ? 1e-9 : 1e-2) * random_matrix(generator, n, 1);
    for (const MetricForm& form : closed_forms()) {
      expect_form_derivatives(form, a, errors, 0.1 * random_symmetric(generator, n), de);
    }
  }
}

TEST(MetricFormGradient, RowsOfZeros) {
  Generator generator = make_generator(1, Stream::Example, 2);
  Matrix a = random_second_moment(generator, 5);
  Matrix da = 0.1 * random_symmetric(generator, 5);
  for (Matrix* x : {&a, &da}) {
    x->row(2).setZero();
    x->col(2).setZero();
  }
  for (const MetricForm& form : closed_forms()) {
    expect_form_derivatives(form, a, random_errors(generator, 5), da, Vector::Zero(5));
  }
}

/// A = 3 I + a rotated rank-two matrix with one double eigenvalue; changes that keep it double.
TEST(MetricFormGradient, EqualEigenvaluesUnderChangesThatKeepThem) {
  Generator generator = make_generator(1, Stream::Example, 3);
  const Matrix basis = symmetric_eigen(random_symmetric(generator, 5)).vectors;
  Vector values(5);
  values << 1.0, 2.0, 3.0, 7.0, 7.0;
  Vector slopes(5);
  slopes << 0.3, -0.2, 0.1, 0.4, 0.4;
  const Matrix a = basis * values.asDiagonal() * basis.transpose();
  const Matrix da = basis * slopes.asDiagonal() * basis.transpose();
  const MetricForm& spectral = closed_forms().front();
  const Vector g_bar = random_errors(generator, 5);
  const Matrix gradient = spectral.pull_back(a, {}, g_bar).a;
  EXPECT_NEAR(gradient.cwiseProduct(da).sum(), 0.4 * g_bar.sum(), 1e-10);
  // A subgradient of the convex lambda_max whatever the change.
  for (int i = 0; i < 20; ++i) {
    const Matrix change = 0.1 * random_symmetric(generator, 5);
    const double now = g_bar.dot(spectral.form(a, {}));
    const double then = g_bar.dot(spectral.form(a + change, {}));
    EXPECT_GE(then, now + gradient.cwiseProduct(change).sum() - 1e-12);
  }
  const Matrix identity = 2.0 * Matrix::Identity(4, 4);
  const Vector ones = Vector::Ones(4);
  for (const MetricForm& form : closed_forms()) {
    const MetricGradient at_identity = form.pull_back(identity, ones, ones);
    EXPECT_NEAR(at_identity.a.trace(), 4.0, 1e-12) << form.name;
  }
}

TEST(MetricFormGradient, TheSemidefiniteProgramHasNone) {
  const Matrix a = Matrix::Identity(2, 2);
  EXPECT_THROW(semidefinite_form().pull_back(a, Vector::Ones(2), Vector::Ones(2)), InvalidArgument);
}

/// One random derivative for everything that the error norm hands out.
ErrorNormGradient random_cotangents(std::size_t index, const ErrorNorm& error_norm) {
  ErrorNormGradient bars{index, {}};
  for (const NormTerm& norm : error_norm.norms) {
    Generator generator = make_generator(7, Stream::Example, bars.norms.size());
    const Index n = norm.gram.rows();
    bars.norms.push_back({random_matrix(generator, norm.metric.size(), 1), random_symmetric(generator, n),
                          random_matrix(generator, n, 1)});
  }
  return bars;
}

double paired(const ErrorNormGradient& bars, const ErrorNorm& error_norm) {
  double sum = 0.0;
  for (std::size_t i = 0; i < bars.norms.size(); ++i) {
    const NormTerm& norm = error_norm.norms[i];
    sum += bars.norms[i].metric.dot(norm.metric) + bars.norms[i].gram.cwiseProduct(norm.gram).sum() +
           bars.norms[i].gram_roots.dot(norm.gram_roots);
  }
  return sum;
}

void expect_error_norm_derivatives(const Network& network, const NetworkGradient& direction,
                                   std::size_t form) {
  const ErrorNorms error_norms = make_error_norms(network, SensitivityMode::Closed);
  std::vector<ErrorNormGradient> bars;
  for (const std::vector<ErrorNorm>& of_layer : error_norms) {
    const std::size_t index = of_layer.size() == 1 ? 0 : form;
    bars.push_back(random_cotangents(index, of_layer[index]));
  }
  NetworkGradient gradient = zero_gradient(network);
  add_error_norm_gradient(network, bars, gradient);
  const double measured = difference(
      [&](double t) {
        const ErrorNorms there = make_error_norms(moved(network, direction, t), SensitivityMode::Closed);
        double sum = 0.0;
        for (std::size_t k = 0; k < bars.size(); ++k) sum += paired(bars[k], there[k][bars[k].error_norm]);
        return sum;
      },
      1e-4);
  const double size = std::sqrt(dot(gradient, gradient) * dot(direction, direction));
  EXPECT_NEAR(measured, dot(gradient, direction), 1e-7 * size) << closed_forms()[form].name;
}

TEST(ErrorNormGradient, EveryFormAndActivationsWithAndWithoutSplits) {
  for (const ActivationFunction function : {ActivationFunction::Tanh, ActivationFunction::LeakyRelu}) {
    const Network network = random_network(
        {{3, 5, 4, 6, 3, 2}, WeightFamily::MeanField, BiasFamily::Independent, function, 1.0, 0.3, 11});
    Generator generator = make_generator(2, Stream::Example, 4);
    const NetworkGradient direction = random_direction(generator, network);
    for (std::size_t form = 0; form < closed_forms().size(); ++form) {
      expect_error_norm_derivatives(network, direction, form);
    }
  }
}

TEST(ErrorNormGradient, NeuronsThatPassUnchanged) {
  const Network base = random_network({{3, 5, 4, 2}});
  const ActivationMap mixed(Activation(ActivationFunction::Relu), {true, false, false, true});
  const Network network({base.layer(0), base.layer(1), base.layer(2)},
                        {base.activation(0), base.activation(1), mixed});
  Generator generator = make_generator(2, Stream::Example, 5);
  for (std::size_t form = 0; form < closed_forms().size(); ++form) {
    expect_error_norm_derivatives(network, random_direction(generator, network), form);
  }
}

TEST(ErrorNormGradient, DeterministicLayersKeepZeros) {
  const Network base = random_network({{3, 5, 4, 2}});
  const DenseLayer& middle = base.layer(2);
  const Network network({base.layer(0), base.layer(1),
                         DenseLayer("last", middle.weight_mean(), middle.bias_mean(), DeterministicWeights{},
                                    DeterministicBias{})},
                        {base.activation(0), base.activation(1), base.activation(2)});
  Generator generator = make_generator(2, Stream::Example, 6);
  const NetworkGradient direction = random_direction(generator, network);
  for (std::size_t form = 0; form < closed_forms().size(); ++form) {
    expect_error_norm_derivatives(network, direction, form);
  }
}

/// A prior: means of zero, variances equal within a layer. Every A is a multiple of the identity; scaling the
/// variances of layers keeps that.
TEST(ErrorNormGradient, PriorsUnderScalingOfTheirLayers) {
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  const std::vector<Index> widths = {2, 60, 50, 3};
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const Matrix zeros = Matrix::Zero(widths[k + 1], widths[k]);
    const Matrix variance = Matrix::Constant(widths[k + 1], widths[k], 1.0 / static_cast<double>(widths[k]));
    const Vector bias = Vector::Zero(widths[k + 1]);
    layers.emplace_back("prior", zeros, bias, MeanFieldWeights{variance},
                        IndependentBias{Vector::Ones(widths[k + 1])});
    activations.emplace_back(Activation(ActivationFunction::Tanh));
  }
  const Network network(layers, activations);
  NetworkGradient direction = zero_gradient(network);
  for (std::size_t k = 0; k < layers.size(); ++k) {
    direction[k].weight_variance.setConstant(0.1 * static_cast<double>(k + 1) /
                                             static_cast<double>(widths[k]));
    direction[k].bias_variance.setConstant(0.2);
  }
  for (std::size_t form = 0; form < closed_forms().size(); ++form) {
    expect_error_norm_derivatives(network, direction, form);
  }
}

TEST(ErrorNormGradient, RefusesWhatIsNotAClosedForm) {
  const Network network = random_network({{3, 5, 4, 2}});
  NetworkGradient gradient = zero_gradient(network);
  EXPECT_THROW(add_error_norm_gradient(network, {{6, {}}, {}}, gradient), InvalidArgument);
  EXPECT_THROW(add_error_norm_gradient(network, {{0, {}}}, gradient), InvalidArgument);
}

}  // namespace error_norm_gradient_cases_test
}  // namespace mixcert

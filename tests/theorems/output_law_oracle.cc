// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "theorems/output_law_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/normal.h"
#include "methods/moment/surrogate_law.h"
#include "mixcert/certify/certify.h"
#include "support/random_laws.h"
#include "theorems/stein/stein_distance.h"

namespace mixcert::testing {
namespace {

using Complex = std::complex<double>;
constexpr double kPeriod = 40.0;
constexpr std::size_t kMostTerms = 1500;

/// Nodes and weights of Simpson's rule times the normal density on [-9, 9], cut at `kink`.
void simpson(double kink, int intervals, std::vector<double>& nodes, std::vector<double>& weights) {
  const double cut = std::clamp(kink, -9.0, 9.0);
  for (const auto& [a, b] : {std::pair(-9.0, cut), std::pair(cut, 9.0)}) {
    if (!(a < b)) continue;
    const double step = (b - a) / intervals;
    for (int i = 0; i <= intervals; ++i) {
      nodes.push_back(a + i * step);
      const double factor = i == 0 || i == intervals ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
      weights.push_back(factor * step / 3.0 * normal_density(nodes.back()));
    }
  }
}

/// f((k + 1/2) h) of the output less `mean` over `deviation`, until it is negligible; empty if it never is.
std::vector<Complex> transform(const LineNetwork& net, double mean, double deviation) {
  const double h = 2.0 * std::numbers::pi / kPeriod;
  std::vector<std::vector<double>> values, weights;
  double fastest = 0.0;
  for (Index j = 0; j < net.mean.size(); ++j) {
    fastest = std::max(fastest, std::abs(net.weight(j)) * net.deviation(j) / deviation);
  }
  for (Index j = 0; j < net.mean.size(); ++j) {
    std::vector<double> x, w;
    if (net.deviation(j) > 0.0) {
      simpson(-net.mean(j) / net.deviation(j),
              std::clamp(2 * static_cast<int>(100.0 + 200.0 * fastest), 300, 1200), x, w);
    } else {
      x = {0.0};
      w = {1.0};
    }
    for (double& node : x) node = net.activation(net.mean(j) + net.deviation(j) * node);
    values.push_back(x);
    weights.push_back(w);
  }
  std::vector<Complex> result;
  while (result.size() < kMostTerms) {
    const double t = (static_cast<double>(result.size()) + 0.5) * h;
    Complex product = std::exp(
        Complex(-0.5 * t * t * net.bias_variance / deviation / deviation, t * (net.bias - mean) / deviation));
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double alpha = t * net.weight(static_cast<Index>(j)) / deviation;
      const double beta = 0.5 * t * t * net.variance(static_cast<Index>(j)) / deviation / deviation;
      double re = 0.0, im = 0.0;
      for (std::size_t i = 0; i < values[j].size(); ++i) {
        const double a = values[j][i];
        const double size = weights[j][i] * std::exp(-beta * a * a);
        re += size * std::cos(alpha * a);
        im += size * std::sin(alpha * a);
      }
      product *= Complex(re, im);
      if (std::abs(product) < 1e-12) break;
    }
    result.push_back(product);
    // Gaussian decay of the bias and the weights: later terms are smaller still, up to factors of no account.
    if (std::abs(product) < 1e-12 && t > 8.0) return result;
  }
  return {};
}

/// Distribution function at y.
double distribution(const std::vector<Complex>& f, double y) {
  const double h = 2.0 * std::numbers::pi / kPeriod;
  const Complex turn = std::exp(Complex(0.0, -h * y));
  Complex phase = std::exp(Complex(0.0, -0.5 * h * y));
  double sum = 0.0;
  for (std::size_t k = 0; k < f.size(); ++k) {
    sum += (phase * f[k]).imag() / (static_cast<double>(k) + 0.5);
    phase *= turn;
  }
  return 0.5 - sum / std::numbers::pi;
}

double quantile(const std::vector<Complex>& f, double p, double start) {
  double step = 0.25;
  double low = start - step, high = start + step;
  while (distribution(f, low) > p && low > -12.0) low -= (step *= 2.0);
  step = 0.25;
  while (distribution(f, high) < p && high < 12.0) high += (step *= 2.0);
  // Bisection, then the regula falsi, which is exact to second order.
  for (int i = 0; i < 9; ++i) {
    const double middle = 0.5 * (low + high);
    (distribution(f, middle) < p ? low : high) = middle;
  }
  const double a = distribution(f, low), b = distribution(f, high);
  return b > a ? low + (high - low) * (p - a) / (b - a) : low;
}

}  // namespace

Network LineNetwork::network() const {
  const Index n = mean.size();
  DenseLayer first("first", mean, Vector::Zero(n), MeanFieldWeights{deviation.cwiseAbs2()},
                   DeterministicBias{});
  DenseLayer last("last", weight.transpose(), Vector::Constant(1, bias),
                  MeanFieldWeights{variance.transpose()},
                  IndependentBias{Vector::Constant(1, bias_variance)});
  return Network({first, last}, {ActivationMap(), ActivationMap(activation)});
}

namespace {

/// The quantile of a mixture on the line, by bisection.
double mixture_quantile(const GaussianMixture& mixture, double p) {
  const double center = mixture.mean()(0), deviation = mixture.standard_deviation()(0);
  double low = center - 12.0 * deviation, high = center + 12.0 * deviation;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    double below = 0.0;
    for (Index i = 0; i < mixture.size(); ++i) {
      const Gaussian& one = mixture.component(i);
      below += mixture.weights()(i) *
               normal_cdf((middle - one.mean(0)) / std::sqrt(one.covariance.variances()(0)));
    }
    (below < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double naive_line_distance(const LineNetwork& network, const GaussianMixture& mixture) {
  const double mean = mixture.mean()(0), deviation = mixture.standard_deviation()(0);
  const std::vector<Complex> f = transform(network, mean, deviation);
  if (f.empty()) return -1.0;
  const double step = 0.05;
  double sum = 0.0;
  double y = -5.0;
  for (double x = -5.0 + 0.5 * step; x < 5.0; x += step) {
    y = quantile(f, normal_cdf(x), y);
    const double other = (mixture_quantile(mixture, normal_cdf(x)) - mean) / deviation;
    sum += step * normal_density(x) * (y - other) * (y - other);
  }
  return deviation * std::sqrt(sum);
}

double naive_line_distance(const LineNetwork& network, double mean, double deviation) {
  const Gaussian one{Vector::Constant(1, mean),
                     Covariance::diagonal(Vector::Constant(1, deviation * deviation))};
  return naive_line_distance(network, GaussianMixture(Vector::Ones(1), {one}));
}

std::vector<double> naive_probabilities(const LineNetwork& network, double mean, double deviation,
                                        const std::vector<double>& places) {
  const std::vector<Complex> f = transform(network, mean, deviation);
  std::vector<double> probabilities;
  if (f.empty()) return probabilities;
  for (const double place : places) probabilities.push_back(distribution(f, place));
  return probabilities;
}

Result certify_line(const LineNetwork& network, Method method) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  return certify(network.network(), Vector::Ones(1), options).front();
}

LineNetwork random_line_network(std::uint64_t seed) {
  Generator generator(seed);
  const auto between = [&](double a, double b) { return a + (b - a) * uniform(generator); };
  const auto decade = [&](double a, double b) { return std::pow(10.0, between(a, b)); };
  static const ActivationFunction functions[] = {ActivationFunction::Tanh,    ActivationFunction::Relu,
                                                 ActivationFunction::Gelu,    ActivationFunction::Sigmoid,
                                                 ActivationFunction::Elu,     ActivationFunction::LeakyRelu,
                                                 ActivationFunction::Softplus};
  LineNetwork net;
  net.activation = Activation(functions[static_cast<std::size_t>(between(0.0, 6.999))], 0.1);
  static const ActivationFunction further[] = {ActivationFunction::Mish, ActivationFunction::LogSigmoid,
                                               ActivationFunction::Tanhshrink};
  if (seed % 5 == 4) net.activation = Activation(further[seed / 5 % 3]);
  const auto n = static_cast<Index>(between(1.0, 8.999));
  const double scale = decade(-1.0, 0.5);
  const double noise = decade(-3.0, 1.0);
  net.mean = Vector::NullaryExpr(n, [&] { return between(-2.0, 2.0); });
  net.deviation = Vector::NullaryExpr(n, [&] { return scale * between(0.3, 1.5); });
  net.weight = Vector::NullaryExpr(n, [&] { return between(-1.0, 1.0); });
  net.variance = Vector::NullaryExpr(n, [&] { return noise * between(0.0, 0.3); });
  net.bias = between(-1.0, 1.0);
  net.bias_variance = noise * between(0.02, 0.3);
  const double kind = uniform(generator);
  if (kind < 0.1) net.mean(0) = -6.0 * net.deviation(0);  // dead, for relu
  if (kind > 0.1 && kind < 0.2) net.deviation(n - 1) = 0.0;
  if (kind > 0.2 && kind < 0.3) net.mean.setZero();
  if (kind > 0.3 && kind < 0.4) net.weight.setZero();
  if (kind > 0.4 && kind < 0.5) net.variance.setZero();
  if (kind > 0.5 && kind < 0.6) {
    net.mean.setConstant(net.mean(0));
    net.deviation.setConstant(net.deviation(0));
    for (Index j = 0; j < n; ++j) net.weight(j) = (j % 2 == 0 ? 1.0 : -1.0) * net.weight(0);
  }
  return net;
}

LineNetwork random_trained_line(std::uint64_t seed) {
  Generator generator(seed);
  const auto between = [&](double a, double b) { return a + (b - a) * uniform(generator); };
  static const ActivationFunction functions[] = {ActivationFunction::Tanh,    ActivationFunction::Tanh,
                                                 ActivationFunction::Erf,     ActivationFunction::Sigmoid,
                                                 ActivationFunction::Gelu,    ActivationFunction::Relu,
                                                 ActivationFunction::Softplus};
  LineNetwork net;
  net.activation = Activation(functions[seed % 7]);
  const auto n = static_cast<Index>(between(16.0, 48.999));
  const double noise = std::pow(10.0, between(-3.0, -1.5));
  net.mean.resize(n);
  net.deviation.resize(n);
  net.weight.resize(n);
  for (Index j = 0; j < n; ++j) {
    const double kind = uniform(generator);
    net.mean(j) = kind < 0.4 ? between(-0.5, 0.5) : kind < 0.6 ? between(2.0, 7.0) : between(-1.5, 1.5);
    net.deviation(j) = kind < 0.4 ? between(0.4, 2.0) : std::pow(10.0, between(-2.0, -0.3));
    const double size = kind < 0.4 ? 0.01 : kind < 0.6 ? 2.0 : 0.1 / net.deviation(j);
    net.weight(j) = size * between(-1.0, 1.0);
  }
  net.variance = Vector::NullaryExpr(n, [&] { return noise * between(0.5, 1.0); });
  net.bias_variance = noise;
  return net;
}

Index check_trained_lines(std::uint64_t first, Index count) {
  Index tight = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    const LineNetwork net = random_trained_line(seed);
    const Result result = certify_line(net);
    if (result.layers.front().theorem != "Y.1" && result.layers.front().theorem != "Y.40") continue;
    const double deviation = result.mixture.standard_deviation()(0);
    const double truth = naive_line_distance(net, result.mixture);
    if (truth < 0.0) continue;
    const std::string name =
        "seed " + std::to_string(seed) + ", " + std::string(to_string(net.activation.function()));
    EXPECT_GE(result.w2.value, truth * (1.0 - 1e-3) - 2e-6 * deviation) << name;
    if (result.w2.value <= 1.05 * (truth + 4e-4 * deviation)) ++tight;
  }
  return tight;
}

Index check_random_lines(std::uint64_t first, Index count) {
  Index compared = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    const LineNetwork net = random_line_network(seed);
    const Result result = certify_line(net);
    if (result.method != Method::Moment) continue;
    const double deviation = result.mixture.standard_deviation()(0);
    const double truth = naive_line_distance(net, result.mixture);
    if (truth < 0.0) continue;
    ++compared;
    // Simpson's rule and the quantiles are good to about 1e-6 of the deviation.
    EXPECT_GE(result.w2.value, truth * (1.0 - 1e-3) - 2e-6 * deviation)
        << "seed " << seed << ", " << to_string(net.activation.function()) << ", theorem "
        << result.layers.front().theorem;
  }
  return compared;
}

LineNetwork LayerNetwork::along(const Vector& direction) const {
  LineNetwork line;
  line.activation = activation;
  line.mean = mean;
  line.deviation = deviation;
  line.weight = weight.transpose() * direction;
  line.variance = variance.transpose() * direction.cwiseAbs2();
  line.bias_variance = bias_variance.dot(direction.cwiseAbs2());
  return line;
}

namespace {

Gaussian pushed(const DenseLayer& layer, const Gaussian& piece, const SurrogateLaw& law) {
  const SurrogateImages images = surrogate_images(layer, {&law});
  return push_surrogate(layer, piece, law, images.means.col(0), images.noise.col(0));
}

/// The piece, its surrogates, the layer and the Gaussian that stands for its output.
struct Pushed {
  ActivationMap activation;
  DenseLayer layer;
  Gaussian piece;
  SurrogateLaw law;
  Gaussian gaussian;

  explicit Pushed(const LayerNetwork& net)
      : activation(net.activation),
        layer("last", net.weight, Vector::Zero(net.weight.rows()), MeanFieldWeights{net.variance},
              IndependentBias{net.bias_variance}),
        piece{net.mean, Covariance::diagonal(net.deviation.cwiseAbs2())},
        law(surrogate_law(activation, piece)),
        gaussian(pushed(layer, piece, law)) {}
};

}  // namespace

double stein_distance(const LayerNetwork& network) {
  const Pushed pushed(network);
  return stein_distance(pushed.activation, pushed.layer, pushed.piece, pushed.law, pushed.gaussian).upper;
}

double largest_projection(const LayerNetwork& network) {
  const Pushed pushed(network);
  const Matrix covariance = pushed.gaussian.covariance.to_dense();
  Generator generator(99);
  double largest = -1.0;
  for (int i = 0; i < (network.weight.rows() == 1 ? 1 : 4); ++i) {
    const Vector direction = random_matrix(generator, network.weight.rows(), 1).col(0).normalized();
    const double deviation = std::sqrt(direction.dot(covariance * direction));
    const double distance =
        naive_line_distance(network.along(direction), direction.dot(pushed.gaussian.mean), deviation);
    largest = std::max(largest, distance - 2e-6 * deviation);
  }
  return largest;
}

LayerNetwork random_layer_network(std::uint64_t seed, Index outputs, Index width) {
  Generator generator(seed);
  const auto between = [&](double a, double b) { return a + (b - a) * uniform(generator); };
  LineNetwork line = random_line_network(seed);
  LayerNetwork net;
  net.activation = line.activation;
  const double noise = std::pow(10.0, between(-3.0, 1.0));
  net.mean = Vector::NullaryExpr(width, [&] { return between(-1.5, 1.5); });
  net.deviation = Vector::NullaryExpr(width, [&] { return line.deviation(0) * between(0.3, 1.5); });
  net.weight = Matrix::NullaryExpr(outputs, width, [&] { return between(-1.0, 1.0); });
  net.variance = Matrix::NullaryExpr(outputs, width, [&] { return noise * between(0.0, 0.3); });
  net.bias_variance = Vector::NullaryExpr(outputs, [&] { return noise * between(0.02, 0.3); });
  const double kind = uniform(generator);
  if (kind < 0.1) net.weight.setZero();
  if (kind > 0.1 && kind < 0.2) net.variance.setZero();
  if (kind > 0.2 && kind < 0.3) net.mean.setZero();
  if (kind > 0.3 && kind < 0.4 && width > 1) net.weight.col(1) = -net.weight.col(0);
  if (kind > 0.4 && kind < 0.5) net.deviation(0) = 0.0;
  if (kind > 0.5 && kind < 0.6) net.mean(0) = -7.0 * net.deviation(0);
  return net;
}

Index check_random_layers(std::uint64_t first, Index count, Index widest) {
  Index compared = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    const LayerNetwork net = random_layer_network(seed, 1 + static_cast<Index>(seed % 3),
                                                  1 + static_cast<Index>(seed / 3) % widest);
    const double truth = largest_projection(net);
    if (truth < 0.0) continue;
    ++compared;
    EXPECT_GE(stein_distance(net), truth * (1.0 - 1e-3))
        << "seed " << seed << ", " << to_string(net.activation.function());
  }
  return compared;
}

}  // namespace mixcert::testing

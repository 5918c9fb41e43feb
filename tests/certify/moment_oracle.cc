// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Integrals: Gauss and Legendre's rule with thirty nodes on short panels that end at the kink. Variances and
// rests are integrals of squares, never differences of moments, so nothing cancels and doubles suffice.
#include "certify/moment_oracle.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "mixture/symmetric_eigen.h"
#include "support/naive_activations.h"
#include "support/naive_layer.h"
#include "support/naive_oracle.h"
#include "support/naive_scalar.h"

namespace mixcert::testing {

double mask_variance(const Mask& mask) { return mask.is_none() ? 0.0 : mask.rate() / (1.0 - mask.rate()); }

double naive_hermite_error(const NaivePiece& piece, const Matrix& b, bool whole) {
  double sum = 0.0;
  for (Index i = 0; i < b.rows(); ++i) {
    for (Index j = 0; j < b.cols(); ++j) {
      const double r = piece.correlation(i, j);
      const NaiveNeuron& at_i = piece.neurons[static_cast<std::size_t>(i)];
      const NaiveNeuron& at_j = piece.neurons[static_cast<std::size_t>(j)];
      const double p_i = at_i.linear + (whole ? at_i.gain : 0.0);
      const double p_j = at_j.linear + (whole ? at_j.gain : 0.0);
      sum += b(i, j) * (p_i * p_j * r + at_i.quadratic * at_j.quadratic * r * r);
      sum += std::abs(b(i, j)) * std::pow(std::abs(r), 3) * at_i.rest * at_j.rest;
    }
  }
  return sum;
}

Matrix naive_noise_gram(const DenseLayer& layer, const Vector& metric) {
  Matrix gram = Matrix::Zero(layer.inputs(), layer.inputs());
  for (Index i = 0; i < layer.outputs(); ++i) {
    for (Index j = 0; j < layer.inputs(); ++j) {
      for (Index l = 0; l < layer.inputs(); ++l)
        gram(j, l) += metric(i) * entry_covariance_of(layer, i, j, i, l);
    }
  }
  return gram;
}

namespace {

/// sup |f|, by hand.
double largest_value(const Activation& activation) {
  const ActivationParameters& p = activation.parameters();
  switch (activation.function()) {
    case ActivationFunction::Tanh:
    case ActivationFunction::Sigmoid:
    case ActivationFunction::Erf:
    case ActivationFunction::Hardsigmoid:
    case ActivationFunction::Softsign:
      return 1.0;
    case ActivationFunction::Relu6:
      return 6.0;
    case ActivationFunction::Hardtanh:
      return std::max(std::abs(p.lower), std::abs(p.upper));
    default:
      return std::numeric_limits<double>::infinity();
  }
}

/// E g(f(m + s x), x), x ~ N(0,1); f may have kinks.
class Integrator {
 public:
  Integrator(const Activation& activation, double mean, double deviation) {
    // Short panels near the origin of f, whose nearest pole is at least pi / (2 s) away in x; 40 / s from
    // there every f is linear to double precision.
    const double longest = std::min(2.0, 2.0 / deviation);
    const auto at = [&](double z) { return std::clamp((z - mean) / deviation, -kEnd, kEnd); };
    std::vector<double> cuts = {-40.0, 0.0, 40.0};
    for (const SlopeJump& jump : slope_jumps(activation)) cuts.push_back(jump.at);
    std::sort(cuts.begin(), cuts.end());
    add_panels(-kEnd, at(cuts.front()), 2.0);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) add_panels(at(cuts[i]), at(cuts[i + 1]), longest);
    add_panels(at(cuts.back()), kEnd, 2.0);
    for (const Node& node : nodes_) {
      values_.push_back(naive_activation(activation, mean + deviation * node.x));
    }
  }

  template <typename Function>
  [[nodiscard]] double expect(const Function& function) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      sum += nodes_[i].weight * function(values_[i], nodes_[i].x);
    }
    return sum;
  }

 private:
  struct Node {
    double x;
    double weight;
  };
  static constexpr double kEnd = 13.0;  // the density there is 1e-37

  void add_panels(double from, double to, double longest) {
    if (!(from < to)) return;
    const auto count = static_cast<int>(std::ceil((to - from) / longest));
    const double half = 0.5 * (to - from) / count;
    for (int i = 0; i < count; ++i) add_panel(from + (2 * i + 1) * half, half);
  }

  void add_panel(double center, double half) {
    using Rule = boost::math::quadrature::gauss<double, 30>;
    for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        const double x = center + sign * half * Rule::abscissa()[i];
        const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
        nodes_.push_back({x, half * Rule::weights()[i] * density});
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<double> values_;
};

NaivePiece make_piece(const ActivationMap& activation, const Mask& mask, const Vector& mean,
                      const Matrix& covariance) {
  const Index n = mean.size();
  NaivePiece piece;
  piece.mean = mean;
  piece.mask = mask;
  piece.lipschitz = activation.lipschitz().upper;
  piece.bound =
      activation.is_uniform() ? largest_value(activation.common()) : std::numeric_limits<double>::infinity();
  piece.deviation = covariance.diagonal().cwiseSqrt();
  piece.correlation = Matrix::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    piece.neurons.push_back(naive_neuron(activation.at(i), mean(i), std::sqrt(covariance(i, i))));
    for (Index j = 0; j < n; ++j) {
      const double scale = std::sqrt(covariance(i, i)) * std::sqrt(covariance(j, j));
      if (scale > 0.0) piece.correlation(i, j) = i == j ? 1.0 : covariance(i, j) / scale;
    }
  }
  return piece;
}

double weight_variance(const DenseLayer& layer, Index l, Index j) {
  return entry_covariance_of(layer, l, j, l, j);
}
double bias_variance(const DenseLayer& layer, Index l) {
  return entry_covariance_of(layer, l, layer.inputs(), l, layer.inputs());
}

double mask_fourth(const Mask& mask) {
  const double nu = mask_variance(mask);
  return mask.kind() == Mask::Kind::Gaussian ? 1.0 + 6.0 * nu + 3.0 * nu * nu
                                             : std::pow(1.0 - mask.rate(), -3);
}

/// kap* of (D.2).
double mask_coupling(const Mask& mask) {
  if (mask.kind() == Mask::Kind::Gaussian) return std::sqrt(mask_variance(mask));
  const boost::math::normal normal;
  return boost::math::pdf(normal, boost::math::quantile(normal, mask.rate())) / (1.0 - mask.rate());
}

double fourth_moment(const NaiveNeuron& neuron) {
  return std::pow(neuron.second, 2) + std::pow(neuron.square_slope, 2) + std::pow(neuron.square_rest, 2);
}

/// c_j of (D.3) with tau^2 = nu E a^2.
double mask_cost(const NaivePiece& piece, Index j) {
  if (piece.mask.is_none()) return 0.0;
  const NaiveNeuron& neuron = piece.neurons[static_cast<std::size_t>(j)];
  const double variance = mask_variance(piece.mask) * neuron.second;
  const double fourth = fourth_moment(neuron);
  const double by_moments = fourth > 0.0 ? std::pow(neuron.second, 1.5) / std::sqrt(fourth) : 0.0;
  const double absolute = std::max(std::abs(neuron.mean), by_moments);
  return 2.0 * variance - 2.0 * std::sqrt(variance) * mask_coupling(piece.mask) * absolute;
}

/// sum_j B_jj c_j, with `whole` sum_j B_jj nu E a_j^2.
double masked_error(const NaivePiece& piece, const Matrix& b, bool whole) {
  double sum = 0.0;
  for (Index j = 0; j < b.rows(); ++j) {
    sum += b(j, j) * (whole ? mask_variance(piece.mask) * piece.neurons[static_cast<std::size_t>(j)].second
                            : mask_cost(piece, j));
  }
  return sum;
}

/// Do rows of the layer depend on each other, or on biases?
bool is_correlated(const DenseLayer& layer) {
  const bool rows = std::holds_alternative<DeterministicWeights>(layer.weights()) ||
                    std::holds_alternative<MeanFieldWeights>(layer.weights());
  return !rows || std::holds_alternative<CorrelatedBias>(layer.bias());
}

/// Right side of (H.2) for output l; without the bias where that is noise of its own.
double noise_error(const NaivePiece& piece, const DenseLayer& layer, Index l, bool with_bias) {
  double variance = 0.0;
  for (Index i = 0; i < layer.inputs(); ++i) {
    for (Index j = 0; j < layer.inputs(); ++j) {
      const double r = piece.correlation(i, j);
      const NaiveNeuron& at_i = piece.neurons[static_cast<std::size_t>(i)];
      const NaiveNeuron& at_j = piece.neurons[static_cast<std::size_t>(j)];
      variance += weight_variance(layer, l, i) * weight_variance(layer, l, j) *
                  (at_i.square_slope * at_j.square_slope * r + r * r * at_i.square_rest * at_j.square_rest);
    }
  }
  const double factor = 1.0 + mask_variance(piece.mask);
  variance *= factor * factor;
  for (Index j = 0; j < layer.inputs() && !piece.mask.is_none(); ++j) {
    variance += std::pow(weight_variance(layer, l, j), 2) * (mask_fourth(piece.mask) - factor * factor) *
                fourth_moment(piece.neurons[static_cast<std::size_t>(j)]);
  }
  const double bias = bias_variance(layer, l);
  const double noise = naive_mean_noise(piece, layer, l) - (with_bias ? 0.0 : bias);
  if (!(noise > 0.0)) return 0.0;
  const double root_sum = std::sqrt(noise) + std::sqrt(with_bias ? bias : 0.0);
  const double ratio = variance / (noise * noise);
  // 1 - (1 + v)^{-1/2} without cancellation.
  const double hoelder = -2.0 * noise * std::expm1(-0.5 * std::log1p(ratio));
  return std::min(variance / (root_sum * root_sum), hoelder);
}

/// The law q+ of (H.3), or of (H.7).
std::pair<Vector, Matrix> pushed_law(const NaivePiece& piece, const DenseLayer& layer) {
  const Matrix& weights = layer.weight_mean();
  Vector mean = layer.bias_mean();
  Matrix covariance = Matrix::Zero(layer.outputs(), layer.outputs());
  for (Index l = 0; l < layer.outputs(); ++l) {
    for (Index i = 0; i < layer.inputs(); ++i) {
      mean(l) += weights(l, i) * piece.neurons[static_cast<std::size_t>(i)].mean;
      for (Index j = 0; j < layer.inputs(); ++j) {
        double signal = piece.neurons[static_cast<std::size_t>(i)].gain * piece.correlation(i, j) *
                        piece.neurons[static_cast<std::size_t>(j)].gain;
        if (i == j) signal += mask_variance(piece.mask) * piece.neurons[static_cast<std::size_t>(j)].second;
        for (Index m = 0; m < layer.outputs(); ++m) {
          covariance(l, m) += weights(l, i) * signal * weights(m, j);
        }
      }
    }
    if (!is_correlated(layer)) covariance(l, l) += naive_mean_noise(piece, layer, l);
  }
  if (is_correlated(layer)) {
    covariance += naive_expected_noise(piece, layer);
  }
  return {mean, covariance};
}

/// factor |d|_Q.
struct NaiveNorm {
  double factor;
  Matrix q;
};

double top_eigenvalue(const Matrix& a) { return symmetric_eigen(a).values.maxCoeff(); }

/// The six closed forms of (M.5) and (M.7).
Vector naive_form(int form, const Matrix& a, const Vector& t) {
  const Vector roots = a.diagonal().unaryExpr([](double x) { return x > 0.0 ? std::sqrt(x) : 1.0; });
  const Vector t_roots = t.array().max(1e-6 * t.maxCoeff()).sqrt();
  const Vector ones = Vector::Ones(a.rows());
  const auto spectral = [&](const Vector& d) {
    const Matrix scaled = d.cwiseInverse().asDiagonal() * a * d.cwiseInverse().asDiagonal();
    return Vector(top_eigenvalue(scaled) * d.cwiseAbs2());
  };
  const auto gershgorin = [&](const Vector& r) { return Vector((a.cwiseAbs() * r).cwiseQuotient(r)); };
  switch (form) {
    case 0:
      return spectral(ones);
    case 1:
      return (a.diagonal().array() > 0.0).select(spectral(roots), 0.0);
    case 2:
      return gershgorin(ones);
    case 3:
      return gershgorin(roots);
    case 4:
      return spectral(t_roots.cwiseInverse());
    default:
      return gershgorin(t_roots);
  }
}

/// E[W' Q W] for independent entries or diagonal Q.
Matrix naive_second_moment(const DenseLayer& layer, const Matrix& q) {
  return layer.weight_mean().transpose() * q * layer.weight_mean() + naive_noise_gram(layer, q.diagonal());
}

/// The guess of (M.7).
Vector naive_errors(const Network& network, Index k) {
  const DenseLayer& before = network.layer(k - 1);
  const DenseLayer& layer = network.layer(k);
  Vector t = Vector::Zero(layer.outputs());
  for (Index l = 0; l < layer.outputs(); ++l) {
    for (Index j = 0; j < layer.inputs(); ++j) {
      double spread = bias_variance(before, j);
      for (Index i = 0; i < before.inputs(); ++i) {
        spread += weight_variance(before, j, i) + std::pow(before.weight_mean()(j, i), 2);
      }
      t(l) += std::pow(layer.weight_mean()(l, j), 2) * spread + weight_variance(layer, l, j);
    }
  }
  return t.array() + 1e-12 * t.maxCoeff();
}

/// Norms of the pre-activations after layer k by (M.8) with one form at every layer; the identity at the
/// output.
std::vector<NaiveNorm> next_norms(const Network& network, Index k, int form) {
  if (k == network.hidden_count()) return {{1.0, Matrix::Identity(network.outputs(), network.outputs())}};
  const ActivationMap& activation = network.activation(k + 1);
  // Norms with signs need independent rows in the layer that they are pulled back through.
  const bool split = !is_correlated(network.layer(k));
  std::vector<NaiveNorm> norms;
  for (const NaiveNorm& later : next_norms(network, k + 1, form)) {
    Matrix a = naive_second_moment(network.layer(k + 1), later.q);
    a.diagonal() *= 1.0 + mask_variance(network.mask(k + 1));
    Vector centres(a.rows());
    Vector rests(a.rows());
    for (Index j = 0; j < a.rows(); ++j) {
      const auto [low, high] = activation.at(j).slope_range();
      centres(j) = split ? 0.5 * (low + high) : 0.0;
      rests(j) = std::max(high - centres(j), centres(j) - low);
    }
    if (split) norms.push_back({later.factor, centres.asDiagonal() * a * centres.asDiagonal()});
    const Matrix strays = rests.asDiagonal() * a * rests.asDiagonal();
    norms.push_back({later.factor, naive_form(form, strays, naive_errors(network, k)).asDiagonal()});
  }
  return norms;
}

/// What weights that are not Gaussian add to the squared norm (W.1).
double replaced_error(const NaivePiece& piece, const DenseLayer& layer, Index l) {
  double sum = 0.0;
  if (const auto* law = std::get_if<MeanFieldWeights>(&layer.weights())) {
    for (Index j = 0; j < layer.inputs(); ++j) {
      sum += law->law.squared_distance_to_normal() * law->variance(l, j) * (1.0 + mask_variance(piece.mask)) *
             piece.neurons[static_cast<std::size_t>(j)].second;
    }
  }
  if (const auto* law = std::get_if<IndependentBias>(&layer.bias())) {
    sum += law->law.squared_distance_to_normal() * law->variance(l);
  }
  return sum;
}

/// What hidden layer k adds at the output with one form.
double naive_local(const Network& network, const NaivePiece& piece, Index k, int form) {
  const DenseLayer& layer = network.layer(k);
  double sum = 0.0;
  for (const NaiveNorm& norm : next_norms(network, k, form)) {
    const Matrix b = layer.weight_mean().transpose() * norm.q * layer.weight_mean();
    double squares = naive_hermite_error(piece, b, false) + masked_error(piece, b, false);
    if (std::holds_alternative<MeanFieldWeights>(layer.weights())) {
      // Correlated biases are noise of their own (H.8).
      for (Index l = 0; l < layer.outputs(); ++l)
        squares += norm.q(l, l) * noise_error(piece, layer, l, !is_correlated(layer));
    } else if (is_correlated(layer)) {
      const Matrix noise = naive_noise_gram(layer, norm.q.diagonal());
      const Vector roots = naive_root_costs(piece, layer);
      squares += roots.size() > 0
                     ? norm.q.diagonal().dot(roots)
                     : 2.0 * (naive_hermite_error(piece, noise, true) + masked_error(piece, noise, true));
    }
    double replaced = 0.0;
    for (Index l = 0; l < layer.outputs(); ++l) replaced += norm.q(l, l) * replaced_error(piece, layer, l);
    sum += norm.factor * (std::sqrt(std::max(0.0, squares)) + std::sqrt(replaced));
  }
  return sum;
}

}  // namespace

double naive_mean_noise(const NaivePiece& piece, const DenseLayer& layer, Index l) {
  double noise = bias_variance(layer, l);
  for (Index j = 0; j < layer.inputs(); ++j) {
    noise += weight_variance(layer, l, j) * (1.0 + mask_variance(piece.mask)) *
             piece.neurons[static_cast<std::size_t>(j)].second;
  }
  return noise;
}

NaiveNeuron naive_neuron(const Activation& activation, double mean, double deviation) {
  NaiveNeuron neuron;
  if (!(deviation > 0.0)) {
    neuron.mean = naive_activation(activation, mean);
    neuron.second = neuron.mean * neuron.mean;
    return neuron;
  }
  const Integrator integral(activation, mean, deviation);
  const auto hermite2 = [](double x) { return (x * x - 1.0) / std::numbers::sqrt2; };
  const double mu = integral.expect([](double a, double) { return a; });
  const double c1 = integral.expect([&](double a, double x) { return (a - mu) * x; });
  const double c2 = integral.expect([&](double a, double x) { return (a - mu - c1 * x) * hermite2(x); });
  const double rest =
      integral.expect([&](double a, double x) { return std::pow(a - mu - c1 * x - c2 * hermite2(x), 2); });
  const double variance = integral.expect([&](double a, double) { return (a - mu) * (a - mu); });
  const double second = integral.expect([](double a, double) { return a * a; });
  const double slope = integral.expect([&](double a, double x) { return (a * a - second) * x; });
  const double square_rest =
      integral.expect([&](double a, double x) { return std::pow(a * a - second - slope * x, 2); });
  const double gain = c1 < 0.0 ? -std::sqrt(variance) : std::sqrt(variance);
  neuron.mean = mu;
  neuron.gain = gain;
  // c_1 - k = -(k^2 - c_1^2) / (k + c_1).
  neuron.linear = gain == 0.0 ? 0.0 : -(c2 * c2 + rest) / (gain + c1);
  neuron.quadratic = c2;
  neuron.rest = std::sqrt(rest);
  neuron.second = second;
  neuron.square_slope = slope;
  neuron.square_rest = std::sqrt(square_rest);
  return neuron;
}

NaiveMomentCertificate naive_moment_certificate(const Network& network, const Vector& input) {
  const Vector first =
      input.unaryExpr([&](double x) { return naive_activation(network.activation(0).common(), x); });
  const Gaussian start = naive_push(network.layer(0), first, 1);
  NaiveMomentCertificate certificate{start.mean, start.covariance.to_dense(), {}, {}, 0.0};
  for (Index k = 1; k <= network.hidden_count(); ++k) {
    const NaivePiece piece =
        make_piece(network.activation(k), network.mask(k), certificate.mean, certificate.covariance);
    double least = std::numeric_limits<double>::infinity();
    for (int form = 0; form < 6; ++form) least = std::min(least, naive_local(network, piece, k, form));
    certificate.pieces.push_back(piece);
    certificate.local.push_back(least);
    certificate.w2 += least;
    std::tie(certificate.mean, certificate.covariance) = pushed_law(piece, network.layer(k));
  }
  return certificate;
}

}  // namespace mixcert::testing

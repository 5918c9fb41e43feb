// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Values of the characteristic function by recurrence over frequencies, four nodes at a time: each node's
// term w exp(i k theta - b k^2) follows from the one before by one complex product. Errors:
// docs/theory/stein.md (Y.4).
#include "certify/line_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mixcert {
namespace {

using Four = Eigen::Array<double, 4, 1>;

// Exponents: of the terms left out of the series, and of what other periods add.
constexpr double kTruncation = 25.0;
constexpr double kAliasing = 27.0;
constexpr double kLeastWeight = 3e-13;
constexpr Index kMostFrequencies = 600;
constexpr double kLongestPeriod = 200.0;
constexpr double kOrders[] = {6.0, 3.5, 2.0};

/// Sine and cosine: Taylor's formula up to 3/4, where it leaves out less than 1e-18; the C library beyond.
void sine_cosine(const Four& x, Four& sine, Four& cosine) {
  if (!(x.abs().maxCoeff() <= 0.75)) {
    sine = x.sin();
    cosine = x.cos();
    return;
  }
  const Four y = -x.square();
  sine = Four::Ones();
  cosine = Four::Ones();
  for (int k = 8; k >= 1; --k) {
    sine = 1.0 + sine * y * (1.0 / ((2 * k) * (2 * k + 1)));
    cosine = 1.0 + cosine * y * (1.0 / ((2 * k - 1) * (2 * k)));
  }
  sine *= x;
}

/// Sums over the nodes of w exp(i k theta - b k^2), k = 1 .. count.
class FrequencySums {
 public:
  explicit FrequencySums(Index count)
      : real_(static_cast<std::size_t>(count)), imaginary_(static_cast<std::size_t>(count)) {}

  void start() {
    std::fill(real_.begin(), real_.end(), Four::Zero());
    std::fill(imaginary_.begin(), imaginary_.end(), Four::Zero());
  }
  void add(const Four& weights, const Four& theta, const Four& b) {
    const Four damping = (-b).exp();
    const Four ratio = damping.square();
    Four sine, cosine;
    sine_cosine(theta, sine, cosine);
    Four step_real = damping * cosine;
    Four step_imaginary = damping * sine;
    Four re = weights;
    Four im = Four::Zero();
    for (std::size_t k = 0; k < real_.size(); ++k) {
      const Four next = re * step_real - im * step_imaginary;
      im = re * step_imaginary + im * step_real;
      re = next;
      step_real *= ratio;
      step_imaginary *= ratio;
      real_[k] += re;
      imaginary_[k] += im;
    }
  }
  /// Multiplies the product of characteristic functions by this one.
  void multiply(Vector& real, Vector& imaginary) const {
    for (Index k = 0; k < real.size(); ++k) {
      const double re = real_[static_cast<std::size_t>(k)].sum();
      const double im = imaginary_[static_cast<std::size_t>(k)].sum();
      const double product = real(k) * re - imaginary(k) * im;
      imaginary(k) = real(k) * im + imaginary(k) * re;
      real(k) = product;
    }
  }

 private:
  std::vector<Four> real_, imaginary_;
};

/// Four nodes from i on; beyond the end terms of weight zero.
template <class Array>
Four four_of(const Array& array, Eigen::Index i) {
  Four out = Four::Zero();
  const Eigen::Index count = std::min<Eigen::Index>(4, array.size() - i);
  for (Eigen::Index k = 0; k < count; ++k) out(k) = array(i + k);
  return out;
}

/// Returns the weight of the nodes that were left out because it is of no account.
double multiply_neuron(const LineNeuron& neuron, const LineNodes& nodes, double h, FrequencySums& sums,
                       LineSeries& series) {
  sums.start();
  double left_out = 0.0;
  const double turn = h * neuron.weight;
  const double scale = h * neuron.noise;
  for (Eigen::Index i = 0; i < nodes.weights().size(); i += 4) {
    const Four weights = four_of(nodes.weights(), i);
    if (weights.maxCoeff() < kLeastWeight) {
      left_out += weights.sum();
      continue;
    }
    const Four values = scale * four_of(nodes.values(), i);
    sums.add(weights, turn * four_of(nodes.differences(), i), 0.5 * values.square());
  }
  sums.multiply(series.real, series.imaginary);
  return left_out;
}

class TransformBuilder {
 public:
  TransformBuilder(const LineLaw& law, double range, double unit) : law_(law), range_(range), unit_(unit) {
    double noise = law.bias_variance;
    for (const LineNeuron& neuron : law.neurons) noise += neuron.noise * neuron.noise * neuron.second;
    guess_ = std::sqrt(2.0 * kTruncation / std::min(1.0, noise));
    nodes_.reserve(law.neurons.size());
    for (const LineNeuron& neuron : law.neurons) nodes_.emplace_back(neuron, guess_, kOrders[0]);
  }

  LineSeries series() {
    LineSeries series;
    series.tails = tails();
    const double period = wanted_period(series.tails);
    if (!(period < kLongestPeriod)) return series;
    series.period = unit_ * std::ceil(period / unit_);
    const double h = 2.0 * std::numbers::pi / series.period;
    const Index count = frequencies(h);
    if (count == 0) return series;
    transform(h, count, series);
    series.error = error(series, h, count);
    series.exists = series.error < INFINITY;
    return series;
  }

 private:
  [[nodiscard]] LineTails tails() const {
    LineTails best;
    double least = INFINITY;
    for (const double order : kOrders) {
      LineTails tails{order, 0.5 * order * order * law_.bias_variance * kSafety,
                      0.5 * order * order * law_.bias_variance * kSafety};
      for (const LineNodes& nodes : nodes_) {
        const LineNodes::LogMoments logs = nodes.log_moments(order);
        tails.log_plus += logs.plus;
        tails.log_minus += logs.minus;
      }
      tails.log_plus = tails.log_plus * kSafety + 1e-9;
      tails.log_minus = tails.log_minus * kSafety + 1e-9;
      const double period = wanted_period(tails);
      if (period < least) {
        least = period;
        best = tails;
      }
      // A smaller order could gain little.
      if (least < range_ + 10.0) break;
    }
    if (least == INFINITY) best.log_plus = best.log_minus = INFINITY;
    return best;
  }

  /// log of the sum of exponential moments of Y and of N(0,1), both signs.
  static double log_total(const LineTails& tails) {
    const double normal = 0.5 * tails.order * tails.order;
    const double largest = std::max({tails.log_plus, tails.log_minus, normal});
    return largest + std::log(4.0);
  }
  /// Other periods then add less than exp(-kAliasing).
  [[nodiscard]] double wanted_period(const LineTails& tails) const {
    if (!(tails.order > 0.0)) return INFINITY;
    return std::max(2.0 * range_, range_ + (log_total(tails) + kAliasing) / tails.order);
  }

  /// No less than sup |f| beyond t, by exp(-beta t^2/2) times the product of dampings at t.
  [[nodiscard]] double log_damping(double t) const {
    double sum = -0.5 * t * t * law_.bias_variance * (1.0 - 1e-9);
    for (const LineNodes& nodes : nodes_) sum += std::log(nodes.damping(t));
    return sum + 1e-9;
  }

  /// How many are needed for exp(-kTruncation); 0: too many.
  Index frequencies(double h) {
    double t = guess_;
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Index count = static_cast<Index>(std::ceil(t / h));
      if (count > kMostFrequencies) return 0;
      t = h * static_cast<double>(count);
      // Terms beyond t: psi(t) / (pi t^2 beta) (Y.2).
      log_left_out_ = log_damping(t) - std::log(std::numbers::pi * t * t * law_.bias_variance);
      if (log_left_out_ <= -kTruncation + 1.0) return count;
      const double decay = std::max(1e-3, -log_left_out_);
      t *= std::clamp(std::sqrt(kTruncation / decay), 1.05, 2.0);
    }
    return 0;
  }

  void transform(double h, Index count, LineSeries& series) {
    series.real.resize(count);
    series.imaginary = Vector::Zero(count);
    for (Index k = 0; k < count; ++k) {
      const double t = h * static_cast<double>(k + 1);
      series.real(k) = std::exp(-0.5 * t * t * law_.bias_variance);
    }
    FrequencySums sums(count);
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      left_out_ += multiply_neuron(law_.neurons[j], nodes_[j], h, sums, series);
    }
    for (Index k = 0; k < count; ++k) {
      const double t = h * static_cast<double>(k + 1);
      series.real(k) -= std::exp(-0.5 * t * t);
    }
  }

  /// (1/pi) sum_k df(kh)/k, the rest of the series, other periods, and the mean of Y (Y.2), (Y.4).
  [[nodiscard]] double error(const LineSeries& series, double h, Index count) const {
    const double top = h * static_cast<double>(count);
    double rules = left_out_;
    double values = 0.0;
    double mean = 0.0;
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      const LineNeuron& neuron = law_.neurons[j];
      const double alpha = top * std::abs(neuron.weight);
      rules += nodes_[j].transform_error(alpha, 0.5 * std::pow(top * neuron.noise, 2));
      values += nodes_[j].value_error() * (std::abs(neuron.weight) + neuron.noise);
      mean += std::abs(neuron.weight) * neuron.center_error;
    }
    const auto neurons = static_cast<double>(nodes_.size());
    double sum = 0.0;
    for (Index k = 1; k <= count; ++k) {
      const auto order = static_cast<double>(k);
      const double rounding = kUnitRoundoff * (order * (48.0 + 20.0 * order) + 1500.0);
      const double change = rules + h * order * values + neurons * rounding;
      if (!(change < 0.5)) return INFINITY;
      sum += (change * (1.0 + change) + 16.0 * (neurons + 8.0) * kUnitRoundoff) / order;
    }
    const LineTails& tails = series.tails;
    const double left = -tails.order * (series.period - range_);
    const double other = (std::exp(tails.log_plus + left) + std::exp(tails.log_minus + left) +
                          2.0 * std::exp(0.5 * tails.order * tails.order + left)) /
                         (1.0 - std::exp(-tails.order * series.period));
    const double normal = std::exp(-0.5 * top * top) / (std::numbers::pi * top * top);
    return (sum / std::numbers::pi + std::exp(log_left_out_) + normal + other + mean / series.period) *
           (kSafety * kSafety);
  }

  const LineLaw& law_;
  double range_, unit_;
  double guess_ = 0.0;
  double log_left_out_ = 0.0;  ///< of the terms of higher frequency
  double left_out_ = 0.0;      ///< weight of nodes
  std::vector<LineNodes> nodes_;
};

}  // namespace

LineSeries line_series(const LineLaw& law, double range, double unit) {
  if (!(law.bias_variance > 0.0)) return {};
  return TransformBuilder(law, range, unit).series();
}

}  // namespace mixcert

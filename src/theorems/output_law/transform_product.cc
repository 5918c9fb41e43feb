// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Four nodes at a time: each node's term w exp(i k theta - b k^2) follows from the one before by one complex
// product. Errors: docs/theory/stein.md (Y.4).
#include "theorems/output_law/transform_product.h"

#include <algorithm>
#include <cmath>

namespace mixcert {
namespace {

// Nodes of smaller weight are left out.
constexpr double kLeastWeight = 1e-12;
// Values with a larger error say nothing.
constexpr double kWildError = 0.1;
// Products below this count as zero.
constexpr double kLeastProduct = 1e-13;

/// Sine and cosine: Taylor's formula up to 3/4, where it leaves out less than 1e-18; the C library beyond.
void sine_cosine(const FourValues& x, FourValues& sine, FourValues& cosine) {
  if (!(x.abs().maxCoeff() <= 0.75)) {
    sine = x.sin();
    cosine = x.cos();
    return;
  }
  const FourValues y = -x.square();
  sine = FourValues::Ones();
  cosine = FourValues::Ones();
  for (int k = 8; k >= 1; --k) {
    sine = 1.0 + sine * y * (1.0 / ((2 * k) * (2 * k + 1)));
    cosine = 1.0 + cosine * y * (1.0 / ((2 * k - 1) * (2 * k)));
  }
  sine *= x;
}

/// Sums over the nodes of w exp(i k theta - b k^2), k = 1 .. count; four partial sums each.
class FrequencySums {
 public:
  explicit FrequencySums(Index count)
      : real_(static_cast<std::size_t>(count), FourValues::Zero()),
        imaginary_(static_cast<std::size_t>(count), FourValues::Zero()) {}

  void add(const FourValues& weights, const FourValues& theta, const FourValues& b) {
    const FourValues damping = (-b).exp();
    const FourValues ratio = damping.square();
    FourValues sine, cosine;
    sine_cosine(theta, sine, cosine);
    FourValues step_real = damping * cosine;
    FourValues step_imaginary = damping * sine;
    FourValues re = weights;
    FourValues im = FourValues::Zero();
    for (std::size_t k = 0; k < real_.size(); ++k) {
      const FourValues next = re * step_real - im * step_imaginary;
      im = re * step_imaginary + im * step_real;
      re = next;
      step_real *= ratio;
      step_imaginary *= ratio;
      real_[k] += re;
      imaginary_[k] += im;
    }
  }
  void write(TransformFactor& factor) const {
    for (std::size_t k = 0; k < real_.size(); ++k) {
      factor.real[k / 4](static_cast<Eigen::Index>(k % 4)) = real_[k].sum();
      factor.imaginary[k / 4](static_cast<Eigen::Index>(k % 4)) = imaginary_[k].sum();
    }
  }

 private:
  std::vector<FourValues> real_, imaginary_;
};

/// Four nodes from i on; beyond the end terms of weight zero.
FourValues four_of(const NeuronNodes::Column& array, Eigen::Index i) {
  if (i + 4 <= array.size()) return array.segment<4>(i);
  FourValues out = FourValues::Zero();
  for (Eigen::Index k = 0; i + k < array.size(); ++k) out(k) = array(i + k);
  return out;
}

/// `left_out` is the weight of nodes that are of no account.
void write_errors(const SummandNeuron& neuron, const NeuronNodes& nodes, const Frequencies& frequencies,
                  double left_out, TransformFactor& factor) {
  const NeuronNodes::ErrorTerms errors = nodes.transform_errors();
  const double h = frequencies.spacing;
  const double constant = 1500.0 * kUnitRoundoff + left_out + errors.beyond;
  const double linear =
      48.0 * kUnitRoundoff + h * nodes.value_error() * (std::abs(neuron.weight) + neuron.noise);
  for (std::size_t b = 0; b < factor.error.size(); ++b) {
    const FourValues& k = frequencies.order[b];
    factor.error[b] = constant + k * (linear + 20.0 * kUnitRoundoff * k);
  }
  for (std::size_t i = 0; i < errors.count; ++i) {
    const GrowthExponent& term = errors.terms[i];
    for (std::size_t b = 0; b < factor.error.size(); ++b) {
      const FourValues& t = frequencies.time[b];
      factor.error[b] += enlarged((term.constant + t * (term.linear + term.square * t)).min(0.0).exp());
    }
  }
}

/// Where the rule is of no use, |f_j| is at most what the noise damps.
void forget_wild_values(const NeuronNodes& nodes, const Frequencies& frequencies, TransformFactor& factor) {
  for (std::size_t b = 0; b < factor.error.size(); ++b) {
    if ((factor.error[b] <= kWildError).all()) continue;
    for (Eigen::Index i = 0; i < 4; ++i) {
      if (factor.error[b](i) <= kWildError) continue;
      factor.real[b](i) = factor.imaginary[b](i) = 0.0;
      factor.error[b](i) = std::min(1.0, nodes.damping(frequencies.time[b](i)));
    }
  }
}

}  // namespace

Frequencies::Frequencies(double h, Index frequency_count) : spacing(h), count(frequency_count) {
  const auto size = static_cast<std::size_t>((count + 3) / 4);
  for (FrequencyValues* values : {&order, &time}) values->reserve(size);
  for (std::size_t b = 0; b < size; ++b) {
    const auto first = 4.0 * static_cast<double>(b) + 1.0;
    order.emplace_back(first, first + 1.0, first + 2.0, first + 3.0);
    time.push_back(h * order.back());
  }
}

void factor_by_nodes(const SummandNeuron& neuron, const NeuronNodes& nodes, const Frequencies& frequencies,
                     TransformFactor& factor) {
  FrequencySums sums(static_cast<Index>(4 * factor.real.size()));
  double left_out = 0.0;
  const double turn = frequencies.spacing * neuron.weight;
  const double scale = frequencies.spacing * neuron.noise;
  const NeuronNodes::Column all_weights = nodes.weights(), differences = nodes.differences();
  const NeuronNodes::Column all_values = nodes.values();
  for (Eigen::Index i = 0; i < all_weights.size(); i += 4) {
    const FourValues weights = four_of(all_weights, i);
    if (weights.maxCoeff() < kLeastWeight) {
      left_out += weights.sum();
      continue;
    }
    const FourValues values = scale * four_of(all_values, i);
    sums.add(weights, turn * four_of(differences, i), 0.5 * values.square());
  }
  sums.write(factor);
  write_errors(neuron, nodes, frequencies, left_out, factor);
  forget_wild_values(nodes, frequencies, factor);
}

TransformProduct::TransformProduct(const Frequencies& frequencies, double bias_variance) {
  real_.reserve(frequencies.time.size());
  for (const FourValues& t : frequencies.time) real_.emplace_back((-0.5 * bias_variance * t.square()).exp());
  imaginary_.assign(real_.size(), FourValues::Zero());
  size_ = real_;
  error_.assign(real_.size(), FourValues::Zero());
  active_ = real_.size();
}

void TransformFactor::resize(std::size_t size) {
  real.resize(size);
  imaginary.resize(size);
  error.resize(size);
}

void TransformProduct::multiply(const TransformFactor& factor) {
  for (std::size_t b = 0; b < active_; ++b) {
    FourValues re = factor.real[b], im = factor.imaginary[b], error = factor.error[b];
    if (!(error <= 1.0).all()) {
      for (Eigen::Index i = 0; i < 4; ++i) {
        if (error(i) <= 1.0) continue;
        re(i) = im(i) = 0.0;
        error(i) = 1.0;
      }
    }
    // |f| <= 1: a computed value is moved into the unit circle, which does not move it away from f.
    const FourValues modulus = (re.square() + im.square()).sqrt();
    if (modulus.maxCoeff() > 1.0) {
      const FourValues inward = modulus.max(1.0).inverse();
      re *= inward;
      im *= inward;
    }
    const FourValues size = (modulus.min(1.0) + error).min(1.0);
    error_[b] = error_[b] * size + error * size_[b];
    size_[b] *= size;
    const FourValues product = real_[b] * re - imaginary_[b] * im;
    imaginary_[b] = real_[b] * im + imaginary_[b] * re;
    real_[b] = product;
  }
  // |f| is no more than what it is so far, whatever follows.
  while (active_ > 1 && size_[active_ - 1].maxCoeff() < kLeastProduct) {
    --active_;
    real_[active_] = imaginary_[active_] = FourValues::Zero();
    error_[active_] = size_[active_];
  }
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "local_error.h"

#include <utility>

#include "root_deviation.h"
#include "scalar_noise.h"

namespace mixcert_check {
namespace {

void add_bias(const Layer& layer, GaussianLaw& law) {
  for (std::size_t l = 0; l < law.mean.size(); ++l) law.mean[l] += layer.bias_mean[l];
}

/// A matrix of a layer times a vector.
Balls product(const BallMatrix& exact, const DoubleMatrix* rounded, const Balls& vector) {
  return rounded != nullptr ? rounded->times(vector) : exact.times(vector);
}

/// Variances from the covariance, which is complete.
void read_variances(GaussianLaw& law) {
  for (slong l = 0; l < law.covariance->rows(); ++l)
    law.variances.push_back(positive_part(law.covariance->at(l, l)));
}

}  // namespace

GaussianLaw first_law(const Layer& layer, const RoundedLayer* rounded, const std::vector<double>& input) {
  const Balls x = balls(input);
  Balls squares;
  for (const Ball& value : x) squares.push_back(square(value));
  GaussianLaw law;
  law.mean = product(layer.mean, rounded != nullptr ? &rounded->mean : nullptr, x);
  add_bias(layer, law);
  Balls noise(law.mean.size());
  if (!layer.dependent)
    noise = product(layer.variance, rounded != nullptr ? &rounded->variance : nullptr, squares);
  if (layer.has_independent_outputs()) {
    law.variances = std::move(noise);
    for (std::size_t i = 0; i < law.mean.size(); ++i) law.variances[i] += layer.bias_variance[i];
    return law;
  }
  law.covariance = layer.bias_covariance();
  if (layer.dependent) law.covariance->add(layer.dependent->noise_at(x));
  for (slong l = 0; l < layer.outputs; ++l) law.covariance->add(l, l, noise[static_cast<std::size_t>(l)]);
  read_variances(law);
  return law;
}

Step::Step(const GaussianLaw& law, const Activation& f, const Mask& mask, const Layer& next,
           const RoundedLayer* rounded)
    : next_(next),
      rounded_(rounded),
      law_(law, f, mask,
           {.exact = rounded == nullptr || next.dependent.has_value(), .rounded = rounded != nullptr}) {
  noise_error_.assign(next.bias_mean.size(), Ball(0.0));
  compute_noise(f.has_convex_size() && !mask.is_random);
  if (next.dependent) compute_dependent_noise(f);
}

void Step::compute_noise(bool convex) {
  // Biases that depend on each other are noise of their own, the same on both sides (H.8).
  if (next_.correlated_bias) noise_covariance_ = next_.bias_covariance();
  noise_mean_.assign(next_.bias_mean.size(), Ball(0.0));
  if (!next_.correlated_bias) noise_mean_ = balls(next_.bias_variance);
  if (!next_.is_random) return;
  const Balls added =
      product(next_.variance, rounded_ != nullptr ? &rounded_->variance : nullptr, law_.second);
  const Balls variances = rounded_ != nullptr ? law_.variances_of_squares(rounded_->variance)
                                              : law_.variances_of_squares(next_.variance);
  for (std::size_t l = 0; l < noise_mean_.size(); ++l) {
    const Ball least = noise_mean_[l];
    noise_mean_[l] += added[l];
    noise_error_[l] = root_deviation(variances[l], noise_mean_[l], noise_mean_[l], least, convex);
  }
}

void Step::compute_dependent_noise(const Activation& f) {
  const BallMatrix covariance = law_.covariance();
  BallMatrix second = covariance;
  for (slong i = 0; i < second.rows(); ++i) {
    for (slong j = 0; j < second.columns(); ++j)
      second.add(i, j, law_.mean[static_cast<std::size_t>(i)] * law_.mean[static_cast<std::size_t>(j)]);
  }
  BallMatrix noise = next_.dependent->noise(second);
  if (noise_covariance_) noise.add(*noise_covariance_);
  noise_covariance_ = std::move(noise);
  has_roots_ = false;
  if (law_.is_masked()) return;
  // One coupling for all norms: the smaller one where all outputs count alike.
  const Balls alike(noise_error_.size(), Ball(1.0));
  const ScalarNoise scalar(f, law_, covariance);
  const Ball least = next_.outputs == 1 ? next_.bias_covariance().at(0, 0) : Ball(0.0);
  Balls roots = noise_error_;
  Ball total;
  for (const WeightLaw::Scalar& part : next_.dependent->scalars()) {
    const Ball cost = scalar.cost(part.form, least);
    for (std::size_t l = 0; l < roots.size(); ++l) roots[l] += cost * part.rows[l];
    total += cost * dot(part.rows, alike);
  }
  if (!(upper_end(total) < upper_end(dependent_error(alike)))) return;
  noise_error_ = std::move(roots);
  has_roots_ = true;
}

Ball Step::dependent_error(const Balls& g) const {
  const BallMatrix gram = next_.dependent->gram(g);
  // c_1, not c_1 - k: the weights meet the activation's whole deviation from its mean.
  Ball total = law_.hermite_form(gram, law_.slopes());
  for (slong j = 0; law_.is_masked() && j < gram.rows(); ++j)
    total += positive_part(gram.at(j, j)) * law_.mask_variance[static_cast<std::size_t>(j)];
  return Ball(2.0) * total;
}

BallMatrix Step::carried_covariance() const {
  if (rounded_ == nullptr) {
    const BallMatrix &m = next_.mean, factor = m.columns_scaled(law_.gain);
    BallMatrix made =
        (law_.correlation ? factor.times(*law_.correlation) : factor).times(factor.transposed());
    if (law_.is_masked()) made.add(m.columns_scaled(law_.mask_variance).times(m.transposed()));
    return made;
  }
  const DoubleMatrix &m = rounded_->mean, factor = m.columns_scaled(in_doubles(law_.gain));
  DoubleMatrix made = law_.rounded_correlation
                          ? rounded_product(rounded_product(factor, *law_.rounded_correlation), factor)
                          : rounded_product(factor, factor);
  if (law_.is_masked()) made.add(rounded_product(m.columns_scaled(in_doubles(law_.mask_variance)), m));
  return made.in_balls();
}

GaussianLaw Step::pushed() const {
  GaussianLaw law;
  law.mean = product(next_.mean, rounded_ != nullptr ? &rounded_->mean : nullptr, law_.mean);
  add_bias(next_, law);
  law.covariance = carried_covariance();
  if (noise_covariance_) law.covariance->add(*noise_covariance_);
  for (slong l = 0; l < next_.outputs; ++l)
    law.covariance->add(l, l, noise_mean_[static_cast<std::size_t>(l)]);
  read_variances(law);
  return law;
}

Ball Step::squared_error(const Norm& norm) const {
  Ball total = rounded_ != nullptr ? law_.hermite_form(norm.rounded_gram, law_.linear)
                                   : law_.hermite_form(norm.gram, law_.linear);
  total += dot(norm.diagonal, noise_error_);
  for (slong j = 0; law_.is_masked() && j < norm.gram.rows(); ++j)
    total += positive_part(norm.gram.at(j, j)) * law_.mask_cost[static_cast<std::size_t>(j)];
  return has_roots_ ? total : total + dependent_error(norm.diagonal);
}

}  // namespace mixcert_check

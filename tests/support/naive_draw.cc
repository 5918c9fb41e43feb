// Licensed under the Apache License, Version 2.0; see LICENSE.
#include "support/naive_draw.h"

#include <cmath>
#include <random>
#include <utility>
#include <variant>

#include "core/overloaded.h"
#include "mixture/symmetric_eigen.h"
#include "support/naive_layer.h"
#include "support/naive_lists.h"
#include "support/naive_specs.h"
#include "support/random_laws.h"

namespace mixcert::testing {
namespace {

/// One layer of a draw.
template <class Real>
class NaiveDraw {
 public:
  using Values = std::vector<Real>;

  NaiveDraw(const LayerSpec& spec, const LayerShape& before, const Values& x, NaiveSource<Real>& source)
      : spec_(spec), before_(before), x_(x), source_(source) {}

  [[nodiscard]] Values draw() const {
    return std::visit(Overloaded{[this](const auto& layer) { return this->of(layer); }}, spec_.variant());
  }

 private:
  Values of(const DenseSpec& dense) const {
    return is_deterministic(spec_) ? naive_dense(dense.layer, x_) : source_.dense(dense.layer, x_);
  }
  Values of(const MixtureSpec& mixture) const { return source_.dense(source_.alternative(mixture), x_); }
  Values of(const ResidualSpec& block) const {
    Values skip = naive_draw(block.skip.layers, before_, x_, source_);
    return plus(std::move(skip), naive_draw(block.layers, before_, x_, source_));
  }
  Values of(Conv2dSpec fixed) const {
    const auto add = [this](Vector& mean, const Vector& variance) {
      if (variance.size() == 0) return;
      mean += variance.cwiseSqrt().cwiseProduct(source_.normals(variance.size()));
    };
    add(fixed.kernel_mean, fixed.kernel_variance);
    add(fixed.bias_mean, fixed.bias_variance);
    return naive_convolution(fixed, shape_after(spec_, before_), x_);
  }
  Values of(const DropoutSpec& dropout) const { return dropped(dropout.rate, 1); }
  Values of(const Dropout2dSpec& dropout) const { return dropped(dropout.rate, before_.positions()); }
  Values of(const GaussianDropoutSpec& dropout) const {
    const double deviation = std::sqrt(dropout.rate / (1.0 - dropout.rate));
    return changed(dropout.rate > 0.0, 1,
                   [&](Real& value, double normal) { value *= 1.0 + deviation * normal; });
  }
  Values of(const GaussianNoiseSpec& noise) const {
    return changed(noise.deviation > 0.0, 1,
                   [&](Real& value, double normal) { value += noise.deviation * normal; });
  }
  Values of(const OneOf<AvgPool2dSpec, MaxPool2dSpec, FlattenSpec, BatchNormSpec, ActivationSpec, AddSpec,
                        ConcatSpec, AffineSpec, ReshapeSpec, MeanSpec> auto& /*layer*/) const {
    return naive_layer(spec_, before_, x_);
  }

  [[nodiscard]] Values dropped(double rate, Index together) const {
    return changed(rate > 0.0, together, [&](Real& value, double normal) {
      const bool is_dropped = std::erfc(-normal / std::sqrt(2.0)) / 2.0 < rate;
      value = is_dropped ? Real(0) : value / (1.0 - rate);
    });
  }
  /// With a normal for each `together` values.
  template <class Change>
  [[nodiscard]] Values changed(bool is_random, Index together, Change change) const {
    Values y = x_;
    if (!is_random) return y;
    const Vector normals = source_.normals(static_cast<Index>(y.size()) / together);
    for (std::size_t i = 0; i < y.size(); ++i) change(y[i], normals(static_cast<Index>(i) / together));
    return y;
  }

  const LayerSpec& spec_;
  const LayerShape& before_;
  const Values& x_;
  NaiveSource<Real>& source_;
};

}  // namespace

template <class Real>
std::vector<Real> naive_draw(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                             const std::vector<Real>& x, NaiveSource<Real>& source) {
  return naive_list(layers, shape, x,
                    [&](const LayerSpec& spec, const LayerShape& before, const std::vector<Real>& in) {
                      return NaiveDraw<Real>(spec, before, in, source).draw();
                    });
}

template std::vector<long double> naive_draw(const std::vector<LayerSpec>& layers, const LayerShape& shape,
                                             const std::vector<long double>& x,
                                             NaiveSource<long double>& source);

Vector NaiveSampler::normals(Index count) { return random_matrix(generator_, count, 1); }

double NaiveSampler::entry(const EntryLaw& law) {
  std::normal_distribution<double> normal;
  switch (law.family()) {
    case EntryLaw::Family::Normal:
      return normal(generator_);
    case EntryLaw::Family::Laplace: {
      // The difference of two exponentials of mean one has the variance two.
      std::exponential_distribution<double> exponential;
      const double first = exponential(generator_);
      return (first - exponential(generator_)) / std::sqrt(2.0);
    }
    case EntryLaw::Family::Uniform:
      return std::sqrt(3.0) * (2.0 * uniform(generator_) - 1.0);
    case EntryLaw::Family::StudentT: {
      std::student_t_distribution<double> student(law.degrees());
      return student(generator_) * std::sqrt((law.degrees() - 2.0) / law.degrees());
    }
  }
  return 0.0;
}

Matrix NaiveSampler::deviations(const DenseLayer& layer) {
  const Index columns = layer.inputs() + 1;
  const EntryLaw weights = entry_law(layer.weights()), bias = entry_law(layer.bias());
  if (!weights.is_normal() || !bias.is_normal()) {
    return Matrix::NullaryExpr(layer.outputs(), columns, [&](Index i, Index j) {
      const double variance = j < layer.inputs() ? layer.weight_variances()(i, j) : layer.bias_variances()(i);
      return std::sqrt(variance) * entry(j < layer.inputs() ? weights : bias);
    });
  }
  const auto [at, is_new] = roots_.try_emplace(&layer);
  if (is_new) {
    const SymmetricEigen eigen = symmetric_eigen(naive_entry_covariance(layer));
    at->second = eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  }
  const Vector entries = at->second * normals(at->second.cols());
  return Matrix::NullaryExpr(layer.outputs(), columns,
                             [&](Index i, Index j) { return entries(i * columns + j); });
}

std::vector<double> NaiveSampler::dense(const DenseLayer& layer, const std::vector<double>& x) {
  const Matrix off = deviations(layer);
  std::vector<double> y = naive_dense(layer, x);
  for (Index i = 0; i < layer.outputs(); ++i) {
    y[static_cast<std::size_t>(i)] += off(i, layer.inputs());
    for (Index j = 0; j < layer.inputs(); ++j)
      y[static_cast<std::size_t>(i)] += off(i, j) * x[static_cast<std::size_t>(j)];
  }
  return y;
}

const DenseLayer& NaiveSampler::alternative(const MixtureSpec& mixture) {
  double left = uniform(generator_);
  std::size_t choice = 0;
  while (choice + 1 < mixture.weights.size() && left >= mixture.weights[choice])
    left -= mixture.weights[choice++];
  return mixture.alternatives[choice].layer;
}

Matrix naive_samples(const std::vector<LayerSpec>& layers, const LayerShape& shape, const Vector& x,
                     Index samples, Generator& generator) {
  NaiveSampler sampler(generator);
  const std::vector<double> input(x.begin(), x.end());
  Matrix drawn;
  for (Index s = 0; s < samples; ++s) {
    const std::vector<double> y = naive_draw<double>(layers, shape, input, sampler);
    if (s == 0) drawn.resize(static_cast<Index>(y.size()), samples);
    drawn.col(s) = Eigen::Map<const Vector>(y.data(), drawn.rows());
  }
  return drawn;
}

}  // namespace mixcert::testing

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Softmax and Gaussian likelihoods.
#include "train/likelihood.h"

#include <cmath>
#include <numbers>

namespace mixcert::lab {

FloatRows softmax(const FloatRows& outputs) {
  const Eigen::VectorXf largest = outputs.rowwise().maxCoeff();
  FloatRows values = (outputs.colwise() - largest).array().exp();
  const Eigen::VectorXf sums = values.rowwise().sum();
  values.array().colwise() /= sums.array();
  return values;
}

Examples gather(const Examples& examples, const Index* begin, Index count) {
  Examples batch;
  batch.inputs.resize(count, examples.inputs.cols());
  if (examples.targets.size() > 0) batch.targets.resize(count, examples.targets.cols());
  if (!examples.labels.empty()) batch.labels.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    batch.inputs.row(i) = examples.inputs.row(begin[i]);
    if (batch.targets.size() > 0) batch.targets.row(i) = examples.targets.row(begin[i]);
    if (!batch.labels.empty()) {
      batch.labels[static_cast<std::size_t>(i)] = examples.labels[static_cast<std::size_t>(begin[i])];
    }
  }
  return batch;
}

Vector Likelihood::log_likelihoods(const FloatRows& outputs, const Examples& targets) const {
  const Matrix f = outputs.cast<double>();
  if (task_ == Task::Regression) {
    const double constant =
        -0.5 * static_cast<double>(f.cols()) * std::log(2.0 * std::numbers::pi * noise_variance_);
    const Vector squares = (f - targets.targets.cast<double>()).rowwise().squaredNorm();
    return (constant - squares.array() / (2.0 * noise_variance_)).matrix();
  }
  const Vector largest = f.rowwise().maxCoeff();
  const Vector normaliser = (f.colwise() - largest).array().exp().rowwise().sum().log().matrix() + largest;
  Vector values(f.rows());
  for (Index n = 0; n < f.rows(); ++n) {
    values(n) = f(n, targets.labels[static_cast<std::size_t>(n)]) - normaliser(n);
  }
  return values;
}

FloatRows Likelihood::output_gradient(const FloatRows& outputs, const Examples& targets) const {
  if (task_ == Task::Regression) return (outputs - targets.targets) * static_cast<float>(scale());
  FloatRows gradient = softmax(outputs);
  for (Index n = 0; n < outputs.rows(); ++n) {
    gradient(n, targets.labels[static_cast<std::size_t>(n)]) -= 1.0F;
  }
  return gradient;
}

FloatRows Likelihood::hessian_root(const FloatRows& outputs, Generator& generator) const {
  if (task_ == Task::Regression) {
    FloatRows root(outputs.rows(), outputs.cols());
    const auto size = static_cast<float>(std::sqrt(scale()));
    for (Index i = 0; i < root.size(); ++i) root.data()[i] = uniform(generator) < 0.5 ? -size : size;
    return root;
  }
  FloatRows root = softmax(outputs);
  for (Index n = 0; n < root.rows(); ++n) {
    auto rest = static_cast<float>(uniform(generator));
    Index drawn = 0;
    while (drawn + 1 < root.cols() && rest >= root(n, drawn)) rest -= root(n, drawn++);
    root(n, drawn) -= 1.0F;
  }
  return root;
}

double Likelihood::mean_square_residual(const FloatRows& outputs, const Examples& targets) const {
  if (task_ == Task::Classification || outputs.size() == 0) return 0.0;
  return (outputs - targets.targets).cast<double>().squaredNorm() / static_cast<double>(outputs.size());
}

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Accuracy, errors and likelihoods.
#include "train/evaluation.h"

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

/// Sums over samples, from which all metrics follow.
class Accumulator {
 public:
  Accumulator(const Likelihood& likelihood, const Examples& examples)
      : likelihood_(likelihood), examples_(examples), largest_(Vector::Constant(examples.size(), -INFINITY)) {
    scaled_ = logs_ = Vector::Zero(examples.size());
  }

  void add(const FloatRows& outputs) {
    const Vector logs = likelihood_.log_likelihoods(outputs, examples_);
    // log of a sum of exponentials, kept relative to the largest so far.
    const Vector larger = largest_.cwiseMax(logs);
    scaled_ = scaled_.array() * (largest_ - larger).array().exp() + (logs - larger).array().exp();
    largest_ = larger;
    logs_ += logs;
    const FloatRows prediction = likelihood_.task() == Task::Classification ? softmax(outputs) : outputs;
    if (count_++ == 0) {
      predictions_ = prediction.cast<double>();
    } else {
      predictions_ += prediction.cast<double>();
    }
  }

  [[nodiscard]] Metrics metrics() const {
    const auto count = static_cast<double>(count_);
    Metrics metrics;
    metrics.negative_log_likelihood = -(scaled_.array().log() + largest_.array()).mean() + std::log(count);
    metrics.expected_log_likelihood = logs_.mean() / count;
    metrics.score = likelihood_.task() == Task::Classification ? accuracy() : root_mean_square_error();
    return metrics;
  }

 private:
  [[nodiscard]] double accuracy() const {
    Index right = 0;
    for (Index n = 0; n < predictions_.rows(); ++n) {
      Index best = 0;
      predictions_.row(n).maxCoeff(&best);
      right += best == examples_.labels[static_cast<std::size_t>(n)] ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(predictions_.rows());
  }

  [[nodiscard]] double root_mean_square_error() const {
    const Matrix residual =
        predictions_ / static_cast<double>(count_) - Matrix(examples_.targets.cast<double>());
    return std::sqrt(residual.squaredNorm() / static_cast<double>(residual.size()));
  }

  const Likelihood& likelihood_;
  const Examples& examples_;
  Index count_ = 0;
  Matrix predictions_;
  Vector largest_, scaled_, logs_;
};

}  // namespace

Metrics evaluate_mean(const Learner& learner, const Examples& examples) {
  Accumulator accumulator(learner.likelihood(), examples);
  accumulator.add(learner.outputs(examples.inputs, std::nullopt));
  return accumulator.metrics();
}

Metrics evaluate_samples(const Learner& learner, const Examples& examples, Index first, Index count,
                         const CancelFlag* cancel) {
  Accumulator accumulator(learner.likelihood(), examples);
  for (Index sample = first; sample < first + count; ++sample) {
    if (cancel != nullptr && cancel->load()) throw Interrupted("interrupted");
    accumulator.add(learner.outputs(examples.inputs, sample));
  }
  return accumulator.metrics();
}

Metrics evaluate_networks(const StackNet& net, const Likelihood& likelihood, const Examples& examples,
                          const std::vector<FloatVector>& weights, int threads) {
  Accumulator accumulator(likelihood, examples);
  for (const FloatVector& drawn : weights) accumulator.add(predict(net, drawn, examples.inputs, threads));
  return accumulator.metrics();
}

double expected_log_likelihood(const Learner& learner, const Examples& examples, Index first, Index count) {
  double sum = 0.0;
  for (Index sample = first; sample < first + count; ++sample) {
    sum += learner.likelihood().log_likelihoods(learner.outputs(examples.inputs, sample), examples).mean();
  }
  return sum / static_cast<double>(count);
}

Examples first_examples(const Examples& examples, Index count) {
  if (count >= examples.size()) return examples;
  std::vector<Index> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) rows[static_cast<std::size_t>(i)] = i;
  return gather(examples, rows.data(), count);
}

}  // namespace mixcert::lab

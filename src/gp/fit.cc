// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Maximum marginal likelihood. NLopt is C: what the likelihood throws is kept, stops the search and is thrown
// again behind it.
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>

#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "mixcert/core/rng.h"
#include "mixcert/gp/gaussian_process.h"
#include "statistics/simulate/normal_source.h"

namespace mixcert {
namespace {

/// Where steps change the likelihood by less than this share, the search ends.
constexpr double kTolerance = 1e-8;

struct Examples {
  Matrix inputs;
  Vector targets;
};

struct Evaluated {
  Vector parameters;
  double log_marginal_likelihood = -INFINITY;
};

/// The likelihood as a function of one vector: kernel, log noise, mean.
class Problem {
 public:
  Problem(GaussianProcess shape, Examples examples, const CancelFlag* cancel)
      : shape_(std::move(shape)), examples_(std::move(examples)), cancel_(cancel) {}

  [[nodiscard]] Vector parameters(double noise_variance) const {
    const Vector kernel = shape_.kernel.parameters();
    const Vector mean = shape_.mean.parameters();
    Vector all(kernel.size() + 1 + mean.size());
    all << kernel, std::log(noise_variance), mean;
    return all;
  }

  [[nodiscard]] double noise_variance(const Vector& all) const {
    return std::exp(all(shape_.kernel.parameter_count()));
  }

  [[nodiscard]] GaussianProcess process(const Vector& all) const {
    return {shape_.mean.with_parameters(all.tail(shape_.mean.parameter_count())),
            shape_.kernel.with_parameters(all.head(shape_.kernel.parameter_count()))};
  }

  /// True for parameters that are logarithms.
  [[nodiscard]] std::vector<bool> logarithmic() const {
    std::vector<bool> flags;
    for (const std::string& name : shape_.kernel.parameter_names())
      flags.push_back(!name.ends_with(".center"));
    flags.push_back(true);
    flags.resize(flags.size() + static_cast<std::size_t>(shape_.mean.parameter_count()), false);
    return flags;
  }

  /// The likelihood and, where `gradient` is not null, its gradient.
  double evaluate(const Vector& all, double* gradient) {
    if (cancel_ != nullptr && cancel_->load()) throw Interrupted("interrupted");
    ++evaluations_;
    const GpRegression regression(process(all), noise_variance(all), examples_.inputs, examples_.targets);
    const double value = regression.log_marginal_likelihood();
    if (gradient != nullptr) {
      Eigen::Map<Vector>(gradient, all.size()) = regression.log_marginal_likelihood_gradient();
    }
    if (value > best_.log_marginal_likelihood) best_ = {all, value};
    return value;
  }

  [[nodiscard]] const Evaluated& best() const { return best_; }
  [[nodiscard]] Index evaluations() const { return evaluations_; }

 private:
  GaussianProcess shape_;
  Examples examples_;
  const CancelFlag* cancel_;
  Evaluated best_;
  Index evaluations_ = 0;
};

/// What the C callback is given.
struct Search {
  Problem* problem;
  nlopt_opt optimiser;
  std::exception_ptr failure;
};

double negative_likelihood(unsigned count, const double* x, double* gradient, void* data) {
  auto* search = static_cast<Search*>(data);
  try {
    const Vector parameters = Eigen::Map<const Vector>(x, static_cast<Index>(count));
    const double value = search->problem->evaluate(parameters, gradient);
    if (gradient != nullptr) Eigen::Map<Vector>(gradient, parameters.size()) *= -1.0;
    return -value;
  } catch (...) {
    search->failure = std::current_exception();
    nlopt_force_stop(search->optimiser);
    return HUGE_VAL;
  }
}

using Optimiser = std::unique_ptr<std::remove_pointer_t<nlopt_opt>, decltype(&nlopt_destroy)>;

/// Runs L-BFGS from `start`; the problem keeps the best that it saw. True when it converged.
bool search_from(Problem& problem, Vector start, const Vector& lower, const Vector& upper,
                 Index most_evaluations) {
  const Optimiser optimiser(nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(start.size())),
                            &nlopt_destroy);
  if (!optimiser) throw ResourceError("fit: no memory for the optimiser");
  Search search{&problem, optimiser.get(), nullptr};
  nlopt_set_min_objective(optimiser.get(), &negative_likelihood, &search);
  nlopt_set_lower_bounds(optimiser.get(), lower.data());
  nlopt_set_upper_bounds(optimiser.get(), upper.data());
  nlopt_set_ftol_rel(optimiser.get(), kTolerance);
  nlopt_set_maxeval(optimiser.get(), static_cast<int>(most_evaluations));
  double value = 0.0;
  const nlopt_result result = nlopt_optimize(optimiser.get(), start.data(), &value);
  if (search.failure) std::rethrow_exception(search.failure);
  return result > 0 && result != NLOPT_MAXEVAL_REACHED;
}

Examples chosen_examples(ConstMatrixRef inputs, ConstVectorRef targets, const GpFitOptions& options) {
  require(targets.size() == inputs.cols(), "fit: expected one target for each input, got " +
                                               std::to_string(targets.size()) + " and " +
                                               std::to_string(inputs.cols()));
  const Index count = options.subset_size == 0 ? inputs.cols() : options.subset_size;
  const std::vector<Index> chosen = random_subset(inputs.cols(), count, options.seed);
  return {inputs(Eigen::all, chosen), targets(chosen)};
}

}  // namespace

void GpFitOptions::validate() const {
  require(starts >= 1, "starts: expected at least 1, got " + std::to_string(starts));
  require(subset_size >= 0, "subset_size: expected 0 (all) or more, got " + std::to_string(subset_size));
  require(most_evaluations >= 1 && most_evaluations <= 1000000,
          "most_evaluations: expected 1..1000000, got " + std::to_string(most_evaluations));
  require(range > 1.0 && std::isfinite(range),
          "range: expected a number above 1, got " + format_number(range));
}

GpFit fit_gp(const GaussianProcess& process, double noise_variance, ConstMatrixRef inputs,
             ConstVectorRef targets, const GpFitOptions& options) {
  options.validate();
  require(noise_variance > 0.0,
          "fit: expected a noise variance above 0, got " + format_number(noise_variance));
  Examples examples = chosen_examples(inputs, targets, options);
  GpFit fit;
  fit.subset_size = examples.targets.size();
  Problem problem(process, std::move(examples), options.cancel);
  const Vector given = problem.parameters(noise_variance);
  const std::vector<bool> logarithmic = problem.logarithmic();
  Vector width(given.size());
  for (Index i = 0; i < given.size(); ++i) {
    width(i) = logarithmic[static_cast<std::size_t>(i)] ? std::log(options.range) : INFINITY;
  }
  for (Index start = 0; start < options.starts; ++start) {
    Matrix shift = Matrix::Zero(given.size(), 1);
    Generator generator = make_generator(options.seed, Stream::Restart, static_cast<std::uint64_t>(start));
    if (start > 0) fill_normal(generator, shift);
    const Vector moved = (width.array() < INFINITY).select(given + shift, given);
    const double before = problem.best().log_marginal_likelihood;
    const bool converged = search_from(problem, moved.cwiseMax(given - width).cwiseMin(given + width),
                                       given - width, given + width, options.most_evaluations);
    if (problem.best().log_marginal_likelihood > before) {
      fit.best_start = start;
      fit.converged = converged;
    }
  }
  fit.process = problem.process(problem.best().parameters);
  fit.noise_variance = problem.noise_variance(problem.best().parameters);
  fit.log_marginal_likelihood = problem.best().log_marginal_likelihood;
  fit.evaluations = problem.evaluations();
  return fit;
}

std::vector<Index> random_subset(Index total, Index count, std::uint64_t seed) {
  std::vector<Index> numbers(static_cast<std::size_t>(total));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  if (count >= total) return numbers;
  // The first steps of a Fisher-Yates shuffle; std::shuffle differs between standard libraries.
  Generator generator = make_generator(seed, Stream::Subset);
  for (Index i = 0; i < count; ++i) {
    const auto left = static_cast<double>(total - i);
    std::swap(numbers[static_cast<std::size_t>(i)],
              numbers[static_cast<std::size_t>(i + static_cast<Index>(uniform(generator) * left))]);
  }
  numbers.resize(static_cast<std::size_t>(count));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace mixcert

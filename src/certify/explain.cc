// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The bound at one input taken apart, docs/theory/explain.md, and trials of other options under a time limit.
#include "mixcert/certify/explain.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "certify/certifier.h"
#include "certify/method_choice.h"
#include "mixcert/certify/trial.h"
#include "mixcert/core/error.h"
#include "mixcert/core/option_table.h"
#include "network/ordinary_scale.h"

namespace mixcert {
namespace {

/// Simulation is offered where the bound is larger than this, relative to the output's size.
constexpr double kWorthSimulating = 0.1;

/// (X.4): the squares of the members' bounds average to that of the ensemble.
std::vector<double> member_contributions(const std::vector<Result>& results, const Vector& weights) {
  double sum = 0.0;
  std::vector<double> amounts;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double bound = results[i].w2.value;
    amounts.push_back(weights(static_cast<Index>(i)) * bound * bound);
    sum += amounts.back();
  }
  for (double& amount : amounts) amount = sum > 0.0 ? amount / std::sqrt(sum) : 0.0;
  return amounts;
}

}  // namespace

Explanation explain(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                    const Services& services) {
  options.validate();
  for (Index i = 0; i < ensemble.size(); ++i) {
    require(!is_coupled(ensemble.member(i), options),
            "explain: a bound certified by simulation has no parts");
  }
  const std::optional<Ensemble> rescaled =
      with_ordinary_sizes(ensemble, [&](const Network& one) { return stays_graph(one, options); });
  const Ensemble& ordinary = rescaled ? *rescaled : ensemble;
  require(options.method != Method::Cross, "explain: method cross has no bound to explain");
  require(!options.radius, "explain: takes the bound at an input itself apart, without a radius");
  require(options.predictive == Predictive::Network,
          "explain: the linearised law (predictive glm) is Gaussian: nothing is approximated");
  check_inputs(ordinary.member(0), inputs);
  require(options.joint || inputs.cols() == 1,
          "explain: expected one input, got " + std::to_string(inputs.cols()));
  const std::vector<Certifier> members = member_certifiers(ordinary, options, services);
  std::vector<Result> results;
  Explanation explanation;
  Certified largest;
  double largest_share = -1.0;
  for (Index i = 0; i < ordinary.size(); ++i) {
    Certified made = members[static_cast<std::size_t>(i)].certify(inputs, 0);
    results.push_back(made.result);
    const double share = ordinary.weights()(i) * made.result.w2.value * made.result.w2.value;
    if (!(share > largest_share)) continue;
    largest_share = share;
    explanation.member = i;
    largest = std::move(made);
  }
  explanation.members = member_contributions(results, ordinary.weights());
  explanation.contributions = members[static_cast<std::size_t>(explanation.member)].explain(largest);
  if (ordinary.size() == 1 && !options.joint && largest.result.relative_w2 > kWorthSimulating)
    explanation.forecast = members.front().forecast(largest);
  explanation.member_result = std::move(largest.result);
  explanation.result = ordinary.size() == 1
                           ? explanation.member_result
                           : combine_results(std::move(results), ordinary.weights(), options);
  return explanation;
}

// Trials.

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A flag that is set at a point in time, or when another one is.
class Deadline final : public CancelFlag {
 public:
  Deadline(double seconds, const CancelFlag* other)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
        other_(other) {}

  [[nodiscard]] bool load() const override {
    return Clock::now() >= end_ || (other_ != nullptr && other_->load());
  }

 private:
  Clock::time_point end_;
  const CancelFlag* other_;
};

/// Collects candidates, each a change of the same options.
class Candidates {
 public:
  explicit Candidates(const Options& options) : options_(options) { options_.statistics = 0; }

  template <class Change>
  void add(const Change& change) {
    Options changed = options_;
    change(changed);
    try {
      changed.validate();
    } catch (const InvalidArgument&) {
      return;  // beyond a field's range
    }
    if (!changed_options(options_, changed).empty()) all_.push_back(changed);
  }
  std::vector<Options> take() { return std::move(all_); }

 private:
  Options options_;
  std::vector<Options> all_;
};

/// The method, and no field that it has no use for.
void choose_method(Options& options, Method method) {
  const Options defaults;
  options.method = method;
  if (method == Method::Signature) {
    options.theorems = defaults.theorems;
    options.pieces = defaults.pieces;
    options.sensitivity = defaults.sensitivity;
  } else if (method == Method::Moment) {
    options.signature_size = defaults.signature_size;
    options.components = defaults.components;
    options.grid = defaults.grid;
  }
}

void add_moment_candidates(const Options& options, const Result& result, Candidates& candidates) {
  const bool may_split = !options.epsilon && !options.joint;
  if (options.method == Method::Moment) candidates.add([](Options& o) { o.method = Method::Auto; });
  if (options.theorems != TheoremSet::All) candidates.add([](Options& o) { o.theorems = TheoremSet::All; });
  if (may_split) candidates.add([](Options& o) { o.pieces *= 4; });
  if (result.layers.size() > 1) {
    candidates.add([](Options& o) { o.sensitivity = SensitivityMode::Sdp; });
  }
  if (options.method == Method::Auto) {
    candidates.add([](Options& o) { choose_method(o, Method::Signature); });
    candidates.add([](Options& o) {
      choose_method(o, Method::Signature);
      o.signature_size *= 16;
      o.components *= 4;
    });
  }
  if (may_split) candidates.add([](Options& o) { o.pieces *= 16; });
}

void add_signature_sizes(Candidates& candidates) {
  candidates.add([](Options& o) { o.signature_size *= 4; });
  candidates.add([](Options& o) { o.components *= 4; });
  candidates.add([](Options& o) {
    o.signature_size *= 4;
    o.components *= 4;
  });
}

void add_signature_candidates(const Options& options, Candidates& candidates) {
  if (!options.epsilon) add_signature_sizes(candidates);
  candidates.add([](Options& o) { o.grid = GridPlacement::Adaptive; });
  candidates.add([](Options& o) { o.certificate = CertificateMode::Best; });
  candidates.add([](Options& o) {
    choose_method(o, Method::Moment);
    o.certificate = CertificateMode::Best;
  });
  if (options.epsilon) return;
  if (options.method == Method::Auto && !options.joint) candidates.add([](Options& o) { o.pieces *= 16; });
  candidates.add([](Options& o) { o.signature_size *= 16; });
}

Trial run_trial(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options, double seconds,
                const Services& services) {
  Trial trial;
  trial.options = options;
  const auto start = Clock::now();
  const Deadline deadline(seconds, services.cancel);
  Services limited = services;
  limited.cancel = &deadline;
  try {
    trial.w2_bound = certify(ensemble, inputs, options, limited).front().w2.value;
  } catch (const Interrupted&) {
    if (services.cancel != nullptr && services.cancel->load()) throw;
    trial.failure = "the time is up";
  } catch (const ResourceError& error) {
    trial.failure = error.what();
  } catch (const InvalidArgument& error) {
    trial.failure = error.what();
  }
  trial.seconds = seconds_since(start);
  return trial;
}

}  // namespace

std::string changed_options(const Options& from, const Options& to) {
  std::string text;
  for (const auto& field : option_table()) {
    if (field.get(from) == field.get(to)) continue;
    const std::string value = field.kind == OptionKind::Flag ? "" : " " + field.get(to);
    text += (text.empty() ? "--" : " --") + field.name + value;
  }
  return text;
}

std::vector<Options> candidate_options(const Options& options, const Result& result) {
  Candidates candidates(options);
  if (result.layers.empty() || options.method == Method::Cross) return {};
  if (result.layers.front().metric == kFormsMetric) return {};  // graphs have nothing to choose
  if (options.epsilon) {
    // Sizes are chosen for it: the budget may be raised, or less be asked.
    candidates.add([](Options& o) { o.max_components *= 4; });
    candidates.add([](Options& o) { *o.epsilon /= 2.0; });
  }
  if (result.method == Method::Signature) {
    add_signature_candidates(options, candidates);
  } else {
    add_moment_candidates(options, result, candidates);
  }
  return candidates.take();
}

std::vector<Trial> run_trials(const Ensemble& ensemble, ConstMatrixRef inputs, const Options& options,
                              const std::vector<Options>& candidates, double seconds,
                              const Services& services) {
  Options present = options;
  present.statistics = 0;
  std::vector<Options> all = {present};
  all.insert(all.end(), candidates.begin(), candidates.end());
  const auto start = Clock::now();
  std::vector<Trial> trials;
  for (const Options& candidate : all) {
    // What was certified is certified again however long it takes: the others are compared with it.
    // None but the last may take more than half of what is left.
    const double left = trials.empty() ? 1e9 : seconds - seconds_since(start);
    const bool last = trials.size() + 1 == all.size();
    if (left > 0.0) {
      trials.push_back(
          run_trial(ensemble, inputs, candidate, trials.empty() || last ? left : 0.5 * left, services));
    } else {
      trials.push_back({candidate, "", 0.0, 0.0, "the time is up"});
    }
    trials.back().change = changed_options(present, candidate);
  }
  return trials;
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text of `mixcert certify`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "certify/certifier.h"
#include "certify/layer_table.h"
#include "certify/proven_lower.h"
#include "core/text_table.h"
#include "mixcert/certify/result_text.h"
#include "report/terminal/text_report.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

constexpr Index kShownOutputs = 3;

/// Is dropout behind one hidden layer all that is random?
bool may_have_lower(const Ensemble& ensemble, const Options& options) {
  const Network& network = ensemble.member(0);
  return ensemble.size() == 1 && !options.joint && options.predictive == Predictive::Network &&
         is_made_of_masks(network) && network.hidden_count() == 1;
}

/// As narrow as the vectors of `entries` numbers allow.
TextTable input_table(const Options& options, Index entries, bool has_lower) {
  const int vector_width = !options.joint && entries == 1 ? 10 : !options.joint && entries == 2 ? 19 : 24;
  std::vector<Column> columns = {{"input", 5}, {"mean", vector_width}, {"std", vector_width}};
  const auto add = [&](std::initializer_list<Column> more) { columns.insert(columns.end(), more); };
  if (options.statistics > 0) add({{"lower (stat.)", 13}, {"upper (stat.)", 13}});
  add({{"certified W2", 12}, {"relative W2", 11}});
  if (has_lower) add({{"no Gaussian <", 13}});
  if (options.statistics == 0) {
    add({options.simulate ? Column{"W2 by simulation", 16} : Column{"components", 10}, {"time", 8}});
  }
  return TextTable(std::move(columns));
}

/// The first few entries.
std::string short_vector(const Vector& values) {
  std::string text;
  for (Index i = 0; i < std::min(values.size(), kShownOutputs); ++i) {
    text += fmt::format("{}{:.{}g}", i == 0 ? "" : " ", values(i), values.size() == 1 ? 4 : 3);
  }
  return text + (values.size() > kShownOutputs ? " .." : "");
}

void add_name(const std::string& name, std::vector<std::string>& names) {
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  names.push_back(name);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

CertifyReport::CertifyReport(const Ensemble& ensemble, const Options& options, Index row_limit,
                             std::string functional)
    : ensemble_(ensemble),
      options_(options),
      row_limit_(row_limit),
      functional_(std::move(functional)),
      has_lower_(may_have_lower(ensemble, options)),
      inputs_(input_table(options, ensemble.outputs(), has_lower_)) {}

void CertifyReport::add_simulated(const SimulatedBound& simulated) {
  if (simulated.exists()) {
    ++simulated_;
    simulated_sum_ += simulated.w2;
    simulated_max_ = std::max(simulated_max_, simulated.w2);
    most_draws_ = std::max(most_draws_, simulated.draws);
  } else if (simulation_gap_.empty()) {
    simulation_gap_ = simulated.gap;
  }
  for (const SimulatedMarginal& marginal : simulated.marginals) {
    ++marginals_;
    marginal_sum_ += marginal.w2;
    marginal_max_ = std::max(marginal_max_, marginal.w2);
  }
}

std::string CertifyReport::add(const Result& result) {
  if (result.simulated) add_simulated(*result.simulated);
  if (layers_.empty()) layers_.resize(result.layers.size());
  for (std::size_t k = 0; k < result.layers.size(); ++k) {
    const LayerReport& layer = result.layers[k];
    LayerSum& sum = layers_[k];
    sum.compression += layer.compression;
    sum.local += layer.local;
    sum.gain = std::max(sum.gain, layer.gain);
    sum.components = std::max(sum.components, layer.components);
    sum.points = std::max(sum.points, layer.points);
    add_name(layer.metric, sum.metrics);
    add_name(theorem_in_words(layer.theorem), sum.theorems);
  }
  if (count_ == 0 || result.w2.value > bound_max_) {
    bound_max_ = result.w2.value;
    worst_ = result.input;
  }
  bound_sum_ += result.w2.value;
  relative_sum_ += result.relative_w2;
  change_sum_ += result.input_change;
  has_cells_ = has_cells_ || result.cell.has_value();
  if (result.w2_lower > 0.0) {
    ++with_lower_;
    lower_gaussian_sum_ += result.w2_lower;
  }
  if (result.w2_lower_mixture > 0.0 && result.mixture.size() > 1) {
    ++with_lower_mixture_;
    lower_mixture_sum_ += result.w2_lower_mixture;
  }
  seconds_ += result.seconds;
  if (result.statistics) {
    ++estimated_;
    lower_sum_ += result.statistics->w2_lower_statistical;
    upper_sum_ += result.statistics->w2_upper_statistical;
    stein_sum_ += result.statistics->w2_stein;
    stein_error_sum_ += result.statistics->stein_error;
    statistics_ = result.statistics;
  }
  last_reason_ = result.reason;
  if (result.termination == Termination::EpsilonReached) {
    ++below_epsilon_;
  } else if (missed_reason_.empty()) {
    missed_reason_ = (options_.joint ? "" : fmt::format("input {}: ", result.input)) + result.reason;
  }
  ++count_;
  if (count_ > row_limit_) return "";
  return (count_ == 1 ? inputs_.header() : "") + row(result);
}

std::string CertifyReport::row(const Result& result) const {
  std::vector<std::string> cells = {options_.joint ? "joint" : std::to_string(result.input),
                                    short_vector(result.mixture.mean()),
                                    short_vector(result.mixture.standard_deviation())};
  // Statistics that nobody asked for have no columns: they stand below the table.
  const bool is_estimated = options_.statistics > 0 && result.statistics;
  if (is_estimated) {
    cells.push_back(short_number(result.statistics->w2_lower_statistical));
    cells.push_back(short_number(result.statistics->w2_upper_statistical));
  }
  cells.push_back(short_bound(result.w2.value));
  cells.push_back(short_bound(result.relative_w2));
  if (has_lower_) cells.push_back(short_lower_bound(result.w2_lower));
  if (is_estimated) return inputs_.row(cells);
  const bool is_simulated = result.simulated && result.simulated->exists();
  cells.push_back(!options_.simulate ? std::to_string(result.mixture.size())
                  : is_simulated     ? short_bound(result.simulated->w2)
                                     : "-");
  cells.push_back(short_time(result.seconds));
  return inputs_.row(cells);
}

/// Of hidden layer `layer` (from zero) of the networks that have it; "several" where they differ. Terms of
/// graphs are those of activations: nothing is written out to count neurons.
std::string CertifyReport::neurons(std::size_t layer) const {
  std::string text;
  for (Index i = 0; i < ensemble_.size(); ++i) {
    const Network& member = ensemble_.member(i);
    if (!member.is_written_out() || static_cast<Index>(layer) >= member.hidden_count()) continue;
    const std::string own = std::to_string(member.layer(static_cast<Index>(layer)).outputs());
    if (!text.empty() && text != own) return "several";
    text = own;
  }
  return text;
}

std::string CertifyReport::mean_terms() const {
  const double n = static_cast<double>(count_);
  std::vector<LayerRow> rows;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const LayerSum& sum = layers_[k];
    const double share = bound_sum_ > 0.0 ? (sum.compression + sum.local) / bound_sum_ : 0.0;
    rows.push_back({neurons(k), sum.components, sum.points, sum.compression / n, sum.local / n, sum.gain,
                    share, listed(sum.metrics), listed(sum.theorems)});
  }
  std::string how = count_ > 1 ? "mean over inputs, carried to the output" : "carried to the output";
  if (!std::isnan(change_sum_)) how += "; the inputs around have the rest";
  return "\n" + layer_table(rows, how);
}

std::string CertifyReport::bound_line() const {
  const double n = static_cast<double>(count_);
  const std::string law = (functional_.empty() ? "" : functional_ + " of the ") +
                          std::string(options_.predictive == Predictive::Glm ? "linearised " : "") +
                          (ensemble_.size() == 1 ? "network" : "ensemble");
  const std::string inputs = has_cells_ ? "every input of each cell" : inputs_in_words(options_) + " of each";
  const std::string ball = !has_cells_ && !options_.radius
                               ? ""
                               : fmt::format("these hold at {}, which costs {}{} (M.9, M.12)\n", inputs,
                                             short_bound(change_sum_ / n), count_ == 1 ? "" : " on average");
  if (count_ == 1) {
    return fmt::format("\nW2({}, mixture) <= {}; relative {}\n{}", law, short_bound(bound_max_),
                       short_bound(relative_sum_), ball);
  }
  return fmt::format("\nW2({}, mixture) <= {} on average, {} at worst (input {}); relative {} on average\n{}",
                     law, short_bound(bound_sum_ / n), short_bound(bound_max_), worst_,
                     short_bound(relative_sum_ / n), ball);
}

std::string CertifyReport::lower_lines() const {
  const auto line = [&](const char* what, Index count, double sum) -> std::string {
    if (count == 0) return "";
    const std::string mean = count_ == 1 ? "" : " on average";
    const std::string where = count == count_ ? "" : " at " + counted(count, "input");
    return fmt::format("proven: {} closer than {}{}{} (D.9)\n", what,
                       short_lower_bound(sum / static_cast<double>(count)), mean, where);
  };
  return line("no Gaussian is", with_lower_, lower_gaussian_sum_) +
         line("these mixtures are no", with_lower_mixture_, lower_mixture_sum_);
}

std::string CertifyReport::statistics_lines() const {
  const bool has_upper = !std::isnan(upper_sum_), is_asked = options_.statistics > 0;
  const auto n = static_cast<double>(estimated_);
  const std::string lower = is_asked ? "lower" : short_number(lower_sum_ / n),
                    upper = is_asked ? "upper" : short_number(upper_sum_ / n);
  const std::string mean = is_asked || estimated_ == 1 ? "" : ", means over " + counted(estimated_, "input");
  std::string text =
      fmt::format("stat.: estimates from {}, not certified ({}){}:\n  W2 >= {} with confidence {}",
                  counted(statistics_->samples, "sample"), statistics_->assumption, mean, lower,
                  statistics_->lower_confidence);
  text +=
      has_upper
          ? fmt::format("; W2 <= {} but for a probability of {}\n", upper, statistics_->failure_probability)
          : "; no upper estimate for mixtures of method signature or cross, of graphs, or fitted to "
            "a law or to draws\n";
  if (!std::isnan(stein_sum_)) {
    text += fmt::format("  by Stein's method W2 is about {} (standard error {}), rare events apart\n",
                        short_number(stein_sum_ / n), short_number(stein_error_sum_ / n));
  }
  if (std::isnan(bound_sum_) || estimated_ < count_) return text;
  const auto ratio = [&](const char* side, double sum) {
    return sum > 0.0 ? fmt::format("; at {} {}", side, short_number(bound_sum_ / sum)) : std::string();
  };
  const std::string ratios = ratio("least", upper_sum_) + ratio("most", lower_sum_);
  if (ratios.empty()) return text;
  return text + "  looseness of the certified bound (ratios of means)" + ratios + "\n";
}

std::string CertifyReport::simulation_lines() const {
  std::string text;
  if (simulated_ > 0) {
    const double n = static_cast<double>(simulated_);
    text = fmt::format("certified by simulation: W2 <= {}; fails with probability {} at each input",
                       simulated_ == 1 ? short_bound(simulated_max_)
                                       : short_bound(simulated_sum_ / n) + " on average, " +
                                             short_bound(simulated_max_) + " at worst",
                       options_.simulation_failure);
    if (simulated_ > 1)
      text += fmt::format(", {:.6g} for all {} together", std::min(1.0, options_.simulation_failure * n),
                          simulated_);
    text += fmt::format("\n  up to {}, bits of AES-256 taken as independent and fair\n",
                        counted(most_draws_, "draw"));
  }
  if (marginals_ > 0) {
    text += fmt::format(
        "each output by itself, certified by simulation: W2 <= {} on average, {} at worst; all of "
        "an input fail with probability {}\n",
        short_bound(marginal_sum_ / static_cast<double>(marginals_)), short_bound(marginal_max_),
        options_.simulation_failure);
  }
  if (simulated_ < count_) {
    text += fmt::format("no bound by simulation at {}: {}\n", counted(count_ - simulated_, "input"),
                        simulation_gap_);
  }
  return text;
}

std::string CertifyReport::footer() const {
  std::string text;
  if (count_ > row_limit_) text += fmt::format("  .. and {}\n", counted(count_ - row_limit_, "more input"));
  if (count_ == 0) return text;
  const std::string law = options_.joint ? "joint law" : "input";
  if (std::isnan(bound_sum_)) {
    text += "\n" + last_reason_ + "\n";
  } else {
    if (!layers_.empty()) text += mean_terms();
    text += bound_line();
  }
  text += lower_lines();
  if (options_.simulate) text += simulation_lines();
  if (statistics_) text += statistics_lines();
  if (options_.epsilon) {
    text += fmt::format("epsilon {} met at {} of {}{}\n", short_number(*options_.epsilon), below_epsilon_,
                        counted(count_, law), below_epsilon_ < count_ ? "; " + missed_reason_ : "");
  }
  if (ensemble_.size() > 1) text += fmt::format("ensemble of {} networks; ", ensemble_.size());
  return text + fmt::format("{}, {}{}\n", counted(count_, law),
                            short_time(seconds_ / static_cast<double>(count_)),
                            count_ == 1 ? "" : " each on average");
}

}  // namespace mixcert

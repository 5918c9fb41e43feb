// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The brief and the full text of a result.
#include "mixcert/certify/result_text.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "certify/layer_table.h"
#include "core/text_table.h"
#include "mixcert/certify/certify.h"
#include "theorems/theorem_table.h"

namespace mixcert {
namespace {

constexpr Index kOutputsInBrief = 3;
constexpr Index kOutputsInFull = 10;

std::string whose(const Result& result) {
  return result.options && result.options->joint ? "joint law" : "input " + std::to_string(result.input);
}

std::string method_text(const Result& result) { return "method " + std::string(to_string(result.method)); }

/// Which law the bound is about, where it is not the network's.
std::string distance_text(const Result& result) {
  const bool linearised = result.options && result.options->predictive == Predictive::Glm;
  return linearised ? "W2 to the linearised network (glm) <= " : "W2 <= ";
}

std::string percent_above(double share) { return outward_number(100.0 * share, 3, +1) + " %"; }

/// "12 % of the deviation": of the root of all outputs' summed variances. Without one, nothing is said.
std::string share_of_deviation(const Result& result) {
  const double deviation = result.mixture.standard_deviation().norm();
  return deviation > 0.0 ? percent_above(result.w2.value / deviation) + " of the deviation" : "";
}

std::string in_parentheses(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

/// Where the bounds hold, if not at the input alone.
std::string set_in_words(const Result& result) {
  if (std::isnan(result.input_change)) return "";
  if (result.cell) return "every input of its cell";
  return result.options ? inputs_in_words(*result.options) : "every input of a ball";
}

std::string where_text(const Result& result) {
  const std::string words = set_in_words(result);
  return words.empty() ? "" : " at " + words;
}

std::string brief_bound(const Result& result) {
  if (!result.w2.exists()) return "no bound";
  return distance_text(result) + short_bound(result.w2.value) + in_parentheses(share_of_deviation(result)) +
         where_text(result);
}

std::string full_bounds(const Result& result) {
  if (!result.w2.exists()) return "no bound" + in_parentheses(result.reason);
  std::string shares = share_of_deviation(result);
  if (!std::isnan(result.relative_w2)) {
    shares += (shares.empty() ? "" : ", ") + percent_above(result.relative_w2) + " of the root mean square";
  }
  const std::string w1 = result.w1.exists() ? ", W1 <= " + short_bound(result.w1.value) : "";
  return distance_text(result) + short_bound(result.w2.value) + in_parentheses(shares) + w1;
}

/// What is proven from below, in a line; nothing where that is zero or not known.
std::string lower_line(const Result& result) {
  std::string text;
  if (result.w2_lower > 0.0) text = "no Gaussian is closer than " + short_lower_bound(result.w2_lower);
  if (result.w2_lower_mixture > 0.0 && result.mixture.size() > 1) {
    text += (text.empty() ? "" : ", ") + std::string("this mixture is no closer than ") +
            short_lower_bound(result.w2_lower_mixture);
  }
  return text.empty() ? "" : "proven from below (D.9): " + text + "\n";
}

/// Where the bounds hold and what that costs, in a line; nothing at a single input.
std::string ball_line(const Result& result) {
  const std::string words = set_in_words(result);
  if (words.empty()) return "";
  return "the bounds hold at " + words + ", for which they are larger by " +
         short_bound(result.input_change) + " (M.9, M.12)\n";
}

std::string output_table(const GaussianMixture& mixture) {
  const Vector mean = mixture.mean(), deviation = mixture.standard_deviation();
  const TextTable table({{"output", 6}, {"mean", 11}, {"deviation", 11}});
  std::string text = table.header();
  for (Index i = 0; i < std::min(mean.size(), kOutputsInFull); ++i) {
    text += table.row({"y" + std::to_string(i), short_number(mean(i)), short_number(deviation(i))});
  }
  const Index hidden = mean.size() - kOutputsInFull;
  return text + (hidden > 0 ? "  .. and " + counted(hidden, "more output") + "\n" : "");
}

std::string terms_of_layers(const Result& result) {
  std::vector<LayerRow> rows;
  for (const LayerReport& layer : result.layers) {
    LayerRow& row = rows.emplace_back();
    row.components = layer.components;
    row.points = layer.points;
    row.compression = layer.compression;
    row.local = layer.local;
    row.gain = layer.gain;
    row.share = result.w2.value > 0.0 ? (layer.compression + layer.local) / result.w2.value : 0.0;
    row.metric = layer.metric;
    row.theorems = theorem_in_words(layer.theorem);
  }
  const std::string rest = std::isnan(result.input_change) ? "" : "; the inputs around have the rest";
  return rows.empty() ? "" : "\n" + layer_table(rows, "carried to the output" + rest);
}

std::string estimates(const TwoSidedStatistics& statistics) {
  std::string text = "estimates from " + counted(statistics.samples, "sample") + ", not certified (" +
                     statistics.assumption + "): W2 >= " + short_number(statistics.w2_lower_statistical) +
                     " with confidence " + format_number(statistics.lower_confidence);
  if (!std::isnan(statistics.w2_upper_statistical)) {
    text += "; W2 <= " + short_number(statistics.w2_upper_statistical) + " but for a probability of " +
            format_number(statistics.failure_probability);
  }
  if (!std::isnan(statistics.w2_stein)) {
    text += "; by Stein's method about " + short_number(statistics.w2_stein) + ", standard error " +
            short_number(statistics.stein_error);
  }
  return text + "\n";
}

/// The laws of single outputs that simulation certifies.
std::string marginal_lines(const std::vector<SimulatedMarginal>& marginals) {
  std::string text = "single outputs, certified by simulation together with it:\n";
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    const GaussianMixture& own = marginals[i].mixture;
    text += "  y" + std::to_string(i) + ": mean " + short_number(own.mean()(0)) + " in [" +
            short_lower_bound(marginals[i].mean_lower) + ", " + short_bound(marginals[i].mean_upper) +
            "], deviation " + short_number(own.standard_deviation()(0)) + ", " +
            counted(own.size(), "component") + ", W2 <= " + short_bound(marginals[i].w2) + "\n";
  }
  return text;
}

std::string simulated_lines(const SimulatedBound& simulated) {
  const std::string rest = simulated.marginals.empty() ? "" : marginal_lines(simulated.marginals);
  if (!simulated.exists()) return "no bound certified by simulation: " + simulated.gap + "\n" + rest;
  return "certified by simulation: W2 <= " + short_bound(simulated.w2) + ", fails with probability " +
         format_number(simulated.failure_probability) + " (" + counted(simulated.draws, "draw") + ")\n" +
         rest;
}

std::string options_text(const Options& options) {
  const Options defaults;
  std::string changed;
  for (const auto& field : option_table()) {
    const std::string value = field.get(options);
    if (value == field.get(defaults)) continue;
    changed += (changed.empty() ? "" : ", ") + field.name + " " + value;
  }
  return "options: " + (changed.empty() ? "defaults" : changed + "; the others are defaults") + "\n";
}

std::string assumption_lines(const Result& result, const std::vector<std::string>& of_model) {
  Options options;
  options.method = result.method;
  if (result.options) {
    options.predictive = result.options->predictive;
    options.simulate = result.options->simulate;
    options.simulation_failure = result.options->simulation_failure;
  }
  std::vector<std::string> all = certificate_assumptions(options);
  all.insert(all.end(), of_model.begin(), of_model.end());
  std::string text = "the bound holds if\n";
  for (const std::string& assumption : all) text += "  - " + assumption + "\n";
  return text;
}

}  // namespace

std::string inputs_in_words(const Options& options) {
  if (!options.radius) return "";
  const bool is_box = options.norm == InputNorm::Largest;
  return "every input within " + short_number(*options.radius) +
         (is_box ? " (largest change of a feature)" : " (Euclidean distance)");
}

std::string brief_report(const Result& result) {
  const Vector mean = result.mixture.mean(), deviation = result.mixture.standard_deviation();
  std::string outputs;
  for (Index i = 0; i < std::min(mean.size(), kOutputsInBrief); ++i) {
    outputs += (i == 0 ? "" : ", ") + significant(mean(i), 3) + " +- " + significant(deviation(i), 3);
  }
  if (mean.size() > kOutputsInBrief) outputs += ", ..";
  return whose(result) + ": " + brief_bound(result) + ", " + method_text(result) + ", " +
         counted(result.mixture.size(), "component") + ", " + counted(mean.size(), "output") +
         (outputs.empty() ? "" : ": " + outputs);
}

std::string full_report(const Result& result, const std::vector<std::string>& model_assumptions) {
  const bool bounded = result.w2.exists();
  std::string text = whose(result) + ": " + full_bounds(result) + "\n" + ball_line(result) +
                     lower_line(result) + "mixture of " + counted(result.mixture.size(), "component") +
                     " over " + counted(result.mixture.dimension(), "output") + " by " + method_text(result) +
                     (bounded ? ", certificate " + std::string(to_string(result.certificate)) : "") + "\n\n" +
                     output_table(result.mixture);
  if (bounded) text += terms_of_layers(result);
  text += "\n";
  if (result.simulated) text += simulated_lines(*result.simulated);
  if (result.statistics) text += estimates(*result.statistics);
  if (result.termination != Termination::Completed && !result.reason.empty()) text += result.reason + "\n";
  if (result.options) text += options_text(*result.options);
  if (bounded) text += assumption_lines(result, model_assumptions);
  return text + (result.seconds > 0.0 ? "time: " + short_time(result.seconds) + "\n" : "");
}

std::ostream& operator<<(std::ostream& stream, const Result& result) {
  return stream << brief_report(result);
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Both result files of a run, filled side by side, and the JSON half of it: one line per input. Bounds that
// do not exist (NaN) and infinite ones become null.
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/results/result_parts.h"
#include "mixcert/core/error.h"

namespace mixcert {
namespace {

using nlohmann::ordered_json;

ordered_json list_of(const Vector& vector) {
  return std::vector<double>(vector.data(), vector.data() + vector.size());
}

ordered_json layer_of(const LayerReport& layer) {
  return {{"layer", layer.layer},   {"compression", layer.compression}, {"local", layer.local},
          {"gain", layer.gain},     {"components", layer.components},   {"points", layer.points},
          {"metric", layer.metric}, {"theorem", layer.theorem}};
}

/// A ratio; null where it is none.
ordered_json ratio(double a, double b) {
  return b > 0.0 && std::isfinite(a / b) ? ordered_json(a / b) : ordered_json(nullptr);
}

void add_statistics(const TwoSidedStatistics& statistics, double bound, ordered_json& entry) {
  entry["w2_lower_statistical"] = statistics.w2_lower_statistical;
  entry["w2_lower_confidence"] = statistics.lower_confidence;
  entry["w2_upper_statistical"] = statistics.w2_upper_statistical;
  entry["w2_coupled_cost"] = statistics.coupled_cost;
  if (statistics.w2_stein == statistics.w2_stein) {
    entry["w2_stein_estimate"] = statistics.w2_stein;
    entry["w2_stein_error"] = statistics.stein_error;
  }
  entry["failure_probability"] = statistics.failure_probability;
  entry["statistics_samples"] = statistics.samples;
  entry["statistics_assumption"] = statistics.assumption;
  entry["looseness_least"] = ratio(bound, statistics.w2_upper_statistical);
  entry["looseness_most"] = ratio(bound, statistics.w2_lower_statistical);
}

void add_simulated(const SimulatedBound& simulated, ordered_json& entry) {
  entry["w2_bound_simulated"] = simulated.w2;
  entry["simulation_failure_probability"] = simulated.failure_probability;
  entry["simulation_draws"] = simulated.draws;
  entry["simulation_coupled_cost"] = simulated.coupled_cost;
  if (!simulated.theorem.empty()) entry["simulation_theorem"] = simulated.theorem;
  if (!simulated.gap.empty()) entry["simulation_gap"] = simulated.gap;
  for (const SimulatedMarginal& marginal : simulated.marginals) {
    entry["marginals"].push_back({{"w2_bound_simulated", marginal.w2},
                                  {"mean", marginal.mixture.mean()(0)},
                                  {"mean_lower", marginal.mean_lower},
                                  {"mean_upper", marginal.mean_upper},
                                  {"std", marginal.mixture.standard_deviation()(0)},
                                  {"components", marginal.mixture.size()}});
  }
}

}  // namespace

ResultWriter::Report::Report(const std::filesystem::path& path, const RunRecord& run) : file_(path) {
  std::string text = io::text_of(io::run_to_json(run));
  text.pop_back();
  file_.write(text + ",\"results\":[");
}

void ResultWriter::Report::add(const Result& result) {
  ordered_json layers = ordered_json::array();
  for (const LayerReport& layer : result.layers) layers.push_back(layer_of(layer));
  ordered_json entry = {{"input", result.input},
                        {"method", to_string(result.method)},
                        {"certificate", to_string(result.certificate)},
                        {"w2_bound", result.w2.value},
                        {"w1_bound", result.w1.value},
                        {"relative_w2_bound", result.relative_w2},
                        {"components", result.mixture.size()},
                        {"mean", list_of(result.mixture.mean())},
                        {"std", list_of(result.mixture.standard_deviation())},
                        {"seconds", result.seconds},
                        {"termination", to_string(result.termination)},
                        {"reason", result.reason},
                        {"layers", std::move(layers)}};
  if (!std::isnan(result.w2_lower)) entry["w2_lower"] = result.w2_lower;
  if (!std::isnan(result.w2_lower_mixture)) entry["w2_lower_mixture"] = result.w2_lower_mixture;
  if (!std::isnan(result.input_change)) entry["w2_input_change"] = result.input_change;
  if (result.cell)
    entry["cell"] = {{"lower", list_of(result.cell->lower)}, {"upper", list_of(result.cell->upper)}};
  if (result.statistics) add_statistics(*result.statistics, result.w2.value, entry);
  if (result.simulated) add_simulated(*result.simulated, entry);
  file_.write((first_ ? "\n" : ",\n") + io::text_of(entry));
  first_ = false;
}

void ResultWriter::Report::write() {
  file_.write("\n]}\n");
  file_.flush_to_disk();
}

namespace {

std::filesystem::path full_name(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal();
}

}  // namespace

ResultWriter::ResultWriter(const std::optional<std::filesystem::path>& npz,
                           const std::optional<std::filesystem::path>& json, const RunRecord& run,
                           const ReadLimits& limits)
    : joint_(run.joint) {
  require(!npz || !json || full_name(*npz) != full_name(*json),
          "ResultWriter: expected different files for arrays and report, got '" + npz.value_or("").string() +
              "' twice");
  if (npz) arrays_ = std::make_unique<Arrays>(*npz, run, limits);
  if (json) report_ = std::make_unique<Report>(*json, run);
}

ResultWriter::~ResultWriter() = default;

void ResultWriter::add_inputs(const Matrix& inputs, const InputNoise& noise) {
  require(inputs.size() > 0 && inputs_ == 0, "ResultWriter::add_inputs: expected inputs, once, got " +
                                                 std::string(inputs_ > 0 ? "more" : "none"));
  inputs_ = inputs.cols();
  if (arrays_) arrays_->add_inputs(inputs, noise);
}

void ResultWriter::add(const Result& result) {
  require(result.input == count_ && !(joint_ && count_ > 0),
          "ResultWriter::add: expected " +
              (joint_ && count_ > 0 ? "one joint result" : "input " + std::to_string(count_)) +
              ", got input " + std::to_string(result.input));
  if (count_ == 0) dimension_ = result.mixture.dimension();
  require(result.mixture.dimension() == dimension_ && dimension_ > 0,
          "ResultWriter::add: expected a mixture of dimension " + std::to_string(dimension_) + ", got " +
              std::to_string(result.mixture.dimension()));
  if (arrays_) arrays_->add(result);
  if (report_) report_->add(result);
  ++count_;
}

void ResultWriter::finish() {
  require(count_ > 0, "ResultWriter::finish: expected at least one result, got none");
  require(joint_ || inputs_ == 0 || inputs_ == count_, "ResultWriter::finish: expected a result at each of " +
                                                           std::to_string(inputs_) + " inputs, got " +
                                                           std::to_string(count_));
  if (arrays_) arrays_->write(dimension_);
  if (report_) report_->write();
  // Only renames are left.
  if (arrays_) arrays_->commit();
  if (report_) report_->commit();
}

}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The JSON half of a result, one line per input. Bounds that do not exist (NaN) and
// infinite ones become null.
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/results/result_parts.h"
#include "io/results/run_json.h"

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
  entry["w2_lower_statistical"] = statistics.w2_lower;
  entry["w2_lower_confidence"] = statistics.lower_confidence;
  entry["w2_upper_statistical"] = statistics.w2_upper;
  entry["w2_coupled_cost"] = statistics.coupled_cost;
  entry["failure_probability"] = statistics.failure_probability;
  entry["statistics_samples"] = statistics.samples;
  entry["statistics_assumption"] = statistics.assumption;
  entry["looseness_least"] = ratio(bound, statistics.w2_upper);
  entry["looseness_most"] = ratio(bound, statistics.w2_lower);
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
  if (result.statistics) add_statistics(*result.statistics, result.w2.value, entry);
  file_.write((first_ ? "\n" : ",\n") + io::text_of(entry));
  first_ = false;
}

void ResultWriter::Report::write() {
  file_.write("\n]}\n");
  file_.flush_to_disk();
}

}  // namespace mixcert

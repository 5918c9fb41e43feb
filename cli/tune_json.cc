// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certified numbers and estimates are in objects of their own. What does not exist is null.
#include "tune_json.h"

#include <cmath>

#include "mixcert/core/version.h"
#include "run_context.h"

namespace mixcert::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string underscored(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

template <class Owner>
void add_fields(const OptionTable<Owner>& table, const Owner& owner, Json& json) {
  for (const auto& field : table) json[underscored(field.name)] = field.get(owner);
}

Json certified_json(const PriorComparison& c) {
  Json json{{"w2", json_number(c.w2_certified)}, {"relative_w2", json_number(c.relative(c.w2_certified))}};
  for (const PriorCertificate& certificate : c.certificates) {
    json["methods"].push_back({{"method", to_string(certificate.method)},
                               {"bound", json_number(certificate.bound)},
                               {"distance", json_number(certificate.distance)},
                               {"w2", json_number(certificate.w2)},
                               {"gap", certificate.gap}});
  }
  return json;
}

}  // namespace

Json comparison_json(const PriorComparison& c) {
  Json statistical{{"samples", c.samples},
                   {"w2_lower", json_number(c.lower.lower)},
                   {"lower_confidence", json_number(c.lower.confidence)},
                   {"gelbrich", json_number(c.lower.plug_in)},
                   {"relative_gelbrich", json_number(c.relative(c.lower.plug_in))},
                   {"gelbrich_floor", json_number(c.gelbrich_floor)},
                   {"coupled_samples", c.coupled_samples},
                   {"w2_upper", json_number(c.w2_upper_statistical)},
                   {"relative_w2_upper", json_number(c.relative(c.w2_upper_statistical))},
                   {"failure_probability", c.failure_probability},
                   {"empirical_samples", c.empirical_samples},
                   {"empirical_w2", json_number(c.empirical.distance)},
                   {"relative_empirical_w2", json_number(c.relative(c.empirical.distance))},
                   {"empirical_floor", json_number(c.empirical.floor)},
                   {"relative_empirical_floor", json_number(c.relative(c.empirical.floor))},
                   {"assumption", c.assumption}};
  return {{"target_scale", c.target_scale},
          {"certified", certified_json(c)},
          {"statistical", std::move(statistical)}};
}

Json tune_json(const TuneOptions& options, const PriorComparisonOptions& comparison_options,
               const TuneProblem& problem, const TuneRun& run, const PriorComparison& comparison) {
  Json json{{"version", version()}, {"command", command_line()}, {"target", problem.description}};
  Json& settings = json["options"];
  add_fields(tune_option_table(), options, settings);
  add_fields(prior_comparison_table(), comparison_options, settings);
  json["parameters"] = run.parameter_count;
  json["seconds"] = run.seconds;
  json["resumed"] = run.resumed;
  json["held_out"] = run.held_out;
  json["comparison"] = comparison_json(comparison);
  for (const TuneStep& step : run.history) {
    json["history"].push_back({{"step", step.step},
                               {"objective", json_number(step.objective)},
                               {"bound", json_number(step.bound)},
                               {"distance", json_number(step.distance)},
                               {"target_scale", step.target_scale}});
  }
  return json;
}

}  // namespace mixcert::cli

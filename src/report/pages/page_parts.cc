// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Facts and numbers of pages.
#include "report/pages/page_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/text_table.h"

namespace mixcert::page {
namespace {

constexpr std::string_view kMinus = "\u2212";

std::string superscript(int exponent) {
  static constexpr const char* kDigits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                            "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "\u207B" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

/// "1.2e-05" as "1.2·10⁻⁵", "-3" with a minus sign.
std::string typeset(const std::string& plain) {
  if (plain == "inf") return "\u221E";
  if (plain == "-inf") return std::string(kMinus) + "\u221E";
  const std::size_t exponent = plain.find('e');
  std::string text;
  for (const char c : plain.substr(0, exponent)) {
    if (c == '-') {
      text += kMinus;
    } else {
      text += c;
    }
  }
  if (exponent == std::string::npos) return text;
  return text + "\u00B710" +
         superscript(static_cast<int>(std::strtol(plain.c_str() + exponent + 1, nullptr, 10)));
}

std::string layer_words(const Network& network) {
  std::string text =
      fmt::format("{} input{}", count_text(network.inputs()), network.inputs() == 1 ? "" : "s");
  if (network.front() != nullptr) {
    text += fmt::format(" \u2192 deterministic layers, {} features", count_text(network.feature_count()));
  }
  for (Index k = 0; k < network.layer_count(); ++k) {
    const bool last = k + 1 == network.layer_count();
    text += fmt::format(" \u2192 {}", count_text(network.layer(k).outputs()));
    text += last ? (network.outputs() == 1 ? " output" : " outputs")
                 : fmt::format(" {}", to_string(network.activation(k + 1).common().function()));
    if (!last && !network.mask(k + 1).is_none())
      text += fmt::format(", dropout {}", number_text(network.mask(k + 1).rate()));
  }
  return text;
}

std::string family_words(const Network& network) {
  std::vector<std::string> families;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const std::string name(family_name(network.layer(k).weights()));
    if (std::find(families.begin(), families.end(), name) == families.end()) families.push_back(name);
  }
  return fmt::format("{} weights", fmt::join(families, " and "));
}

}  // namespace

std::string architecture_words(const Ensemble& ensemble) {
  const Network& first = ensemble.member(0);
  Index parameters = 0;
  for (Index k = 0; k < first.layer_count(); ++k) parameters += first.layer(k).parameter_count();
  std::string one = fmt::format("{}; {}; {} parameters (means and covariances)", layer_words(first),
                                family_words(first), count_text(parameters));
  if (ensemble.size() == 1) return one;
  return fmt::format("ensemble of {} networks, the first: {}", ensemble.size(), one);
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string model_names(const std::vector<ModelFact>& models) {
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const ModelFact& model : models) names.push_back(file_name(model.file));
  return fmt::format("{}", fmt::join(names, ", "));
}

Section settings_section(const RunFacts& run) {
  FactList facts{
      {{"Command", run.command, true}, {"Version", run.version}, {"Seed", std::to_string(run.seed)}}};
  facts.facts.push_back({"Time", short_time(run.seconds)});
  std::string options;
  for (const auto& [name, value] : run.options) {
    if (!value.empty()) options += fmt::format("{}{} {}", options.empty() ? "" : ", ", name, value);
  }
  if (!options.empty()) facts.facts.push_back({"Options", options});
  return {"Settings", {facts}};
}

std::vector<Section> assumption_sections(const RunFacts& run) {
  if (run.assumptions.empty()) return {};
  FactList facts;
  int number = 0;
  for (const std::string& assumption : run.assumptions) {
    facts.facts.push_back({fmt::format("Assumption {}", ++number), assumption});
  }
  return {{"What the bounds rest on", {facts}}};
}

std::string number_text(double value) { return std::isnan(value) ? "\u2013" : typeset(short_number(value)); }
std::string bound_text(double value) { return std::isnan(value) ? "\u2013" : typeset(short_bound(value)); }
std::string lower_bound_text(double value) {
  return std::isnan(value) ? "\u2013" : typeset(short_lower_bound(value));
}
std::string percent_text(double share) {
  return std::isnan(share) ? "\u2013" : number_text(100.0 * share) + " %";
}
std::string percent_bound_text(double share) {
  return std::isnan(share) ? "\u2013" : bound_text(100.0 * share) + " %";
}

std::string count_text(long long count) {
  std::string digits = std::to_string(count);
  for (int at = static_cast<int>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

Cell number_cell(double value) { return {number_text(value), value}; }
Cell bound_cell(double value) { return {bound_text(value), value}; }
Cell lower_bound_cell(double value) { return {lower_bound_text(value), value}; }
Cell count_cell(long long count) { return {count_text(count), static_cast<double>(count)}; }
Cell word_cell(std::string text) { return {std::move(text)}; }

}  // namespace mixcert::page

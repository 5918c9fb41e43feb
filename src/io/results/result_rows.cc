// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Numbers per row and per layer of result archives.
#include <algorithm>
#include <cmath>
#include <limits>

#include "io/results/result_parts.h"

namespace mixcert::io {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double existing(double value) { return std::isfinite(value) ? value : kNone; }

template <double TwoSidedStatistics::*member>
double statistic(const Result& result) {
  return result.statistics ? existing((*result.statistics).*member) : kNone;
}

TwoSidedStatistics& statistics_of(StoredResult& row) {
  if (!row.statistics) row.statistics.emplace();
  return *row.statistics;
}

template <double TwoSidedStatistics::*member>
void set_statistic(StoredResult& row, double value, const StoredChoices& /*choices*/) {
  statistics_of(row).*member = value;
}

template <double TwoSidedStatistics::*member>
RowColumn statistic_column(const char* name) {
  return {name, RowKind::Nonnegative, RowGroup::Statistics, &statistic<member>, &set_statistic<member>};
}

SimulatedBound& simulated_of(StoredResult& row) {
  if (!row.simulated) row.simulated.emplace();
  return *row.simulated;
}

template <double SimulatedBound::*member>
RowColumn simulated_column(const char* name) {
  return {name, RowKind::Nonnegative, RowGroup::Simulation,
          [](const Result& r) { return r.simulated ? existing((*r.simulated).*member) : kNone; },
          [](StoredResult& row, double value, const StoredChoices& /*choices*/) {
            simulated_of(row).*member = value;
          }};
}

template <double StoredResult::*member>
void set_number(StoredResult& row, double value, const StoredChoices& /*choices*/) {
  row.*member = value;
}

/// The value whose name stands at place `code`; nothing for names of other versions.
template <class Enum>
std::optional<Enum> choice(double code, const std::vector<std::string>& names, Enum last) {
  if (!(code < static_cast<double>(names.size()))) return std::nullopt;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == names[static_cast<std::size_t>(code)]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

const std::vector<RowColumn>& row_columns() {
  static const std::vector<RowColumn> columns = {
      {"w2_bound", RowKind::Nonnegative, RowGroup::All, [](const Result& r) { return existing(r.w2.value); },
       &set_number<&StoredResult::w2_bound>},
      {"w1_bound", RowKind::Nonnegative, RowGroup::All, [](const Result& r) { return existing(r.w1.value); },
       &set_number<&StoredResult::w1_bound>},
      {"relative_w2_bound", RowKind::Nonnegative, RowGroup::All,
       [](const Result& r) { return existing(r.relative_w2); },
       &set_number<&StoredResult::relative_w2_bound>},
      {"w2_lower", RowKind::Nonnegative, RowGroup::Lower,
       [](const Result& r) { return existing(r.w2_lower); }, &set_number<&StoredResult::w2_lower>},
      {"w2_lower_mixture", RowKind::Nonnegative, RowGroup::Lower,
       [](const Result& r) { return existing(r.w2_lower_mixture); },
       &set_number<&StoredResult::w2_lower_mixture>},
      {"w2_input_change", RowKind::Nonnegative, RowGroup::Ball,
       [](const Result& r) { return existing(r.input_change); }, &set_number<&StoredResult::input_change>},
      {"method", RowKind::Code, RowGroup::All, [](const Result& r) { return static_cast<double>(r.method); },
       [](StoredResult& row, double code, const StoredChoices& choices) {
         row.method = choice(code, choices.methods, Method::Coupled);
       }},
      {"certificate", RowKind::Code, RowGroup::All,
       [](const Result& r) { return static_cast<double>(r.certificate); },
       [](StoredResult& row, double code, const StoredChoices& choices) {
         row.certificate = choice(code, choices.certificates, CertificateMode::Paper);
       }},
      {"termination", RowKind::Code, RowGroup::All,
       [](const Result& r) { return static_cast<double>(r.termination); },
       [](StoredResult& row, double code, const StoredChoices& choices) {
         row.termination = choice(code, choices.terminations, Termination::BudgetSpent);
       }},
      statistic_column<&TwoSidedStatistics::w2_lower_statistical>("w2_lower_statistical"),
      statistic_column<&TwoSidedStatistics::lower_confidence>("w2_lower_confidence"),
      statistic_column<&TwoSidedStatistics::w2_upper_statistical>("w2_upper_statistical"),
      statistic_column<&TwoSidedStatistics::coupled_cost>("w2_coupled_cost"),
      statistic_column<&TwoSidedStatistics::failure_probability>("failure_probability"),
      statistic_column<&TwoSidedStatistics::w2_stein>("w2_stein_estimate"),
      statistic_column<&TwoSidedStatistics::stein_error>("w2_stein_error"),
      {"statistics_samples", RowKind::Code, RowGroup::Statistics,
       [](const Result& r) { return r.statistics ? static_cast<double>(r.statistics->samples) : kNone; },
       [](StoredResult& row, double count, const StoredChoices& /*choices*/) {
         statistics_of(row).samples = static_cast<Index>(count);
       }},
      simulated_column<&SimulatedBound::w2>("w2_bound_simulated"),
      simulated_column<&SimulatedBound::failure_probability>("simulation_failure_probability"),
      simulated_column<&SimulatedBound::coupled_cost>("simulation_coupled_cost"),
      {"simulation_draws", RowKind::Code, RowGroup::Simulation,
       [](const Result& r) { return r.simulated ? static_cast<double>(r.simulated->draws) : kNone; },
       [](StoredResult& row, double count, const StoredChoices& /*choices*/) {
         simulated_of(row).draws = static_cast<Index>(count);
       }},
  };
  return columns;
}

const std::array<LayerColumn, kLayerColumns>& layer_columns() {
  static const std::array<LayerColumn, kLayerColumns> columns = {{
      {"layer_compression", [](const LayerReport& layer) { return layer.compression; },
       [](LayerReport& layer, double value) { layer.compression = value; }},
      {"layer_local", [](const LayerReport& layer) { return layer.local; },
       [](LayerReport& layer, double value) { layer.local = value; }},
      {"layer_gain", [](const LayerReport& layer) { return layer.gain; },
       [](LayerReport& layer, double value) { layer.gain = value; }},
      {"layer_components", [](const LayerReport& layer) { return static_cast<double>(layer.components); },
       [](LayerReport& layer, double value) { layer.components = static_cast<Index>(value); }},
      {"layer_points", [](const LayerReport& layer) { return static_cast<double>(layer.points); },
       [](LayerReport& layer, double value) { layer.points = static_cast<Index>(value); }},
  }};
  return columns;
}

void ResultRows::add(const Result& result) {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i].push_back(row_columns()[i].get(result));
  has_statistics_ = has_statistics_ || result.statistics.has_value();
  has_simulation_ = has_simulation_ || result.simulated.has_value();
  has_ball_ = has_ball_ || !std::isnan(result.input_change);
  has_lower_ = has_lower_ || !std::isnan(result.w2_lower) || !std::isnan(result.w2_lower_mixture);
  for (const LayerReport& layer : result.layers) {
    std::array<double, kLayerColumns> values{};
    for (std::size_t i = 0; i < kLayerColumns; ++i) values[i] = existing(layer_columns()[i].get(layer));
    layers_.append(values);
  }
  first_layer_.push_back(first_layer_.back() + static_cast<Index>(result.layers.size()));
}

bool ResultRows::is_there(RowGroup group) const {
  switch (group) {
    case RowGroup::All:
      return true;
    case RowGroup::Statistics:
      return has_statistics_;
    case RowGroup::Simulation:
      return has_simulation_;
    case RowGroup::Lower:
      return has_lower_;
    case RowGroup::Ball:
      return has_ball_;
  }
  return true;
}

void ResultRows::write_to(NpzWriter& archive) {
  const Index rows = static_cast<Index>(first_layer_.size()) - 1;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const RowColumn& column = row_columns()[i];
    if (is_there(column.group)) archive.add(column.name, Array{{rows}, values_[i]});
  }
  write_layers(archive, rows);
}

void ResultRows::write_layers(NpzWriter& archive, Index rows) {
  Index most = 0;
  for (Index row = 0; row < rows; ++row) {
    const auto place = static_cast<std::size_t>(row);
    most = std::max(most, first_layer_[place + 1] - first_layer_[place]);
  }
  for (std::size_t i = 0; i < kLayerColumns; ++i) {
    archive.add(layer_columns()[i].name, {rows, most}, [this, i](Index row, std::span<double> block) {
      const Index begin = first_layer_[static_cast<std::size_t>(row)];
      const Index end = first_layer_[static_cast<std::size_t>(row) + 1];
      std::vector<double> values(static_cast<std::size_t>(end - begin) * kLayerColumns);
      layers_.read(begin * static_cast<Index>(kLayerColumns), values);
      for (std::size_t k = 0; k < block.size(); ++k) {
        block[k] = k * kLayerColumns < values.size() ? values[k * kLayerColumns + i] : kNone;
      }
    });
  }
}

}  // namespace mixcert::io

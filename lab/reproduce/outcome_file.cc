// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// JSON of outcomes and of rows. A file that is not as expected is treated as absent: the work is done anew.
#include "reproduce/outcome_file.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"

namespace mixcert::lab {
namespace {

using Json = nlohmann::ordered_json;

void write_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Nothing where the file is absent or no JSON.
std::optional<Json> read_json(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) return std::nullopt;
  Json json = Json::parse(stream, nullptr, false);
  return json.is_discarded() ? std::nullopt : std::optional(std::move(json));
}

/// JSON has no infinity.
Json to_json(const ResultValue& value) {
  if (const auto* number = std::get_if<double>(&value))
    return std::isfinite(*number) ? Json(*number) : Json(fmt::format("{}", *number));
  if (const auto* words = std::get_if<std::string>(&value)) return *words;
  return nullptr;
}

ResultValue value_from(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return std::monostate();
}

Json to_json(const ResultTable& table) {
  Json columns = Json::array();
  for (const ResultColumn& column : table.columns)
    columns.push_back({{"name", column.name},
                       {"kind", static_cast<int>(column.kind)},
                       {"meaning", kind_text(column.kind)}});
  Json rows = Json::array();
  for (const ResultRow& row : table.rows) {
    Json values = Json::array();
    for (const ResultValue& value : row.values) values.push_back(to_json(value));
    rows.push_back({{"values", values},
                    {"commands", row.origin.commands},
                    {"network", row.origin.network},
                    {"sha256", row.origin.sha256},
                    {"seed", row.origin.seed}});
  }
  return {{"name", table.name},
          {"title", table.title},
          {"columns", columns},
          {"rows", rows},
          {"notes", table.notes}};
}

ResultTable table_from(const Json& json) {
  ResultTable table;
  table.name = json.at("name");
  table.title = json.at("title");
  table.notes = json.at("notes").get<std::vector<std::string>>();
  for (const Json& column : json.at("columns")) {
    const int kind = column.at("kind");
    require(kind >= 0 && kind <= static_cast<int>(ColumnKind::Remark), "kind of a column: out of range");
    table.columns.push_back({column.at("name"), static_cast<ColumnKind>(kind)});
  }
  for (const Json& given : json.at("rows")) {
    ResultRow row;
    for (const Json& value : given.at("values")) row.values.push_back(value_from(value));
    require(row.values.size() == table.columns.size(), "values of a row: not as many as columns");
    row.origin = {given.at("commands").get<std::vector<std::string>>(), given.at("network"),
                  given.at("sha256"), given.at("seed")};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json settings_of(const Context& context) {
  return {{"version", version()}, {"quick", context.options.quick}, {"seed", context.options.seed}};
}

std::string markdown(const Context& context, const Experiment& experiment, const Outcome& outcome) {
  std::string text = fmt::format("# {}\n\nThe paper: {}. Command: `{}`. {:.0f} s.\n\n", experiment.title,
                                 experiment.source, context.command(experiment.name), outcome.seconds);
  for (const std::string& remark : outcome.remarks) text += remark + "\n\n";
  for (const ResultTable& table : outcome.tables) text += table_markdown(table) + "\n";
  if (!outcome.drawings.empty()) text += "## Drawings\n\n";
  for (const Drawing& drawing : outcome.drawings)
    text += fmt::format("- `{}.vega.json`: {}. {}\n", drawing.name, drawing.title, drawing.caption);
  return text;
}

}  // namespace

void write_outcome(const Context& context, const Experiment& experiment, const Outcome& outcome) {
  const std::filesystem::path& out = context.options.out;
  Json tables = Json::array();
  for (const ResultTable& table : outcome.tables) {
    write_file(out / (table.name + ".csv"), table_csv(table));
    tables.push_back(to_json(table));
  }
  Json drawings = Json::array();
  for (const Drawing& drawing : outcome.drawings) {
    write_file(out / (drawing.name + ".vega.json"), drawing.chart);
    drawings.push_back({{"name", drawing.name},
                        {"title", drawing.title},
                        {"caption", drawing.caption},
                        {"chart", drawing.chart},
                        {"wide", drawing.wide}});
  }
  write_file(out / (std::string(experiment.name) + ".md"), markdown(context, experiment, outcome));
  write_file(out / (std::string(experiment.name) + ".json"),
             dumped({{"experiment", experiment.name},
                     {"title", experiment.title},
                     {"command", context.command(experiment.name)},
                     {"settings", settings_of(context)},
                     {"complete", outcome.complete},
                     {"seconds", outcome.seconds},
                     {"remarks", outcome.remarks},
                     {"tables", tables},
                     {"drawings", drawings}}));
}

std::optional<Outcome> read_outcome(const Context& context, const Experiment& experiment) {
  const auto json = read_json(context.options.out / (std::string(experiment.name) + ".json"));
  if (!json) return std::nullopt;
  try {
    if (json->at("settings") != settings_of(context)) return std::nullopt;
    Outcome outcome;
    outcome.complete = json->at("complete");
    outcome.seconds = json->at("seconds");
    outcome.remarks = json->at("remarks").get<std::vector<std::string>>();
    for (const Json& table : json->at("tables")) outcome.tables.push_back(table_from(table));
    for (const Json& d : json->at("drawings"))
      outcome.drawings.push_back({d.at("name"), d.at("title"), d.at("caption"), d.at("chart"), d.at("wide")});
    return outcome;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void RowNumbers::set(const std::string& name, double value) { values.emplace_back(name, value); }

double RowNumbers::at(const std::string& name) const {
  for (const auto& [known, value] : values) {
    if (known == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

RowNumbers kept_row(const Context& context, const std::string& name, const std::string& key,
                    const std::function<RowNumbers()>& compute) {
  context.check_cancelled();
  const std::filesystem::path folder = context.options.out / "rows";
  const std::filesystem::path file = folder / (name + ".json");
  const std::string whole = fmt::format("{} {} seed {}", version(), key, context.options.seed);
  if (const auto json = context.options.restart ? std::nullopt : read_json(file); json && json->is_object()) {
    const auto found = json->find("numbers");
    const auto took = json->find("seconds");
    if (json->value("key", "") == whole && found != json->end() && found->is_object() &&
        took != json->end() && took->is_number()) {
      if (context.earlier_seconds) *context.earlier_seconds += took->get<double>();
      RowNumbers row;
      for (const auto& [known, value] : found->items()) {
        row.set(known, value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
      }
      return row;
    }
  }
  context.say(name);
  const auto start = std::chrono::steady_clock::now();
  RowNumbers row = compute();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  Json numbers = Json::object();
  for (const auto& [known, value] : row.values) numbers[known] = std::isfinite(value) ? Json(value) : Json();
  std::filesystem::create_directories(folder);
  write_file(file, dumped({{"key", whole}, {"seconds", seconds.count()}, {"numbers", numbers}}));
  return row;
}

}  // namespace mixcert::lab

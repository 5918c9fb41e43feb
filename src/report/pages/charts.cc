// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Filling of the templates.
#include "report/pages/charts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/pages/html_text.h"
#include "report/pages/page_assets.h"

namespace mixcert::page {
namespace {

using Json = nlohmann::ordered_json;

/// Ratio of the largest and the smallest bound above which their axis is logarithmic.
constexpr double kLogarithmicFrom = 50.0;

Json parsed(const Asset& chart) { return Json::parse(chart.text); }

std::string finished(const Json& spec) { return spec.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0.0) return 0;
  return chart_number(value);
}

/// Labels are drawn as text; what is drawn must be readable too.
std::string label(const std::string& text) { return printable(text, 60); }

Json& named(Json& list, const std::string& name) {
  return *std::find_if(list.begin(), list.end(), [&](const Json& entry) { return entry["name"] == name; });
}

void set_signal(Json& spec, const std::string& name, Json value) {
  named(spec["signals"], name)["value"] = std::move(value);
}

/// The page draws charts of many marks on a canvas: `cells` counts them.
void set_data(Json& spec, const std::string& name, Json values) {
  Json& cells = spec["usermeta"]["cells"];
  cells = std::max(cells.is_null() ? std::size_t{0} : cells.get<std::size_t>(), values.size());
  named(spec["data"], name)["values"] = std::move(values);
}

void set_titles(Json& spec, const std::string& x, const std::string& y) {
  spec["axes"][0]["title"] = label(x);
  spec["axes"][1]["title"] = label(y);
}

}  // namespace

double chart_number(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, 5.0 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * unit) / unit;
  return std::isfinite(rounded) ? rounded : value;
}

std::string layers_chart(const std::vector<LayerTerms>& layers) {
  Json spec = parsed(layers_template);
  Json terms = Json::array();
  for (const LayerTerms& layer : layers) {
    terms.push_back(
        {{"layer", label(layer.layer)}, {"kind", "local"}, {"order", 0}, {"value", number(layer.local)}});
    terms.push_back({{"layer", label(layer.layer)},
                     {"kind", "compression"},
                     {"order", 1},
                     {"value", number(layer.compression)}});
  }
  spec["height"] = 34 * layers.size();
  set_data(spec, "terms", std::move(terms));
  return finished(spec);
}

std::string bands_chart(const std::vector<BandPoint>& points, const std::string& x_title,
                        const std::string& y_title) {
  Json spec = parsed(bands_template);
  Json values = Json::array();
  for (const BandPoint& p : points) {
    values.push_back({{"x", number(p.x)},
                      {"mean", number(p.mean)},
                      {"inner_low", number(p.mean - p.inner)},
                      {"inner_high", number(p.mean + p.inner)},
                      {"outer_low", number(p.mean - p.outer)},
                      {"outer_high", number(p.mean + p.outer)}});
  }
  set_data(spec, "points", std::move(values));
  set_titles(spec, x_title, y_title);
  return finished(spec);
}

std::string bounds_chart(const std::vector<RankedBound>& worst_first) {
  Json spec = parsed(bounds_template);
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  for (const RankedBound& entry : worst_first) {
    // Lower estimates may be next to nothing: they do not stretch the axis.
    for (const double value : {entry.bound, entry.upper}) {
      if (!(value > 0.0) || !std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  // A logarithmic axis has no zero: what is below its lower end is drawn there.
  const bool logarithmic = high > kLogarithmicFrom * low;
  const double floor = logarithmic ? 0.5 * low : 0.0;
  Json values = Json::array();
  for (std::size_t i = 0; i < worst_first.size(); ++i) {
    const RankedBound& entry = worst_first[i];
    if (!std::isfinite(entry.bound)) continue;
    values.push_back(
        {{"rank", i + 1}, {"input", entry.input}, {"bound", number(std::max(entry.bound, floor))}});
    const bool bracket = std::isfinite(entry.lower) && std::isfinite(entry.upper);
    values.back()["lower"] = bracket ? number(std::max(entry.lower, floor)) : Json(nullptr);
    values.back()["upper"] = bracket ? number(std::max(entry.upper, floor)) : Json(nullptr);
  }
  if (high > 0.0) set_signal(spec, "y_domain", {number(floor), number(1.05 * high)});
  if (!logarithmic) named(spec["scales"], "y")["type"] = "linear";
  set_data(spec, "inputs", std::move(values));
  return finished(spec);
}

std::string curves_chart(const std::vector<Curve>& curves, const std::string& y_title) {
  Json spec = parsed(curves_template);
  Json names = Json::array(), values = Json::array();
  for (const Curve& curve : curves) {
    names.push_back(label(curve.name));
    // No more points than a chart has pixels.
    const std::size_t every = 1 + curve.values.size() / 800;
    for (std::size_t i = 0; i < curve.values.size(); i += every) {
      if (!(curve.values[i] > 0.0) || !std::isfinite(curve.values[i])) continue;
      values.push_back({{"x", i + 1}, {"y", number(curve.values[i])}, {"series", label(curve.name)}});
    }
  }
  set_signal(spec, "series", std::move(names));
  set_data(spec, "points", std::move(values));
  spec["usermeta"]["cells"] = 0;
  set_titles(spec, "step", y_title);
  return finished(spec);
}

std::string density_chart(const std::vector<DensityColumn>& columns, double y_low, double y_high,
                          const std::string& x_title, const std::string& y_title) {
  Json spec = parsed(density_template);
  Json edges = Json::array(), cells = Json::array();
  for (const DensityColumn& column : columns) {
    edges.push_back({{"low", number(column.low)}, {"high", number(column.high)}});
    for (const double value : column.values) cells.push_back(std::round(value * 1e3) / 1e3);
  }
  set_signal(spec, "rows", columns.front().values.size());
  set_signal(spec, "y_low", number(y_low));
  set_signal(spec, "y_high", number(y_high));
  set_signal(spec, "x_domain", {number(columns.front().low), number(columns.back().high)});
  set_data(spec, "columns", std::move(edges));
  set_data(spec, "cells", std::move(cells));
  set_titles(spec, x_title, y_title);
  return finished(spec);
}

std::string law_chart(const std::vector<LawPoint>& points, bool is_proven, const std::string& x_title,
                      const std::string& y_title) {
  Json spec = parsed(law_template);
  Json values = Json::array();
  for (const LawPoint& p : points) {
    values.push_back({{"x", number(p.x)},
                      {"low", number(p.low)},
                      {"high", number(p.high)},
                      {"mixture", number(p.mixture)},
                      {"gaussian", number(p.gaussian)}});
  }
  set_signal(spec, "is_proven", is_proven);
  set_data(spec, "points", std::move(values));
  set_titles(spec, x_title, y_title);
  return finished(spec);
}

std::string functions_chart(const std::vector<double>& x, const std::vector<std::vector<double>>& functions,
                            double limit) {
  Json spec = parsed(functions_template);
  Json values = Json::array();
  for (std::size_t f = 0; f < functions.size(); ++f) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      values.push_back({{"x", number(x[i])}, {"y", number(functions[f][i])}, {"function", f}});
    }
  }
  set_signal(spec, "y_domain", {number(-limit), number(limit)});
  set_data(spec, "points", std::move(values));
  spec["usermeta"]["cells"] = 0;
  return finished(spec);
}

std::string heatmap_chart(const std::vector<double>& values, int side, double limit,
                          const std::string& axis_title) {
  Json spec = parsed(heatmap_template);
  Json cells = Json::array();
  for (const double value : values) cells.push_back(number(value));
  // The palette has seven colours: so many values are matched to them.
  Json domain = Json::array();
  for (int i = -3; i <= 3; ++i) domain.push_back(number(limit * i / 3.0));
  set_signal(spec, "side", side);
  set_signal(spec, "colour_domain", std::move(domain));
  set_data(spec, "cells", std::move(cells));
  set_titles(spec, axis_title, axis_title);
  return finished(spec);
}

std::string intervals_chart(const std::vector<NamedInterval>& answers, double x_low, double x_high,
                            const std::string& x_title) {
  Json spec = parsed(intervals_template);
  Json values = Json::array();
  for (const NamedInterval& answer : answers) {
    values.push_back({{"label", label(answer.name)},
                      {"low", number(std::max(answer.interval.lower, x_low))},
                      {"high", number(std::min(answer.interval.upper, x_high))},
                      {"estimate", number(answer.interval.estimate)},
                      {"chosen", answer.chosen}});
  }
  set_signal(spec, "x_domain", {number(x_low), number(x_high)});
  spec["height"] = 20 * answers.size();
  set_data(spec, "answers", std::move(values));
  spec["axes"][0]["title"] = label(x_title);
  return finished(spec);
}

std::string comparison_chart(const std::vector<ComparedNumber>& rows, double x_low, double x_high,
                             const std::string& x_title) {
  Json spec = parsed(comparison_template);
  Json values = Json::array();
  const auto inside = [&](double x) { return number(std::clamp(x, x_low, x_high)); };
  for (const ComparedNumber& row : rows) {
    values.push_back({{"label", label(row.name)},
                      {"low", inside(row.certified.lower)},
                      {"high", inside(row.certified.upper)},
                      {"mixture", inside(row.certified.estimate)},
                      {"below", inside(row.drawn - 2.0 * row.error)},
                      {"above", inside(row.drawn + 2.0 * row.error)},
                      {"estimate", inside(row.drawn)}});
  }
  set_signal(spec, "x_domain", {number(x_low), number(x_high)});
  spec["height"] = 28 * rows.size();
  set_data(spec, "rows", std::move(values));
  spec["axes"][0]["title"] = label(x_title);
  return finished(spec);
}

}  // namespace mixcert::page

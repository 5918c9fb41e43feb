// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a plot to a Vega specification. Ends of axes are decided here, for Vega's own would follow numbers
// that a logarithmic axis cannot show; ticks and layout are Vega's.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <utility>

#include "mixcert/core/error.h"
#include "report/pages/charts.h"
#include "reproduce/chart_legend.h"

namespace mixcert::lab {
namespace {

using Ends = std::pair<double, double>;

/// Of what an axis shows, left free at both ends.
constexpr double kMargin = 0.04;
/// Decades from which a logarithmic axis has powers of ten alone.
constexpr double kManyDecades = 2.0;
constexpr double kMarkerRadius = 2.6;

Json signal(const std::string& expression) { return {{"signal", expression}}; }
Json value(Json constant) { return {{"value", std::move(constant)}}; }
Json at(const char* scale, const char* field) { return {{"scale", scale}, {"field", field}}; }

bool shows(const PlotAxis& axis, double x) { return std::isfinite(x) && (!axis.logarithmic || x > 0.0); }

Json number(const PlotAxis& axis, double x) {
  return shows(axis, x) ? Json(page::chart_number(x)) : Json(nullptr);
}

/// Those that are given, else around what the axis can show of `values`.
Ends ends_of(const PlotAxis& axis, const std::vector<double>& values) {
  if (!axis.names.empty()) return {-0.5, static_cast<double>(axis.names.size()) - 0.5};
  require(!axis.logarithmic || !(axis.low <= 0.0 || axis.high <= 0.0),
          "a logarithmic axis: expected positive ends, got others");
  const auto length = [&axis](double x) { return axis.logarithmic ? std::log10(x) : x; };
  const auto back = [&axis](double x) { return axis.logarithmic ? std::pow(10.0, x) : x; };
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double x : values) {
    if (!shows(axis, x)) continue;
    least = std::min(least, length(x));
    most = std::max(most, length(x));
  }
  if (least > most) least = most = 0.0;  // an axis without data still has ticks
  const double pad = most > least ? kMargin * (most - least) : 0.5;
  const Ends ends{std::isnan(axis.low) ? back(least - pad) : axis.low,
                  std::isnan(axis.high) ? back(most + pad) : axis.high};
  require(ends.first < ends.second, "an axis: expected its lower end below its upper one, got others");
  return ends;
}

class PlotChart {
 public:
  explicit PlotChart(const Plot& plot)
      : plot_(plot), x_(ends_of(plot.x, x_values())), y_(ends_of(plot.y, y_values())) {
    add_axis(plot.x, x_, "x", "bottom");
    add_axis(plot.y, y_, "y", "left");
    for (const PlotBand& band : plot.bands) add(band);
    for (const PlotHeat& heat : plot.heat) add(heat);
    for (const PlotLine& line : plot.lines) add(line);
    for (const PlotDots& dots : plot.dots) add(dots);
    legend_.write(scales_, legends_);
    add_height();
  }

  [[nodiscard]] std::string text() const {
    const Json spec = {{"description", chart_label(plot_.title)},
                       {"width", plot_.wide ? 900 : 440},
                       {"height", plot_.height},
                       {"padding", 4},
                       {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}},
                       // The page draws charts of many marks on a canvas.
                       {"usermeta", {{"cells", cells_}}},
                       {"signals", signals_},
                       {"data", data_},
                       {"scales", scales_},
                       {"axes", axes_},
                       {"legends", legends_},
                       {"marks", marks_}};
    return spec.dump(-1, ' ', true, Json::error_handler_t::replace);
  }

 private:
  using Values = std::vector<double>;

  [[nodiscard]] Values x_values() const {
    Values all;
    for (const PlotBand& band : plot_.bands) all.insert(all.end(), band.x.begin(), band.x.end());
    for (const PlotLine& line : plot_.lines) all.insert(all.end(), line.x.begin(), line.x.end());
    for (const PlotDots& dots : plot_.dots) all.insert(all.end(), dots.x.begin(), dots.x.end());
    return all;
  }

  [[nodiscard]] Values y_values() const {
    Values all;
    const auto collect = [&all](std::initializer_list<const Values*> more) {
      for (const Values* values : more) all.insert(all.end(), values->begin(), values->end());
    };
    for (const PlotBand& band : plot_.bands) collect({&band.low, &band.high});
    for (const PlotLine& line : plot_.lines) collect({&line.y});
    for (const PlotDots& dots : plot_.dots) collect({&dots.y, &dots.low, &dots.high});
    return all;
  }

  void add_axis(const PlotAxis& axis, const Ends& ends, const std::string& name, const char* side) {
    scales_.push_back(
        {{"name", name},
         {"type", axis.logarithmic ? "log" : "linear"},
         {"domain", Json::array({page::chart_number(ends.first), page::chart_number(ends.second)})},
         {"range", name == "x" ? "width" : "height"},
         {"zero", false}});
    // Over a heat map ticks are above the cells, and there is no grid.
    const bool grid = plot_.heat.empty();
    Json shown = {{"orient", side}, {"scale", name}, {"title", chart_label(axis.label)}, {"grid", grid}};
    shown["zindex"] = grid ? 0 : 1;
    if (!axis.names.empty()) {
      add_names(axis, name, shown);
    } else if (axis.logarithmic) {
      const double decades = std::log10(ends.second / ends.first);
      shown["tickCount"] = decades > kManyDecades ? std::min(6, static_cast<int>(decades)) : 6;
      shown["format"] = "~g";
    } else {
      shown["tickCount"] = name == "x" ? signal("max(3, width / 80)") : Json(5);
    }
    axes_.push_back(std::move(shown));
  }

  void add_names(const PlotAxis& axis, const std::string& name, Json& shown) {
    Json names = Json::array(), places = Json::array();
    for (const std::string& text : axis.names) {
      places.push_back(names.size());
      names.push_back(chart_label(text));
    }
    signals_.push_back({{"name", name + "_names"}, {"value", std::move(names)}});
    shown["values"] = std::move(places);
    shown["encode"]["labels"]["update"]["text"] = signal(name + "_names[datum.value]");
    if (axis.turned)
      shown.update(
          {{"labelAngle", -40}, {"labelAlign", "right"}, {"labelBaseline", "middle"}, {"labelLimit", 240}});
  }

  /// A mark over the data of that name; nothing is drawn outside of the frame.
  void add_mark(const char* type, const std::string& data, Json encoding) {
    marks_.push_back({{"type", type},
                      {"clip", true},
                      {"from", {{"data", data}}},
                      {"encode", {{"update", std::move(encoding)}}}});
  }

  std::string add_data(Json values) {
    const std::string name = "series " + std::to_string(data_.size());
    data_.push_back({{"name", name}, {"values", std::move(values)}});
    return name;
  }

  /// Points with their coordinates by name, null where an axis cannot show them; where `whole` is set,
  /// without such points.
  std::string add_points(std::initializer_list<std::pair<const char*, const Values*>> columns, bool whole) {
    const std::size_t count = columns.begin()->second->size();
    Json points = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
      Json point = Json::object();
      bool shown = true;
      for (const auto& [name, values] : columns) {
        require(values->size() == count, "plot " + plot_.name + ": a series has unequal coordinates");
        point[name] = number(*name == 'x' ? plot_.x : plot_.y, (*values)[i]);
        shown = shown && !point[name].is_null();
      }
      if (shown || !whole) points.push_back(std::move(point));
    }
    return add_data(std::move(points));
  }

  void add(const PlotBand& band) {
    add_mark("area", add_points({{"x", &band.x}, {"low", &band.low}, {"high", &band.high}}, true),
             {{"x", at("x", "x")},
              {"y", at("y", "high")},
              {"y2", at("y", "low")},
              {"fill", colour_of(band.colour)},
              {"fillOpacity", value(kBandOpacity)}});
    legend_.add(band.name, band.colour, Dash::Solid, Swatch::Band);
  }

  /// The line begins anew behind what cannot be shown.
  void add(const PlotLine& line) {
    add_mark("line", add_points({{"x", &line.x}, {"y", &line.y}}, false),
             {{"x", at("x", "x")},
              {"y", at("y", "y")},
              {"defined", signal("isValid(datum.x) && isValid(datum.y)")},
              {"stroke", colour_of(line.colour)},
              {"strokeDash", value(dashes_of(line.dash))},
              {"strokeWidth", value(line.width)}});
    if (line.markers) add_symbols(line.x, line.y, line.colour, kMarkerRadius);
    legend_.add(line.name, line.colour, line.dash, Swatch::Line);
  }

  void add(const PlotDots& dots) {
    require(dots.low.size() == dots.high.size(), "plot " + plot_.name + ": whiskers have unequal ends");
    if (!dots.low.empty())
      add_mark("rule", add_points({{"x", &dots.x}, {"low", &dots.low}, {"high", &dots.high}}, true),
               {{"x", at("x", "x")},
                {"y", at("y", "low")},
                {"y2", at("y", "high")},
                {"stroke", colour_of(dots.colour)},
                {"strokeWidth", value(1.5)}});
    add_symbols(dots.x, dots.y, dots.colour, dots.radius);
    legend_.add(dots.name, dots.colour, Dash::Solid, Swatch::Dot);
  }

  void add_symbols(const Values& x, const Values& y, Colour colour, double radius) {
    cells_ = std::max(cells_, x.size());
    add_mark("symbol", add_points({{"x", &x}, {"y", &y}}, true),
             {{"x", at("x", "x")},
              {"y", at("y", "y")},
              {"fill", colour_of(colour)},
              {"size", value(page::chart_number(std::numbers::pi * radius * radius))}});
  }

  void add(const PlotHeat& heat) {
    Json cells = Json::array(), domain = Json::array();
    for (Index r = 0; r < heat.values.rows(); ++r) {
      for (Index c = 0; c < heat.values.cols(); ++c)
        cells.push_back({{"row", r}, {"column", c}, {"value", number({}, heat.values(r, c))}});
    }
    // The palette has seven colours: so many values are matched to them.
    for (int i = -3; i <= 3; ++i) domain.push_back(page::chart_number(heat.limit * i / 3.0));
    scales_.push_back(
        {{"name", "heat"}, {"type", "linear"}, {"domain", domain}, {"range", "diverging"}, {"clamp", true}});
    cells_ = std::max(cells_, cells.size());
    const std::string columns = std::to_string(heat.values.cols()), rows = std::to_string(heat.values.rows());
    add_mark("rect", add_data(std::move(cells)),
             {{"x", signal("floor(width * datum.column / " + columns + ")")},
              {"x2", signal("floor(width * (datum.column + 1) / " + columns + ")")},
              {"y", signal("floor(height * datum.row / " + rows + ")")},
              {"y2", signal("floor(height * (datum.row + 1) / " + rows + ")")},
              {"fill", at("heat", "value")}});
    legends_.push_back({{"fill", "heat"},
                        {"type", "gradient"},
                        {"orient", "bottom"},
                        {"direction", "horizontal"},
                        {"gradientLength", signal("min(220, width)")},
                        {"gradientThickness", 10},
                        {"format", ".2~g"},
                        {"tickCount", 4}});
  }

  /// Follows the width where the frame has a shape of its own.
  void add_height() {
    if (plot_.heat.empty() && !plot_.equal_units) return;
    const double ratio = plot_.heat.empty() ? (y_.second - y_.first) / (x_.second - x_.first) : 1.0;
    signals_.push_back({{"name", "height"}, {"update", "width * " + Json(page::chart_number(ratio)).dump()}});
  }

  const Plot& plot_;
  Ends x_, y_;
  std::size_t cells_ = 0;
  Json signals_ = Json::array(), data_ = Json::array(), scales_ = Json::array(), axes_ = Json::array(),
       legends_ = Json::array(), marks_ = Json::array();
  ChartLegend legend_;
};

}  // namespace

std::string plot_chart(const Plot& plot) { return PlotChart(plot).text(); }

}  // namespace mixcert::lab

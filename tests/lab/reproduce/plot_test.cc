// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Charts of plots: what their specifications hold. index_browser_test.cc lets Vega draw them.
#include "reproduce/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "mixcert/core/error.h"
#include "report/pages/page_assets.h"

namespace mixcert::lab {
namespace plot_test {

using Json = nlohmann::json;

Json chart_of(const Plot& plot) { return Json::parse(plot_chart(plot)); }

/// The element of that name; null where there is none.
Json named(const Json& list, const std::string& name) {
  for (const Json& entry : list) {
    if (entry["name"] == name) return entry;
  }
  return nullptr;
}

Json data_of(const Json& chart, const Json& mark) {
  return named(chart["data"], mark["from"]["data"])["values"];
}

Json marks_of(const Json& chart, const std::string& type) {
  Json found = Json::array();
  for (const Json& mark : chart["marks"]) {
    if (mark["type"] == type) found.push_back(mark);
  }
  return found;
}

Plot full_plot() {
  Plot plot;
  plot.name = "x";
  plot.title = "<script>&\"'";
  plot.x = {"a < b", true};
  plot.y = {"y & z", false};
  plot.bands = {{"band", {1, 10}, {0, 1}, {2, 3}, Colour::Grey}};
  plot.lines = {{"line <1>", {1, 10, 100}, {1, NAN, 2}, Colour::Blue, Dash::Dashed, true}};
  plot.dots = {{"dots", {5, 0}, {1, 1}, Colour::Orange, {0.5, 0}, {1.5, 0}}};
  return plot;
}

TEST(Plot, EveryMarkHasItsDataAndScales) {
  const Json chart = chart_of(full_plot());
  ASSERT_EQ(chart["marks"].size(), 5U);
  const char* types[] = {"area", "line", "symbol", "rule", "symbol"};
  const std::size_t points[] = {2, 3, 2, 1, 1};  // a logarithmic axis does not show the dot at zero
  for (std::size_t i = 0; i < 5; ++i) {
    const Json& mark = chart["marks"][i];
    EXPECT_EQ(mark["type"], types[i]);
    EXPECT_EQ(mark["clip"], true);
    EXPECT_EQ(data_of(chart, mark).size(), points[i]) << types[i];
    for (const auto& [channel, how] : mark["encode"]["update"].items()) {
      if (!how.contains("scale")) continue;
      EXPECT_FALSE(named(chart["scales"], how["scale"]).is_null()) << channel;
    }
  }
  EXPECT_EQ(named(chart["scales"], "x")["type"], "log");
  EXPECT_EQ(named(chart["scales"], "y")["type"], "linear");
  EXPECT_EQ(chart["axes"][0]["title"], "a < b");
  EXPECT_EQ(marks_of(chart, "line")[0]["encode"]["update"]["strokeDash"]["value"], Json({7, 4, 7, 4}));
}

TEST(Plot, LegendNamesEverySeriesOnce) {
  Plot plot = full_plot();
  plot.lines.push_back(plot.lines[0]);
  plot.lines.push_back(plot.lines[0]);
  plot.lines.back().name = "";
  const Json chart = chart_of(plot);
  ASSERT_EQ(chart["legends"].size(), 1U);
  const std::map<std::string, std::string> scales = {{"stroke", "legend_colour"},
                                                     {"strokeDash", "legend_dash"},
                                                     {"shape", "legend_shape"},
                                                     {"opacity", "legend_opacity"}};
  for (const auto& [channel, scale] : scales) {
    EXPECT_EQ(chart["legends"][0][channel], scale);
    const Json found = named(chart["scales"], scale);
    EXPECT_EQ(found["domain"], Json({"band", "line <1>", "dots"}));
    EXPECT_EQ(found["range"].size(), 3U);
  }
  EXPECT_EQ(named(chart["scales"], "legend_colour")["range"],
            Json({{{"signal", "grey"}}, {{"signal", "bound"}}, {{"signal", "estimate"}}}));
}

/// The signals of a theme as the page has it.
std::map<std::string, std::string> theme_colours(const std::string& theme) {
  const std::string script(page::script.text);
  const std::size_t begin = script.find("themes." + theme + " = ");
  if (begin == std::string::npos) return {};
  const std::size_t brace = script.find('{', begin);
  std::map<std::string, std::string> colours;
  const Json parsed = Json::parse(script.substr(brace, script.find("\n;", brace) - brace));
  for (const Json& signal : parsed["signals"]) colours[signal["name"]] = signal["value"];
  return colours;
}

TEST(Plot, ProvenAndEstimatedColoursDifferInBothThemes) {
  for (const char* theme : {"light", "dark"}) {
    const auto colours = theme_colours(theme);
    std::set<std::string> seen;
    for (const Colour colour : {Colour::Ink, Colour::Grey, Colour::Blue, Colour::Sky, Colour::Purple,
                                Colour::Orange, Colour::Amber, Colour::Green}) {
      const std::string signal(colour_signal(colour));
      ASSERT_EQ(colours.count(signal), 1U) << theme << " " << signal;
      EXPECT_TRUE(seen.insert(colours.at(signal)).second)
          << theme << ": " << signal << " is another's colour";
    }
  }
  EXPECT_EQ(colour_signal(Colour::Blue), "bound");
  EXPECT_EQ(colour_signal(Colour::Orange), "estimate");
}

/// Ends of the y axis of one line.
std::pair<double, double> ends(const PlotAxis& axis, const std::vector<double>& values) {
  Plot plot;
  plot.y = axis;
  plot.lines = {{"", std::vector<double>(values.size(), 1.0), values}};
  const Json domain = named(chart_of(plot)["scales"], "y")["domain"];
  return {domain[0], domain[1]};
}

TEST(Plot, AxesCoverWhatTheyCanShow) {
  const auto [low, high] = ends({"", true}, {NAN, -1.0, 0.0, 2.0, 8.0, INFINITY});
  EXPECT_LT(low, 2.0);
  EXPECT_GT(low, 1.5);
  EXPECT_GT(high, 8.0);
  EXPECT_LT(high, 10.0);
  EXPECT_EQ(ends({"", false, 0.0, 0.03}, {7.0}), std::pair(0.0, 0.03));
  EXPECT_EQ(ends({"", false}, {}), std::pair(-0.5, 0.5)) << "an axis without data still has ends";
  EXPECT_THROW(ends({"", true, 0.0, 1.0}, {}), InvalidArgument);
  EXPECT_THROW(ends({"", false, 1.0, 1.0}, {}), InvalidArgument);
}

TEST(Plot, ManyDecadesHavePowersOfTenAlone) {
  const auto ticks = [](double low, double high) {
    Plot plot;
    plot.y = {"", true, low, high};
    return chart_of(plot)["axes"][1]["tickCount"].get<int>();
  };
  // Vega puts ticks between powers of ten where it is asked for more ticks than there are decades.
  EXPECT_LE(ticks(0.01, 1e4), 6);
  EXPECT_LE(ticks(1.0, 200.0), 2);
  EXPECT_GT(ticks(0.3, 12.0), 2);
  EXPECT_EQ(ticks(1e-9, 1e9), 6);
}

TEST(Plot, LinesBreakWhereThereIsNoNumber) {
  const Json chart = chart_of(full_plot());
  const Json line = marks_of(chart, "line")[0];
  EXPECT_TRUE(data_of(chart, line)[1]["y"].is_null());
  EXPECT_EQ(line["encode"]["update"]["defined"]["signal"], "isValid(datum.x) && isValid(datum.y)");
  EXPECT_EQ(data_of(chart, marks_of(chart, "symbol")[0]).dump().find("null"), std::string::npos)
      << "a symbol has no such gap";
}

TEST(Plot, HeatMapHasACellForEveryNumber) {
  Plot plot;
  plot.heat = {{Matrix::Identity(3, 4), 2.0}};
  plot.x.names = {"0", "1", "2", "3"};
  plot.y.names = {"2", "1", "0"};
  const Json chart = chart_of(plot);
  EXPECT_EQ(data_of(chart, chart["marks"][0]).size(), 12U);
  EXPECT_EQ(data_of(chart, chart["marks"][0])[5], Json({{"row", 1}, {"column", 1}, {"value", 1.0}}));
  const Json colours = named(chart["scales"], "heat");
  EXPECT_EQ(colours["domain"].size(), 7U);
  EXPECT_EQ(colours["domain"][0], -2.0);
  EXPECT_EQ(colours["domain"][3], 0.0);
  EXPECT_EQ(colours["clamp"], true);
  EXPECT_EQ(named(chart["signals"], "x_names")["value"], Json({"0", "1", "2", "3"}));
  EXPECT_EQ(named(chart["scales"], "x")["domain"], Json({-0.5, 3.5}));
  EXPECT_EQ(named(chart["signals"], "height")["update"], "width * 1.0") << "a square";
}

TEST(Plot, ShapesOfFrames) {
  Plot plot;
  plot.x = {"", false, -1.0, 3.0};
  plot.y = {"", false, 0.0, 2.0};
  EXPECT_TRUE(named(chart_of(plot)["signals"], "height").is_null());
  plot.equal_units = true;
  EXPECT_EQ(named(chart_of(plot)["signals"], "height")["update"], "width * 0.5");
}

TEST(Plot, UnequalCoordinatesAreRefused) {
  Plot plot = full_plot();
  plot.lines[0].x.pop_back();
  EXPECT_THROW(plot_chart(plot), InvalidArgument);
  plot = full_plot();
  plot.dots[0].high.pop_back();
  EXPECT_THROW(plot_chart(plot), InvalidArgument);
}

}  // namespace plot_test
}  // namespace mixcert::lab

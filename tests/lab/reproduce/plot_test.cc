// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Axes and drawings.
#include "reproduce/plot.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/reproduce/xml_check.h"
#include "mixcert/core/error.h"
#include "reproduce/axis_scale.h"
#include "reproduce/svg_writer.h"

namespace mixcert::lab {
namespace {

std::vector<std::string> labels(const AxisScale& scale) {
  std::vector<std::string> found;
  for (const Tick& tick : scale.ticks()) {
    if (!tick.label.empty()) found.push_back(tick.label);
  }
  return found;
}

TEST(AxisScale, LinearTicksAreRoundNumbers) {
  EXPECT_EQ(labels(AxisScale({}, false, 0.0, 1.0)),
            (std::vector<std::string>{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(AxisScale({}, false, -3.0, 3.0)),
            (std::vector<std::string>{"-3", "-2", "-1", "0", "1", "2", "3"}));
  EXPECT_EQ(labels(AxisScale({}, false, 0.0, 0.03)),
            (std::vector<std::string>{"0.000", "0.005", "0.010", "0.015", "0.020", "0.025", "0.030"}));
}

TEST(AxisScale, LogarithmicTicksArePowersOfTen) {
  const AxisScale scale({}, true, 0.01, 1e4);
  EXPECT_EQ(labels(scale), (std::vector<std::string>{"0.01", "0.1", "1", "10", "100", "1000", "10⁴"}));
  EXPECT_NEAR(scale.place(0.01), 0.0, 1e-12);
  EXPECT_NEAR(scale.place(10.0), 0.5, 1e-12);
  EXPECT_NEAR(scale.place(1e4), 1.0, 1e-12);
  // Between two powers of ten are eight more ticks without labels.
  EXPECT_EQ(scale.ticks().size(), 6U * 9U + 1U);
}

TEST(AxisScale, FewDecadesHaveLabelsBetween) {
  EXPECT_EQ(labels(AxisScale({}, true, 0.3, 12.0)), (std::vector<std::string>{"0.5", "1", "2", "5", "10"}));
}

TEST(AxisScale, ManyDecadesAreThinnedOut) {
  const AxisScale scale({}, true, 1e-9, 1e9);
  EXPECT_LE(labels(scale).size(), 7U);
  EXPECT_GE(labels(scale).size(), 4U);
}

TEST(AxisScale, LeavesOutWhatCannotBeShown) {
  const AxisScale scale({NAN, -1.0, 0.0, 2.0, 8.0, INFINITY}, true, NAN, NAN);
  EXPECT_FALSE(scale.shows(0.0));
  EXPECT_LT(scale.low(), 2.0);
  EXPECT_GT(scale.low(), 1.5);
  EXPECT_GT(scale.high(), 8.0);
  EXPECT_LT(scale.high(), 10.0);
  EXPECT_FALSE(AxisScale({}, false, NAN, NAN).ticks().empty()) << "an axis without data still has ticks";
  EXPECT_THROW(AxisScale({}, true, 0.0, 1.0), InvalidArgument);
  EXPECT_THROW(AxisScale({}, false, 1.0, 1.0), InvalidArgument);
}

TEST(AxisScale, NamesOfPowers) {
  EXPECT_EQ(power_label(0), "1");
  EXPECT_EQ(power_label(-3), "0.001");
  EXPECT_EQ(power_label(-12), "10⁻¹²");
}

TEST(SvgWriter, RefusesWhatIsNotWellFormed) {
  SvgWriter writer(10, 10, "", "");
  EXPECT_THROW(svg_number(NAN), InvalidArgument);
  EXPECT_EQ(svg_number(-0.001), "0");
  EXPECT_EQ(svg_number(12.5), "12.5");
  writer.open("g", {});
  EXPECT_THROW((void)writer.take(), InvalidArgument);
}

Plot full_plot() {
  Plot plot;
  plot.name = "x";
  plot.title = "<script>&\"'";
  plot.x = {"a < b", true};
  plot.y = {"y & z", false};
  plot.bands = {{"band", {1, 10}, {0, 1}, {2, 3}, Colour::Sky}};
  plot.lines = {{"line <1>", {1, 10, 100}, {1, NAN, 2}, Colour::Blue, Dash::Dashed, true}};
  plot.dots = {{"dots", {5}, {1}, Colour::Orange, {0.5}, {1.5}}};
  return plot;
}

TEST(Plot, DrawingIsWellFormedAndEscaped) {
  const std::string svg = draw_plot(full_plot());
  EXPECT_EQ(test::xml_fault(svg), "") << svg;
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("line &lt;1&gt;"), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(Plot, LinesBreakWhereThereIsNoNumber) {
  Plot plot = full_plot();
  plot.lines[0].markers = false;
  const std::string svg = draw_plot(plot);
  const std::size_t at = svg.find(" d=\"");
  ASSERT_NE(at, std::string::npos);
  const std::string path = svg.substr(at + 4, svg.find('"', at + 4) - at - 4);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 0) << path;
}

TEST(Plot, HeatMapHasACellForEveryNumber) {
  Plot plot;
  plot.heat = {{Matrix::Identity(3, 4), 1.0}};
  plot.x.names = {"0", "1", "2", "3"};
  plot.y.names = {"2", "1", "0"};
  const std::string svg = draw_plot(plot);
  EXPECT_EQ(test::xml_fault(svg), "");
  std::size_t cells = 0;
  for (std::size_t at = 0; (at = svg.find("fill=\"rgb(", at)) != std::string::npos; ++at) ++cells;
  EXPECT_EQ(cells, 12U);
  EXPECT_EQ(heat_colour(0.0), "rgb(247,247,247)");
  EXPECT_EQ(heat_colour(9.0), heat_colour(1.0));
  EXPECT_NE(heat_colour(1.0), heat_colour(-1.0));
}

TEST(Plot, UnequalCoordinatesAreRefused) {
  Plot plot = full_plot();
  plot.lines[0].x.pop_back();
  EXPECT_THROW(draw_plot(plot), InvalidArgument);
}

}  // namespace
}  // namespace mixcert::lab

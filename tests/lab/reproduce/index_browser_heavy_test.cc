// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The index page in headless Chromium: Vega takes every chart, says nothing to the console, and what it draws
// fits its column. Screenshots are left in the build folder.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "report/browser.h"
#include "reproduce/index_page.h"

namespace mixcert::lab {
namespace index_browser_heavy_test {

namespace fs = std::filesystem;

std::vector<double> powers(double first, double ratio) {
  std::vector<double> values;
  for (int i = 0; i < 9; ++i) values.push_back(first * std::pow(ratio, i));
  return values;
}

/// Every kind of mark and axis.
Outcome drawings() {
  Outcome outcome;
  Plot lines;
  lines.name = "lines";
  lines.title = "Lines <and> marks";
  lines.caption = "On logarithmic axes.";
  lines.x = {"locations", true};
  lines.y = {"W2", true};
  lines.lines = {{"grid, formal", powers(1, 3), powers(3, 0.6), Colour::Purple, Dash::Solid, true},
                 {"ours, formal", powers(1, 3), powers(0.3, 0.6), Colour::Blue, Dash::Dashed},
                 {"ours, upper (stat.)", powers(1, 3), powers(0.1, 0.6), Colour::Orange, Dash::DashDotted},
                 {"floor: grid, empirical", powers(1, 3), powers(0.03, 0.6), Colour::Grey, Dash::Dotted}};
  lines.lines[0].y[3] = NAN;
  lines.dots = {{"bracket", {10, 1000, 0}, {0.01, 0.001, 1}, Colour::Green, {0.005, NAN, 1}, {0.02, 1, 1}}};
  outcome.add(lines);
  Plot band;
  band.name = "band";
  band.title = "A band";
  band.x = {"input x", false, -1.0, 1.0};
  band.y = {"output"};
  band.bands = {{"± 10 standard deviations", {-1, 0, 1}, {-2, -1, -2}, {2, 1, 2}, Colour::Orange}};
  band.lines = {{"mean", {-1, 1}, {0, 0.5}, Colour::Ink}};
  outcome.add(band);
  Plot names;
  names.name = "names";
  names.title = "Names";
  names.x.names = {"CIFAR-10 VGG-2 (Drop) + [1x128] (VI)", "MNIST [2x128]", "Kin8nm [1x128]"};
  names.x.turned = true;
  names.y = {"relative W2", true};
  names.wide = true;
  names.dots = {{"ours, formal", {0, 1, 2}, {0.1, NAN, 2}, Colour::Blue}};
  outcome.add(names);
  Plot heat;
  heat.name = "heat";
  heat.title = "A kernel";
  heat.heat = {{Matrix::Random(30, 30), 1.0}};
  heat.x.names = heat.y.names = std::vector<std::string>(30, "1");
  outcome.add(heat);
  Plot units;
  units.name = "units";
  units.title = "Equal units";
  units.equal_units = true;
  units.x = {"z₁", false, -3.0, 3.0};
  units.y = {"z₂", false, -3.0, 3.0};
  units.lines = {{"beyond the frame", {-9, 9}, {-5, 5}, Colour::Sky}};
  outcome.add(units);
  Plot nothing;
  nothing.name = "nothing";
  nothing.title = "No data";
  nothing.y = {"W2", true};
  outcome.add(nothing);
  return outcome;
}

TEST(IndexInBrowser, EveryChartIsDrawn) {
  const Outcome outcome = drawings();
  std::vector<const Outcome*> outcomes(experiments().size(), nullptr);
  outcomes[0] = &outcome;
  const test::TempDirectory folder;
  const fs::path file = folder / "index.html";
  std::ofstream(file) << page::write_page(index_page({}, outcomes));
  test::Browser browser;
  for (const int width : {1280, 800, 360}) {
    for (const bool dark : {false, true}) {
      browser.show_as(width, 900, dark);
      browser.open(file);
      EXPECT_EQ(browser.evaluate("document.querySelectorAll('.chart svg, .chart canvas').length"), 6);
      EXPECT_EQ(browser.evaluate("document.documentElement.scrollWidth"), width) << "wider than the window";
      EXPECT_EQ(browser.evaluate("[...document.querySelectorAll('.chart > *')].every(e => "
                                 "e.getBoundingClientRect().width <= e.parentNode.clientWidth + 1)"),
                true);
      EXPECT_EQ(browser.messages(), std::vector<std::string>());
      EXPECT_EQ(browser.requests().size(), 1U) << "the page itself";
      browser.screenshot(fs::path(MIXCERT_SCREENSHOT_DIRECTORY) /
                         ("index-" + std::to_string(width) + (dark ? "-dark" : "-light") + ".png"));
    }
  }
}

}  // namespace index_browser_heavy_test
}  // namespace mixcert::lab

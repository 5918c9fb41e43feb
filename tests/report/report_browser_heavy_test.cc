// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Reports as their readers meet them, in headless Chromium: charts are drawn, tables sort, colours change,
// nothing is requested and nothing is said to the console. Screenshots of 1280 and 360 pixels are left in the
// build folder.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/array.h"
#include "mixcert/io/model_file.h"
#include "report/browser.h"

namespace mixcert::test {
namespace report_browser_heavy_test {

namespace fs = std::filesystem;

/// Charts that hold marks: paths, lines or text in SVG, or a canvas that is not of one colour.
constexpr const char* kDrawnCharts =
    "[...document.querySelectorAll('.chart')].filter(c => { const v = c.querySelector('canvas');"
    "if (!v) return c.querySelectorAll('svg path, svg line, svg text').length > 5;"
    "const d = v.getContext('2d').getImageData(0, 0, v.width, v.height).data;"
    "return d.some((x, i) => x !== d[i % 4]); }).length";

/// Text of a column of the table of inputs, from top to bottom.
std::string column(const std::string& title) {
  return "(() => { const t = document.querySelector('table:has(th[aria-sort])');"
         "const i = [...t.tHead.rows[0].cells].findIndex(c => c.textContent === '" +
         title +
         "');"
         "return [...t.tBodies[0].rows].map(r => Number(r.cells[i].dataset.k)); })()";
}

class ReportInBrowser : public CommandLineTest {
 protected:
  /// Certifies and opens the report.
  void open_report(std::vector<std::string> arguments, const std::string& name) {
    arguments.insert(arguments.begin(), "certify");
    arguments.insert(arguments.end(), {"--report", name + ".html"});
    EXPECT_CONTAINS(run_well(arguments), "wrote " + name + ".html");
    browser_.show_as(1280, 900, false);
    browser_.open(directory_ / (name + ".html"));
  }
  void expect_silence() {
    EXPECT_EQ(browser_.messages(), std::vector<std::string>());
    for (const std::string& address : browser_.requests()) {
      EXPECT_TRUE(address.rfind("file://", 0) == 0 || address.rfind("data:image/png", 0) == 0) << address;
    }
    std::size_t files = 0;
    for (const std::string& address : browser_.requests()) files += address.rfind("file://", 0) == 0 ? 1 : 0;
    EXPECT_EQ(files, 1U) << "the page itself";
  }
  void save_screenshots(const std::string& name) {
    for (const bool dark : {false, true}) {
      for (const int width : {1280, 360}) {
        browser_.show_as(width, 900, dark);
        EXPECT_TRUE(browser_.becomes_true(std::string("document.documentElement.dataset.drawn === '") +
                                          (dark ? "dark'" : "light'")));
        // Charts follow a change of size a moment later.
        EXPECT_TRUE(
            browser_.becomes_true("[...document.querySelectorAll('.chart > *')].every(e => "
                                  "e.getBoundingClientRect().width <= e.parentNode.clientWidth + 1)"));
        EXPECT_EQ(browser_.evaluate("document.documentElement.scrollWidth"), width)
            << "wider than the window";
        browser_.screenshot(fs::path(MIXCERT_SCREENSHOT_DIRECTORY) /
                            (name + "-" + std::to_string(width) + (dark ? "-dark" : "-light") + ".png"));
      }
    }
    browser_.show_as(1280, 900, false);
    EXPECT_TRUE(browser_.becomes_true("document.documentElement.dataset.drawn === 'light'"));
  }

  Browser browser_;
};

TEST_F(ReportInBrowser, Regression) {
  const fs::path examples = fs::path(MIXCERT_SOURCE_DIRECTORY) / "examples";
  fs::copy(examples / "noisy_sines.safetensors", directory_ / "noisy_sines.safetensors");
  std::string csv = "x\n";
  for (int i = -50; i <= 50; ++i) csv += std::to_string(i / 50.0) + "\n";
  write_text(directory_ / "x.csv", csv);
  open_report({"noisy_sines.safetensors", "--inputs", "x.csv", "--statistics", "1000"}, "regression");
  // Four of all inputs, and the computed law of one: its density and the differences to it.
  const int charts = 6;
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('.chart').length"), charts);
  EXPECT_EQ(browser_.evaluate(kDrawnCharts), charts);

  // Sorting, by keyboard: worst first, then by x.
  auto bounds = browser_.evaluate(column("W2 \u2264")).get<std::vector<double>>();
  ASSERT_EQ(bounds.size(), 101U);
  EXPECT_TRUE(std::is_sorted(bounds.rbegin(), bounds.rend()));
  browser_.evaluate("[...document.querySelectorAll('th button')].find(b => b.textContent === 'x').focus()");
  browser_.press("Enter");
  auto x = browser_.evaluate(column("x")).get<std::vector<double>>();
  EXPECT_TRUE(std::is_sorted(x.rbegin(), x.rend()));
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('th[aria-sort]').length"), 1);
  browser_.press(" ");
  x = browser_.evaluate(column("x")).get<std::vector<double>>();
  EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  EXPECT_EQ(browser_.evaluate("document.querySelector('th[aria-sort]').getAttribute('aria-sort')"),
            "ascending");

  // Colours of page and charts.
  const std::string background = "getComputedStyle(document.documentElement).backgroundColor";
  const auto light = browser_.evaluate(background);
  browser_.evaluate("document.getElementById('theme').click()");
  EXPECT_TRUE(browser_.becomes_true("document.documentElement.dataset.drawn === 'dark'"));
  EXPECT_NE(browser_.evaluate(background), light);
  EXPECT_EQ(browser_.evaluate(kDrawnCharts), charts);
  browser_.evaluate("document.getElementById('theme').click()");
  EXPECT_TRUE(browser_.becomes_true("document.documentElement.dataset.drawn === 'light'"));
  EXPECT_EQ(browser_.evaluate(background), light);
  browser_.open(directory_ / "regression.html");
  save_screenshots("regression");
  expect_silence();
}

/// Pictures of rings and bars, so that they can be compressed and looked at.
Array pictures(Index count) {
  Array array{{count, 784}, {}};
  for (Index n = 0; n < count; ++n) {
    const double radius = 3.0 + 0.013 * static_cast<double>(n % 700), tilt = 0.003 * static_cast<double>(n);
    for (Index i = 0; i < 784; ++i) {
      const double row = static_cast<double>(i / 28) - 13.5, at = static_cast<double>(i % 28) - 13.5;
      const double ring = std::abs(std::hypot(row, at) - radius),
                   bar = std::abs(row * std::cos(tilt) - at * std::sin(tilt));
      array.values.push_back(std::max(0.0, 1.0 - 0.5 * (n % 2 == 0 ? ring : bar)));
    }
  }
  return array;
}

TEST_F(ReportInBrowser, AThousandPictures) {
  save_network(directory_ / "images.safetensors", small_network({784, 16, 10}));
  write_npy(directory_ / "images.npy", pictures(1000));
  open_report(
      {"images.safetensors", "--inputs", "images.npy", "--image", "28x28", "--classes", "--method", "moment"},
      "images");
  EXPECT_LT(fs::file_size(directory_ / "images.html"), 5'000'000U);
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('tbody img').length"), 1000);
  EXPECT_EQ(browser_.evaluate("[...document.images].every(i => i.complete && i.naturalWidth === 28)"), true);
  const int charts = browser_.evaluate("document.querySelectorAll('.chart').length").get<int>();
  EXPECT_EQ(charts, 8);
  EXPECT_EQ(browser_.evaluate(kDrawnCharts), charts);
  const auto sorted = browser_.evaluate(
      "(() => { const t = performance.now(); [...document.querySelectorAll('th button')].find(b => "
      "b.textContent === 'input').click();"
      "document.body.offsetHeight; return performance.now() - t; })()");
  const auto ready =
      browser_.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd");
  std::printf("1000 inputs: %.2f MB, interactive after %.0f ms, sorted in %.0f ms\n",
              static_cast<double>(fs::file_size(directory_ / "images.html")) / 1e6, ready.get<double>(),
              sorted.get<double>());
  browser_.open(directory_ / "images.html");
  save_screenshots("images");
  expect_silence();
}

TEST_F(ReportInBrowser, HostileNamesAreShownAndNotRun) {
  // A path may hold any character but a zero; the slash of a closing tag makes a directory.
  const std::string name = "\"><img src=x onerror=window.owned=1> <script>window.owned=2<";
  const std::string file = "script>' onfocus='window.owned=3' autofocus \u202Egpj \U0001F600.safetensors";
  fs::create_directory(directory_ / name);
  save_network(directory_ / name / file, small_network({1, 4, 1}));
  write_inputs(directory_ / "x.csv", 5, 1);
  open_report({name + "/" + file, "--inputs", "x.csv"}, "hostile");
  EXPECT_EQ(browser_.evaluate("typeof window.owned"), "undefined");
  EXPECT_EQ(
      browser_.evaluate("document.querySelectorAll('img, [onerror], [onfocus], script:not([type])').length"),
      1);
  const std::string shown = browser_.evaluate("document.querySelector('section dd').textContent");
  EXPECT_NE(shown.find(name), std::string::npos) << shown;
  EXPECT_NE(shown.find("[U+202E]gpj \U0001F600"), std::string::npos) << shown;
  // Had a script come in, the policy would not run it.
  browser_.evaluate(
      "{ const s = document.createElement('script'); s.textContent = 'window.owned = 4'; "
      "document.body.append(s); }");
  EXPECT_EQ(browser_.evaluate("typeof window.owned"), "undefined");
  EXPECT_EQ(browser_.messages().size(), 1U) << "the policy's refusal";
}

}  // namespace report_browser_heavy_test
}  // namespace mixcert::test

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// HTML reports without a browser: what strings from outside become, whether pages are well-formed, the same
// every time, complete with missing numbers, and small. report_browser_test.cc opens them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "mixcert/certify/certify.h"
#include "mixcert/core/rng.h"
#include "mixcert/network/network_builder.h"
#include "report/html_checks.h"
#include "report/pages/command_pages.h"
#include "report/pages/html_text.h"
#include "report/pages/html_writer.h"
#include "report/pages/page_parts.h"

namespace mixcert::page {
namespace html_report_test {

using testing::HtmlReader;
using testing::HtmlReading;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<std::string>& hostile_strings() {
  static const std::vector<std::string> strings = {
      "<script>alert(1)</script>",
      "\"><img src=x onerror=alert(1)>",
      "</script><script>alert(2)</script>",
      "</title></style><svg onload=alert(3)>",
      "' onmouseover='alert(4)",
      "<!-- <script> -->",
      "]]>&lt;&amp;&#x41;",
      "\u202Etxt.exe\u2066",
      "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627",
      "\U0001F600\U0001F468\u200D\U0001F469",
      std::string("nul\0inside", 10),
      "bad \xC3\x28 \xFF\xFE \xED\xA0\x80 \xF4\x90\x80\x80 utf-8",
      "line\nbreak\ttab\rreturn\u2028separator",
      "{{constructor}} ${1+1} {\"a\":1}",
      std::string(100000, 'x'),
  };
  return strings;
}

/// A page with the string wherever a page has a string.
Page page_of(const std::string& text) {
  Table table{text, {{text, Column::Kind::Text}, {text}}, {{word_cell(text), {text, 1.0}}}, true, 1};
  Figure figure{text, text, text, {{LegendEntry::Mark::Bound, text}}, "", table, ""};
  figure.spec = layers_chart({{text, 1.0, 2.0}});
  Figure intervals = figure;
  intervals.spec = intervals_chart({{text, {0.5, 0.25, 0.75}, true}}, 0.0, 1.0, text);
  Figure comparison = figure;
  comparison.spec = comparison_chart({{text, {0.5, 0.25, 0.75}, 0.6, 0.1}}, 0.0, 1.0, text);
  Section section{text,
                  {Paragraph{text}, FactList{{{text, text}, {text, text, true}}}, table,
                   FigureRow{{figure, intervals, comparison}}}};
  return {text, text, text, {{text, text, text, Tone::Certified}}, {text}, {section}, text};
}

RunFacts facts_of(const std::string& text) {
  RunFacts run;
  run.version = run.command = run.architecture = text;
  run.models = {{text, text, 0.5}, {text, text, 0.5}};
  run.options = {{text, text}};
  run.assumptions = {text};
  return run;
}

TEST(ComparisonPage, ProvenAndDrawnNumbersHaveColumnsOfTheirOwn) {
  ComparisonContents contents;
  contents.groups = {
      {"Means", {{"mean of y0", {0.5, 0.25, 0.75}, 0.6, 0.01}, {"exact", {1, 1, 1}, NAN, NAN}}},
      {"Deviations", {}}};
  const Page page = comparison_page(contents);
  ASSERT_EQ(page.sections.size(), 2U);
  const Table& table = std::get<Table>(page.sections[0].blocks[1]);
  std::vector<Tone> tones;
  for (const Column& column : table.columns) tones.push_back(column.tone);
  EXPECT_EQ(tones, (std::vector{Tone::Plain, Tone::Plain, Tone::Certified, Tone::Certified, Tone::Estimate,
                                Tone::Estimate}));
  EXPECT_EQ(table.rows[0][4].text, number_text(0.6));
  const Figure& figure = std::get<FigureRow>(page.sections[0].blocks[0]).figures[0];
  EXPECT_NE(figure.spec.find("\"low\":0.25,\"high\":0.75"), std::string::npos) << figure.spec;
  EXPECT_EQ(HtmlReader(write_page(page)).read().error, "");
}

TEST(HtmlText, ShowsWhatIsInAString) {
  EXPECT_EQ(printable("a\u202Eb\u2069"), "a[U+202E]b[U+2069]");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(printable("\xC3\x28"), "\uFFFD(");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xF0\x9F\x98"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\U0001F600 \u05E9"), "\U0001F600 \u05E9");
  EXPECT_EQ(printable("abcdef", 3), "abc [and 3 more bytes]");
  EXPECT_EQ(escaped("<a href=\"x\" title='y'>&"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(json_for_script("\"</script>&\""), "\"\\u003c/script\\u003e\\u0026\"");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(HtmlPage, HostileStringsAreTextEverywhere) {
  const HtmlReading plain = HtmlReader(write_page(page_of("plain"))).read();
  ASSERT_EQ(plain.error, "");
  for (const std::string& text : hostile_strings()) {
    const std::string html = write_page(page_of(text));
    const HtmlReading reading = HtmlReader(html).read();
    ASSERT_EQ(reading.error, "") << text.substr(0, 60);
    // The same elements with the same attributes as around a harmless string: nothing became markup.
    ASSERT_EQ(reading.tags.size(), plain.tags.size()) << text.substr(0, 60);
    for (std::size_t i = 0; i < plain.tags.size(); ++i) {
      ASSERT_EQ(reading.tags[i].name, plain.tags[i].name);
      ASSERT_EQ(reading.tags[i].attributes.size(), plain.tags[i].attributes.size());
      for (const auto& [name, value] : plain.tags[i].attributes) {
        ASSERT_EQ(reading.tags[i].attributes.count(name), 1U) << name;
      }
    }
    // Shown, in full up to the length that is shown.
    EXPECT_NE(reading.text.find(printable(text, kLongestForeignText)), std::string::npos)
        << text.substr(0, 60);
    EXPECT_EQ(html.find("\u202E"), std::string::npos);
    EXPECT_EQ(html.find('\0'), std::string::npos);
    EXPECT_EQ(printable(html), html) << "no UTF-8";
    // The program's own script is the only one that is run, the same in all pages; the others are JSON.
    ASSERT_EQ(reading.scripts.size(), plain.scripts.size());
    EXPECT_EQ(reading.scripts.back(), plain.scripts.back());
    for (std::size_t i = 0; i + 1 < reading.scripts.size(); ++i) {
      EXPECT_TRUE(nlohmann::json::accept(reading.scripts[i])) << reading.scripts[i].substr(0, 80);
    }
  }
}

TEST(HtmlPage, PolicyAllowsTheOwnScriptAndNoRequest) {
  const HtmlReading reading = HtmlReader(write_page(page_of("plain"))).read();
  std::string policy;
  for (const auto& tag : reading.tags) {
    if (tag.attributes.count("http-equiv") > 0) policy = tag.attributes.at("content");
    for (const char* address : {"href", "action", "srcset", "onload", "onerror", "style"}) {
      EXPECT_EQ(tag.attributes.count(address), 0U) << address;
    }
    if (tag.attributes.count("src") > 0) {
      EXPECT_EQ(tag.attributes.at("src").substr(0, 22), "data:image/png;base64,");
    }
  }
  EXPECT_EQ(policy.find("default-src 'none'; img-src data:; style-src 'sha256-"), 0U) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(policy.find("http"), std::string::npos);
  EXPECT_NE(policy.find(policy_hash(script)), std::string::npos);
  EXPECT_NE(reading.text.find("BSD 3-Clause"), std::string::npos);
}

/// What mixcert certify would hand over, from a small network.
CertifyContents certified(const std::vector<Index>& widths, Index inputs, bool joint,
                          std::optional<LayerShape> image, bool classes, const std::string& name) {
  Generator generator = make_generator(3, Stream::Example);
  const auto number = [&] { return static_cast<double>(generator() % 2001) / 1000.0 - 1.0; };
  std::vector<DenseLayer> layers;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const Matrix mean =
        Matrix::NullaryExpr(widths[k + 1], widths[k], [&] { return number() / std::sqrt(widths[k]); });
    layers.emplace_back(name, mean, Vector::Zero(widths[k + 1]),
                        MeanFieldWeights{Matrix::Constant(widths[k + 1], widths[k], 1e-3)},
                        DeterministicBias{});
  }
  std::vector<ActivationMap> activations{ActivationMap(Activation(ActivationFunction::Identity))};
  for (std::size_t k = 1; k < layers.size(); ++k)
    activations.emplace_back(Activation(ActivationFunction::Tanh));
  const Ensemble ensemble(Network(std::move(layers), std::move(activations)));
  const Matrix points = Matrix::NullaryExpr(widths.front(), inputs, number);
  Options options;
  options.joint = joint;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  CertifyCollector collector(ensemble, options, points, image);
  certify(ensemble, points, options, [&](Result&& result) {
    std::optional<ClassAnswer> answer;
    if (classes)
      answer = class_answer(CertifiedLaw(result), {100, 1e-3, 1}, static_cast<std::uint64_t>(result.input));
    collector.add(result, answer);
  });
  CertifyContents contents = collector.finish();
  contents.run = facts_of(name);
  contents.run.architecture = architecture_words(ensemble);
  contents.inputs_file = name;
  return contents;
}

TEST(CertifyPage, HasItsChartsAndIsTheSameEveryTime) {
  const auto make = [](bool joint) {
    return write_page(certify_page(certified({1, 6, 2}, 12, joint, {}, false, "net")));
  };
  for (const bool joint : {false, true}) {
    const std::string html = make(joint);
    EXPECT_EQ(html, make(joint));
    const HtmlReading reading = HtmlReader(html).read();
    ASSERT_EQ(reading.error, "");
    // Layers, a band for each output, density; then bounds by rank, or the correlation.
    EXPECT_EQ(reading.count("figure"), 5U);
    EXPECT_NE(reading.text.find("Where the error comes from"), std::string::npos);
    EXPECT_NE(reading.text.find("1 input \u2192 6 tanh \u2192 2 outputs"), std::string::npos)
        << reading.text.substr(0, 900);
  }
}

TEST(CertifyPage, HostileNamesAndLabels) {
  for (const std::string& text : hostile_strings()) {
    const HtmlReading reading =
        HtmlReader(write_page(certify_page(certified({1, 3, 1}, 3, false, {}, false, text)))).read();
    EXPECT_EQ(reading.error, "") << text.substr(0, 60);
    EXPECT_EQ(reading.scripts.size(), reading.count("figure") + 1);
  }
}

/// The guaranteed band holds mean +- 2 sd of every law within W2 <= w of the mixture, one of which is the
/// mixture moved by w and another the mixture widened by w; both are checked against the numbers of the
/// chart.
TEST(CertifyPage, GuaranteedBandIsWideEnough) {
  const CertifyContents contents = certified({1, 5, 1}, 7, false, {}, false, "net");
  for (const BandPoint& point : contents.bands.front()) {
    const auto row = std::find_if(contents.rows.begin(), contents.rows.end(),
                                  [&](const InputRow& r) { return r.features.front() == point.x; });
    ASSERT_NE(row, contents.rows.end());
    EXPECT_GE(point.outer, 2.0 * row->deviation.front() + row->bound);
    EXPECT_GE(point.outer, 2.0 * (row->deviation.front() + row->bound));
    EXPECT_DOUBLE_EQ(point.mean, row->mean.front());
  }
}

TEST(CertifyPage, AThousandPicturesStayBelowFiveMegabytes) {
  const CertifyContents contents =
      certified({784, 4, 10}, 1000, false, LayerShape{1, {28, 28}, true}, true, "net");
  const std::string html = write_page(certify_page(contents));
  const HtmlReading reading = HtmlReader(html).read();
  ASSERT_EQ(reading.error, "");
  EXPECT_LT(html.size(), 5'000'000U);
  EXPECT_EQ(contents.rows.size(), 1000U);
  // These are noise, which cannot be compressed: some rows go without; pictures of things are all there.
  EXPECT_GT(reading.count("img"), 900U);
  EXPECT_TRUE(std::is_sorted(contents.rows.begin(), contents.rows.end(),
                             [](const InputRow& a, const InputRow& b) { return a.bound > b.bound; }));
}

TEST(CertifyPage, KeepsTheWorstOfManyInputs) {
  const CertifyContents contents = certified({1, 2, 1}, 2500, false, {}, false, "net");
  ASSERT_EQ(contents.rows.size(), 1000U);
  EXPECT_EQ(contents.inputs, 2500);
  EXPECT_EQ(contents.rows.front().bound, contents.bound_worst);
  EXPECT_EQ(contents.rows.front().input, contents.worst_input);
  EXPECT_LE(contents.bands.front().size(), 1000U);
  const std::string html = write_page(certify_page(contents));
  EXPECT_NE(html.find("the 1,000 worst of 2,500"), std::string::npos);
}

TEST(CertifyPage, MissingAndInfiniteNumbers) {
  for (const double bound : {kNan, kInfinity, 0.0, 1e300, 5e-324}) {
    CertifyContents contents = certified({1, 3, 1}, 4, false, {}, false, "net");
    contents.bound_sum = contents.bound_worst = contents.relative_sum = bound;
    contents.without_bound = std::isfinite(bound) ? 0 : 4;
    contents.methods = {"cross"};
    for (InputRow& row : contents.rows)
      row.bound = row.relative = row.lower = row.upper = row.mean.front() = bound;
    for (LayerTerms& layer : contents.layers) layer.local = layer.compression = bound;
    for (BandPoint& point : contents.bands.front()) point.mean = point.outer = bound;
    contents.statistics = TwoSidedStatistics{};
    contents.lower_sum = contents.upper_sum = bound;
    const HtmlReading reading = HtmlReader(write_page(certify_page(contents))).read();
    ASSERT_EQ(reading.error, "");
    for (const char* word : {"nan", "inf ", "NaN"})
      EXPECT_EQ(reading.text.find(word), std::string::npos) << word;
    for (std::size_t i = 0; i + 1 < reading.scripts.size(); ++i)
      EXPECT_TRUE(nlohmann::json::accept(reading.scripts[i]));
    if (!std::isfinite(bound)) {
      EXPECT_NE(reading.text.find("no formal bound"), std::string::npos);
    }
  }
}

TEST(CertifyPage, WarnsInWords) {
  CertifyContents contents = certified({1, 3, 1}, 4, false, {}, false, "net");
  contents.above_scale = 2;
  contents.epsilon = 0.5;
  contents.epsilon_missed = 3;
  contents.missed_reason = "too few components";
  contents.estimated = 4;
  contents.upper_sum = contents.bound_sum / 25.5;
  const Page page = certify_page(contents);
  ASSERT_EQ(page.warnings.size(), 3U);
  EXPECT_NE(page.warnings[0].find("At 2 of 4 inputs the bound exceeds the size of the output"),
            std::string::npos);
  EXPECT_NE(page.warnings[1].find("was missed at 3 of 4 inputs: too few components"), std::string::npos);
  EXPECT_NE(page.warnings[2].find("at least 25 times"), std::string::npos) << page.warnings[2];
  EXPECT_TRUE(certify_page(certified({1, 3, 1}, 4, false, {}, false, "net")).warnings.empty());
}

TEST(CertifyPage, ShowsTheNearestGaussianAsProven) {
  CertifyContents contents = certified({1, 3, 1}, 4, false, {}, false, "net");
  const auto text_of = [](const CertifyContents& c) {
    return HtmlReader(write_page(certify_page(c))).read().text;
  };
  EXPECT_EQ(text_of(contents).find("any Gaussian"), std::string::npos);
  contents.with_lower = 4;
  contents.gaussian_lower_sum = 0.5;
  for (InputRow& row : contents.rows) row.gaussian_lower = 0.125;
  const std::string text = text_of(contents);
  EXPECT_NE(text.find("The nearest Gaussian, on average"), std::string::npos);
  EXPECT_NE(text.find("any Gaussian \u2265"), std::string::npos);
  EXPECT_EQ(text.find("W2 \u2265 est."), std::string::npos);
}

TEST(TunePage, ShowsDistancesAndPictures) {
  TuneContents contents;
  contents.run = facts_of("<b>");
  contents.target = "<i>";
  contents.prior_file = "a/<script>";
  contents.history = {{1, 2.0, 1.0, 0.5, 1.0}, {2, 1.0, kInfinity, kNan, 1.0}};
  contents.comparison.target_scale = 2.0;
  contents.comparison.certificates = {{Method::Moment, 1.0, 2.0, 3.0, 1.0, ""},
                                      {Method::Signature, kNan, kNan, kNan, kNan, "<u>"}};
  contents.comparison.w2_certified = 3.0;
  contents.picture = {2,          {1.0, 0.5, 0.5, 1.0}, {1.0, kNan, 0.0, 1.0}, 100,
                      {0.0, 1.0}, {{0.0, 1.0}},         {{1.0, 0.0}}};
  const HtmlReading reading = HtmlReader(write_page(tune_page(contents))).read();
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.count("figure"), 5U);
  EXPECT_NE(reading.text.find("\u2264 150 %"), std::string::npos);
  EXPECT_NE(reading.text.find("exceeds the size of the target"), std::string::npos);
}

TEST(AnswerPage, ShowsIntervalsWidestFirst) {
  AnswerContents contents;
  contents.run = facts_of("net");
  contents.result_file = "dir/r.npz";
  contents.inputs = 2;
  AnswerGroup group{"Means",
                    "explained",
                    {{0, "narrow<", {0.0, -1.0, 1.0}}, {1, "wide", {0.0, -kInfinity, kInfinity}}},
                    0.0,
                    0.0};
  contents.groups = {group, {"None", "", {}, 0.0, 0.0}};
  AnswerRow row{0, "class 1", {0.7, 0.6, 0.8}, "settled", "", {{0.3, 0.2, 0.4}, {0.7, 0.6, 0.8}}};
  contents.groups.push_back({"Classes", "", {row}, 0.0, 1.0});
  const HtmlReading reading = HtmlReader(write_page(answer_page(contents))).read();
  EXPECT_EQ(reading.error, "");
  EXPECT_EQ(reading.count("figure"), 2U);
  const std::size_t table = reading.text.find("at least");
  EXPECT_LT(reading.text.find("wide", table), reading.text.find("narrow<", table));
  EXPECT_NE(reading.text.find("settled"), std::string::npos);
}

/// Chunks of the file and their lengths, read by hand.
TEST(PngImage, HasTheChunksOfAPng) {
  const Vector values = Vector::LinSpaced(12, 0.0, 1.0);
  const std::string png = png_image(values, LayerShape{3, {2, 2}, true}, 0.0, 1.0);
  EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(png.substr(12, 4), "IHDR");
  EXPECT_EQ(png.substr(16, 13), std::string("\0\0\0\2\0\0\0\2\x08\2\0\0\0", 13));
  // The checksum of an empty last chunk is known.
  EXPECT_EQ(png.substr(png.size() - 12), std::string("\0\0\0\0IEND\xAE\x42\x60\x82", 12));
  EXPECT_THROW(png_image(values, LayerShape{2, {2, 3}, true}, 0.0, 1.0), std::exception);
  EXPECT_FALSE(png_image(Vector::Constant(4, kNan), LayerShape{1, {2, 2}, true}, 0.0, 0.0).empty());
}

}  // namespace html_report_test
}  // namespace mixcert::page

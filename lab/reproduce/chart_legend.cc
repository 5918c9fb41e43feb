// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One legend of Vega over scales with the same names as their domain.
#include "reproduce/chart_legend.h"

#include <algorithm>
#include <array>

#include "report/pages/html_text.h"

namespace mixcert::lab {
namespace {

/// Pixels that a legend may take, also on narrow screens, and that one of its entries takes.
constexpr double kRoom = 300.0;
constexpr double kEntry = 40.0;
constexpr double kLetter = 5.7;

}  // namespace

std::string_view colour_signal(Colour colour) {
  static constexpr std::array<std::string_view, 8> kSignals = {"ink",    "grey",     "bound", "sky",
                                                               "purple", "estimate", "amber", "green"};
  return kSignals[static_cast<std::size_t>(colour)];
}

Json colour_of(Colour colour) { return {{"signal", std::string(colour_signal(colour))}}; }

Json dashes_of(Dash dash) {
  static constexpr std::array<std::array<int, 4>, 4> kLengths = {
      {{1, 0, 1, 0}, {7, 4, 7, 4}, {8, 3, 2, 3}, {2, 3, 2, 3}}};
  return kLengths[static_cast<std::size_t>(dash)];
}

std::string chart_label(const std::string& text) { return page::printable(text, 60); }

void ChartLegend::add(const std::string& name, Colour colour, Dash dash, Swatch swatch) {
  // All paths have the size of a line, so that rows are equally high.
  static constexpr std::array<const char*, 3> kPaths = {"M-1,0L1,0", "M-1,-0.5H1V0.5H-1Z",
                                                        "M-0.4,0A0.4,0.4,0,1,1,0.4,0A0.4,0.4,0,1,1,-0.4,0Z"};
  const Json shown = chart_label(name);
  if (name.empty() || std::find(names_.begin(), names_.end(), shown) != names_.end()) return;
  names_.push_back(shown);
  colours_.push_back(colour_of(colour));
  dashes_.push_back(dashes_of(dash));
  paths_.push_back(kPaths[static_cast<std::size_t>(swatch)]);
  opacities_.push_back(swatch == Swatch::Band ? kBandOpacity : 1.0);
}

void ChartLegend::write(Json& scales, Json& legends) const {
  if (names_.empty()) return;
  std::size_t longest = 0;
  for (const Json& name : names_) longest = std::max(longest, name.get_ref<const std::string&>().size());
  const double entry = kEntry + kLetter * static_cast<double>(longest);
  const auto scale = [&](const char* name, const Json& range) {
    scales.push_back({{"name", name}, {"type", "ordinal"}, {"domain", names_}, {"range", range}});
  };
  scale("legend_colour", colours_);
  scale("legend_dash", dashes_);
  scale("legend_shape", paths_);
  scale("legend_opacity", opacities_);
  // The number of columns is fixed: one that follows the width would come after Vega has laid out the legend,
  // whose upper rows would then be cut off.
  legends.push_back({{"stroke", "legend_colour"},
                     {"fill", "legend_colour"},
                     {"strokeDash", "legend_dash"},
                     {"shape", "legend_shape"},
                     {"opacity", "legend_opacity"},
                     {"orient", "top"},
                     {"direction", "horizontal"},
                     {"columns", std::max(1, static_cast<int>(kRoom / entry))},
                     {"columnPadding", 12},
                     {"labelLimit", 0},
                     {"symbolSize", 480},
                     {"symbolStrokeWidth", 2}});
}

}  // namespace mixcert::lab

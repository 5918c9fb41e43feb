// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The legend of a plot's chart, and how its series look: colours by the themes' signals, dashes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reproduce/plot.h"

namespace mixcert::lab {

using Json = nlohmann::ordered_json;

inline constexpr double kBandOpacity = 0.28;

/// A reference to the signal of the themes.
Json colour_of(Colour colour);
/// Lengths of strokes and gaps.
Json dashes_of(Dash dash);
/// Labels are drawn as text; what is drawn must be readable too.
std::string chart_label(const std::string& text);

/// What stands for a series in the legend.
enum class Swatch { Line, Band, Dot };

class ChartLegend {
 public:
  /// The first series of a name; those without one have no entry.
  void add(const std::string& name, Colour colour, Dash dash, Swatch swatch);
  /// The legend above the frame and its scales, where there is an entry.
  void write(Json& scales, Json& legends) const;

 private:
  /// An element for every entry.
  Json names_ = Json::array(), colours_ = Json::array(), dashes_ = Json::array(), paths_ = Json::array(),
       opacities_ = Json::array();
};

}  // namespace mixcert::lab

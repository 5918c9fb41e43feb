// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A picture with two axes as plain data (lines, bands, dots with whiskers, outlines and heat maps, with a
// legend) and its chart: a Vega specification in the themes of the reports (src/report/page/light.json,
// dark.json).
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::lab {

/// Proven and exact numbers are blue, sky or purple, estimates orange, amber or green: a bound and an
/// estimate never have the same colour. Ink and grey are for what others are held against: floors, rates,
/// printed figures. Kinds of lines differ in their dashes too.
enum class Colour { Ink, Grey, Blue, Sky, Purple, Orange, Amber, Green };
enum class Dash { Solid, Dashed, DashDotted, Dotted };

struct PlotAxis {
  std::string label;
  bool logarithmic = false;
  double low = std::numeric_limits<double>::quiet_NaN();   ///< NaN: from the data
  double high = std::numeric_limits<double>::quiet_NaN();  ///< NaN: from the data
  /// Names at 0, 1, ..; empty: numbers.
  std::vector<std::string> names = {};
  bool turned = false;  ///< names of x stand aslant, for long ones
};

struct PlotLine {
  std::string name;  ///< in the legend; "": not there
  std::vector<double> x, y;
  Colour colour = Colour::Ink;
  Dash dash = Dash::Solid;
  bool markers = false;
  double width = 1.8;
};

struct PlotBand {
  std::string name;
  std::vector<double> x, low, high;
  Colour colour = Colour::Grey;
};

/// Points, each with a vertical whisker where `low` and `high` are given.
struct PlotDots {
  std::string name;
  std::vector<double> x, y;
  Colour colour = Colour::Ink;
  std::vector<double> low = {}, high = {};
  double radius = 3.0;
};

/// Cells of equal size that fill the plot, row 0 at the top; colours end at +-limit, positive ones are blue.
struct PlotHeat {
  Matrix values;
  double limit = 1.0;
};

/// Bands, heat map, lines and dots are drawn in this order, within the frame.
struct Plot {
  std::string name;     ///< of the file
  std::string title;    ///< above the picture
  std::string caption;  ///< what is seen, below it
  PlotAxis x, y;
  std::vector<PlotBand> bands;
  std::vector<PlotLine> lines;
  std::vector<PlotDots> dots;
  std::vector<PlotHeat> heat;  ///< none or one; its frame is a square
  bool equal_units = false;    ///< a unit of x is as long as one of y
  bool wide = false;           ///< takes a row of the page
  double height = 240.0;       ///< of the frame, in pixels; its width is that of the page's column
};

/// A complete Vega specification (JSON text).
std::string plot_chart(const Plot& plot);

/// The signal by which both themes name the colour.
std::string_view colour_signal(Colour colour);

}  // namespace mixcert::lab

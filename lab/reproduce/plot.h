// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A picture with two axes as plain data, and its drawing as one SVG file: lines, bands, dots with whiskers,
// outlines and heat maps, with a legend. Colours are those of Okabe and Ito, which colour-blind readers tell
// apart; kinds of lines differ in their dashes too. A file is light or dark as its reader prefers.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mixcert/core/types.h"

namespace mixcert::lab {

/// Certified numbers are blue, estimates orange, as everywhere in reports.
enum class Colour { Ink, Grey, Blue, Orange, Green, Purple, Sky, Vermilion };
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
  Colour colour = Colour::Sky;
};

/// Points, each with a vertical whisker where `low` and `high` are given.
struct PlotDots {
  std::string name;
  std::vector<double> x, y;
  Colour colour = Colour::Ink;
  std::vector<double> low = {}, high = {};
  double radius = 3.0;
};

/// Cells of equal size that fill the plot, row 0 at the top; white at zero, colours end at +-limit.
struct PlotHeat {
  Matrix values;
  double limit = 1.0;
};

struct Plot {
  std::string name;     ///< of the file
  std::string title;    ///< above the picture
  std::string caption;  ///< what is seen, below it
  PlotAxis x, y;
  std::vector<PlotBand> bands;
  std::vector<PlotLine> lines;
  std::vector<PlotDots> dots;
  std::vector<PlotHeat> heat;  ///< none or one
  bool equal_units = false;    ///< a unit of x is as long as one of y
  double width = 460.0;
  double height = 330.0;
};

/// The SVG file.
std::string draw_plot(const Plot& plot);

/// The CSS of a drawing: palette and fonts, light and dark.
const std::string& plot_style();
/// "c-blue".
std::string colour_class(Colour colour);
/// "rgb(r,g,b)" for a share of the limit in [-1, 1]: blue, white, vermilion.
std::string heat_colour(double share);

}  // namespace mixcert::lab

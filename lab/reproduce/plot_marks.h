// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The marks inside of a plot's frame: bands, heat maps, lines and dots.
#pragma once

#include "reproduce/axis_scale.h"
#include "reproduce/plot.h"
#include "reproduce/svg_writer.h"

namespace mixcert::lab {

/// The frame's inside, with its own origin at the upper left corner.
struct PlotArea {
  const AxisScale& x;
  const AxisScale& y;
  double width = 0.0;
  double height = 0.0;

  [[nodiscard]] double px(double value) const { return width * x.place(value); }
  [[nodiscard]] double py(double value) const { return height * (1.0 - y.place(value)); }
  [[nodiscard]] bool shows(double at_x, double at_y) const { return x.shows(at_x) && y.shows(at_y); }
};

/// Of stroke-dasharray.
const char* dash_pattern(Dash dash);

void draw_band(const PlotArea& area, const PlotBand& band, SvgWriter& svg);
void draw_heat(const PlotArea& area, const PlotHeat& heat, SvgWriter& svg);
/// One path; it begins anew behind what cannot be shown.
void draw_line(const PlotArea& area, const PlotLine& line, SvgWriter& svg);
void draw_dots(const PlotArea& area, const PlotDots& dots, SvgWriter& svg);

}  // namespace mixcert::lab

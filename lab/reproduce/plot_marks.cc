// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Marks as SVG elements.
#include "reproduce/plot_marks.h"

namespace mixcert::lab {

const char* dash_pattern(Dash dash) {
  switch (dash) {
    case Dash::Dashed:
      return "7 4";
    case Dash::DashDotted:
      return "8 3 2 3";
    case Dash::Dotted:
      return "2 3";
    case Dash::Solid:
      break;
  }
  return "none";
}

void draw_band(const PlotArea& area, const PlotBand& band, SvgWriter& svg) {
  std::string upper;
  std::string lower;
  for (std::size_t i = 0; i < band.x.size(); ++i) {
    if (!area.shows(band.x[i], band.low[i]) || !area.shows(band.x[i], band.high[i])) continue;
    const std::string x = svg_number(area.px(band.x[i]));
    upper += x + "," + svg_number(area.py(band.high[i])) + " ";
    lower = x + "," + svg_number(area.py(band.low[i])) + " " + lower;
  }
  svg.element("polygon", {{"class", "band " + colour_class(band.colour)}, {"points", upper + lower}});
}

void draw_heat(const PlotArea& area, const PlotHeat& heat, SvgWriter& svg) {
  const double width = area.width / static_cast<double>(heat.values.cols());
  const double height = area.height / static_cast<double>(heat.values.rows());
  svg.open("g", {{"shape-rendering", "crispEdges"}});
  for (Index r = 0; r < heat.values.rows(); ++r) {
    for (Index c = 0; c < heat.values.cols(); ++c) {
      svg.element("rect", {{"x", static_cast<double>(c) * width},
                           {"y", static_cast<double>(r) * height},
                           {"width", width},
                           {"height", height},
                           {"fill", heat_colour(heat.values(r, c) / heat.limit)}});
    }
  }
  svg.close();
}

void draw_line(const PlotArea& area, const PlotLine& line, SvgWriter& svg) {
  std::string path;
  bool begun = false;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!area.shows(line.x[i], line.y[i])) {
      begun = false;
      continue;
    }
    path += (begun ? "L" : "M") + svg_number(area.px(line.x[i])) + " " + svg_number(area.py(line.y[i]));
    begun = true;
  }
  if (path.empty()) return;
  svg.open("g", {{"class", colour_class(line.colour)}});
  svg.element("path", {{"class", "line"},
                       {"stroke-width", line.width},
                       {"stroke-dasharray", dash_pattern(line.dash)},
                       {"d", path}});
  for (std::size_t i = 0; line.markers && i < line.x.size(); ++i) {
    if (!area.shows(line.x[i], line.y[i])) continue;
    svg.element("circle",
                {{"class", "fill"}, {"cx", area.px(line.x[i])}, {"cy", area.py(line.y[i])}, {"r", 2.6}});
  }
  svg.close();
}

void draw_dots(const PlotArea& area, const PlotDots& dots, SvgWriter& svg) {
  svg.open("g", {{"class", colour_class(dots.colour)}});
  for (std::size_t i = 0; i < dots.x.size(); ++i) {
    if (i < dots.low.size() && area.shows(dots.x[i], dots.low[i]) && area.shows(dots.x[i], dots.high[i])) {
      svg.element("line", {{"class", "line"},
                           {"stroke-width", 1.5},
                           {"x1", area.px(dots.x[i])},
                           {"x2", area.px(dots.x[i])},
                           {"y1", area.py(dots.low[i])},
                           {"y2", area.py(dots.high[i])}});
    }
    if (!area.shows(dots.x[i], dots.y[i])) continue;
    svg.element(
        "circle",
        {{"class", "fill"}, {"cx", area.px(dots.x[i])}, {"cy", area.py(dots.y[i])}, {"r", dots.radius}});
  }
  svg.close();
}

}  // namespace mixcert::lab

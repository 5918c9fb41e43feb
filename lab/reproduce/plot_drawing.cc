// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From a plot to SVG: title, legend, frame with ticks, then bands, heat map, lines and dots in this order.
// Nothing is drawn outside of the frame.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mixcert/core/error.h"
#include "reproduce/plot_marks.h"

namespace mixcert::lab {
namespace {

constexpr double kLeft = 62.0;
constexpr double kRight = 14.0;
constexpr double kBottom = 46.0;
constexpr double kTurnedBottom = 96.0;
constexpr double kLegendRow = 17.0;
/// Mean width of a letter of 11 pixels.
constexpr double kLetter = 6.1;

struct LegendItem {
  std::string name;
  Colour colour;
  Dash dash;
  enum class Mark { Line, Band, Dot } mark;
};

void collect(std::vector<double>& into, const std::vector<double>& values) {
  into.insert(into.end(), values.begin(), values.end());
}

/// Letters of UTF-8 text, not its bytes.
double text_width(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return kLetter * static_cast<double>(letters);
}

class PlotDrawing {
 public:
  explicit PlotDrawing(const Plot& plot)
      : plot_(plot),
        items_(legend_items()),
        legend_(place_legend()),
        top_(30.0 + kLegendRow * static_cast<double>(legend_rows_) + (items_.empty() ? 0.0 : 6.0)),
        x_(x_values(), plot.x.logarithmic, plot.x.low, plot.x.high),
        y_(y_values(), plot.y.logarithmic, plot.y.low, plot.y.high),
        svg_(plot.width, plot.height, plot_style(), plot.title) {
    fit_units();
  }

  std::string draw() {
    svg_.element("rect", {{"class", "paper"}, {"width", plot_.width}, {"height", plot_.height}});
    svg_.text(10.0, 20.0, plot_.title, {{"class", "title"}});
    draw_legend();
    draw_axes();
    svg_.open("svg", {{"x", left_}, {"y", top_}, {"width", inner_width_}, {"height", inner_height_}});
    const PlotArea area{x_, y_, inner_width_, inner_height_};
    for (const PlotBand& band : plot_.bands) draw_band(area, band, svg_);
    for (const PlotHeat& heat : plot_.heat) draw_heat(area, heat, svg_);
    for (const PlotLine& line : plot_.lines) draw_line(area, line, svg_);
    for (const PlotDots& dots : plot_.dots) draw_dots(area, dots, svg_);
    svg_.close();
    svg_.element(
        "rect",
        {{"class", "frame"}, {"x", left_}, {"y", top_}, {"width", inner_width_}, {"height", inner_height_}});
    return svg_.take();
  }

 private:
  [[nodiscard]] std::vector<LegendItem> legend_items() const {
    std::vector<LegendItem> items;
    const auto add = [&items](const LegendItem& item) {
      const bool known = std::any_of(items.begin(), items.end(),
                                     [&item](const LegendItem& other) { return other.name == item.name; });
      if (!item.name.empty() && !known) items.push_back(item);
    };
    for (const PlotBand& b : plot_.bands) add({b.name, b.colour, Dash::Solid, LegendItem::Mark::Band});
    for (const PlotLine& l : plot_.lines) add({l.name, l.colour, l.dash, LegendItem::Mark::Line});
    for (const PlotDots& d : plot_.dots) add({d.name, d.colour, Dash::Solid, LegendItem::Mark::Dot});
    return items;
  }

  /// Left ends and rows of the entries; counts the rows.
  std::vector<std::pair<double, int>> place_legend() {
    std::vector<std::pair<double, int>> places;
    double x = 10.0;
    for (const LegendItem& item : items_) {
      const double width = 32.0 + text_width(item.name);
      if (x > 10.0 && x + width > plot_.width) {
        x = 10.0;
        ++legend_rows_;
      }
      if (legend_rows_ == 0) legend_rows_ = 1;
      places.emplace_back(x, legend_rows_ - 1);
      x += width + 10.0;
    }
    return places;
  }

  [[nodiscard]] std::vector<double> x_values() const {
    std::vector<double> values;
    for (const PlotBand& band : plot_.bands) collect(values, band.x);
    for (const PlotLine& line : plot_.lines) collect(values, line.x);
    for (const PlotDots& dots : plot_.dots) collect(values, dots.x);
    if (!plot_.x.names.empty()) values = {-0.5, static_cast<double>(plot_.x.names.size()) - 0.5};
    return values;
  }

  [[nodiscard]] std::vector<double> y_values() const {
    std::vector<double> values;
    for (const PlotBand& band : plot_.bands) {
      collect(values, band.low);
      collect(values, band.high);
    }
    for (const PlotLine& line : plot_.lines) collect(values, line.y);
    for (const PlotDots& dots : plot_.dots) {
      collect(values, dots.y);
      collect(values, dots.low);
      collect(values, dots.high);
    }
    return values;
  }

  /// The frame; narrower or lower where a unit of x must be as long as one of y.
  void fit_units() {
    inner_width_ = plot_.width - kLeft - kRight;
    inner_height_ = plot_.height - top_ - (plot_.x.turned ? kTurnedBottom : kBottom);
    if (plot_.equal_units) {
      const double scale =
          std::min(inner_width_ / (x_.high() - x_.low()), inner_height_ / (y_.high() - y_.low()));
      inner_width_ = scale * (x_.high() - x_.low());
      inner_height_ = scale * (y_.high() - y_.low());
    }
    left_ = kLeft + 0.5 * (plot_.width - kLeft - kRight - inner_width_);
  }

  [[nodiscard]] double px(double x) const { return inner_width_ * x_.place(x); }
  [[nodiscard]] double py(double y) const { return inner_height_ * (1.0 - y_.place(y)); }

  void draw_legend() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const LegendItem& item = items_[i];
      const auto [x, row] = legend_[i];
      const double y = 38.0 + kLegendRow * row;
      svg_.open("g", {{"class", colour_class(item.colour)}});
      if (item.mark == LegendItem::Mark::Line) {
        svg_.element("line", {{"class", "line"},
                              {"x1", x},
                              {"x2", x + 24.0},
                              {"y1", y - 4.0},
                              {"y2", y - 4.0},
                              {"stroke-width", 1.8},
                              {"stroke-dasharray", dash_pattern(item.dash)}});
      } else if (item.mark == LegendItem::Mark::Band) {
        svg_.element("rect",
                     {{"class", "band"}, {"x", x}, {"y", y - 9.0}, {"width", 24.0}, {"height", 10.0}});
      } else {
        svg_.element("circle", {{"class", "fill"}, {"cx", x + 12.0}, {"cy", y - 4.0}, {"r", 3.5}});
      }
      svg_.close();
      svg_.text(x + 29.0, y, item.name, {{"class", "small"}});
    }
  }

  void draw_axes() {
    const double bottom = top_ + inner_height_;
    for (const Tick& tick : axis_ticks(plot_.x, x_)) {
      const double x = left_ + px(tick.value);
      if (!tick.label.empty() && plot_.heat.empty()) grid_line(x, top_, x, bottom);
      svg_.element("line", {{"class", "tick"},
                            {"x1", x},
                            {"x2", x},
                            {"y1", bottom},
                            {"y2", bottom + (tick.label.empty() ? 3.0 : 5.0)}});
      x_label(x, bottom, tick.label);
    }
    for (const Tick& tick : axis_ticks(plot_.y, y_)) {
      const double y = top_ + py(tick.value);
      if (!tick.label.empty() && plot_.heat.empty()) grid_line(left_, y, left_ + inner_width_, y);
      svg_.element("line", {{"class", "tick"},
                            {"x1", left_ - (tick.label.empty() ? 3.0 : 5.0)},
                            {"x2", left_},
                            {"y1", y},
                            {"y2", y}});
      svg_.text(left_ - 8.0, y + 4.0, tick.label, {{"class", "small"}, {"text-anchor", "end"}});
    }
    svg_.text(left_ + 0.5 * inner_width_, bottom + 36.0, plot_.x.label, {{"text-anchor", "middle"}});
    const double middle = top_ + 0.5 * inner_height_;
    svg_.text(
        left_ - 48.0, middle, plot_.y.label,
        {{"text-anchor", "middle"},
         {"transform", fmt::format("rotate(-90 {} {})", svg_number(left_ - 48.0), svg_number(middle))}});
  }

  static std::vector<Tick> axis_ticks(const PlotAxis& axis, const AxisScale& scale) {
    if (axis.names.empty()) return scale.ticks();
    std::vector<Tick> ticks;
    for (std::size_t i = 0; i < axis.names.size(); ++i)
      ticks.push_back({static_cast<double>(i), axis.names[i]});
    return ticks;
  }

  void x_label(double x, double bottom, const std::string& label) {
    if (!plot_.x.turned) {
      svg_.text(x, bottom + 17.0, label, {{"class", "small"}, {"text-anchor", "middle"}});
      return;
    }
    const std::string turn = fmt::format("rotate(-40 {} {})", svg_number(x + 4.0), svg_number(bottom + 14.0));
    svg_.text(x + 4.0, bottom + 14.0, label,
              {{"class", "small"}, {"text-anchor", "end"}, {"transform", turn}});
  }

  void grid_line(double x1, double y1, double x2, double y2) {
    svg_.element("line", {{"class", "rule"}, {"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}});
  }

  const Plot& plot_;
  int legend_rows_ = 0;
  std::vector<LegendItem> items_;
  std::vector<std::pair<double, int>> legend_;
  double top_;
  AxisScale x_;
  AxisScale y_;
  SvgWriter svg_;
  double left_ = kLeft;
  double inner_width_ = 0.0;
  double inner_height_ = 0.0;
};

}  // namespace

std::string draw_plot(const Plot& plot) {
  for (const PlotLine& line : plot.lines) {
    require(line.x.size() == line.y.size(), "plot " + plot.name + ": a line has unequal coordinates");
  }
  for (const PlotBand& band : plot.bands) {
    require(band.x.size() == band.low.size() && band.x.size() == band.high.size(),
            "plot " + plot.name + ": a band has unequal coordinates");
  }
  for (const PlotDots& dots : plot.dots) {
    require(dots.x.size() == dots.y.size() && dots.low.size() == dots.high.size(),
            "plot " + plot.name + ": dots have unequal coordinates");
  }
  return PlotDrawing(plot).draw();
}

}  // namespace mixcert::lab

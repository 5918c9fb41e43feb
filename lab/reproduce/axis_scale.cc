// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Ends and ticks of axes.
#include "reproduce/axis_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mixcert/core/error.h"

namespace mixcert::lab {
namespace {

constexpr double kMargin = 0.04;
constexpr int kMostTicks = 6;

}  // namespace

AxisScale::AxisScale(const std::vector<double>& values, bool logarithmic, double low, double high)
    : logarithmic_(logarithmic) {
  require(!logarithmic || !(low <= 0.0 || high <= 0.0),
          "a logarithmic axis: expected positive ends, got others");
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double value : values) {
    if (!shows(value)) continue;
    least = std::min(least, logarithmic ? std::log10(value) : value);
    most = std::max(most, logarithmic ? std::log10(value) : value);
  }
  if (least > most) least = most = 0.0;
  const double pad = most > least ? kMargin * (most - least) : 0.5;
  const auto back = [logarithmic](double x) { return logarithmic ? std::pow(10.0, x) : x; };
  low_ = std::isnan(low) ? back(least - pad) : low;
  high_ = std::isnan(high) ? back(most + pad) : high;
  require(low_ < high_, "an axis: expected its lower end below its upper one, got others");
}

bool AxisScale::shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0.0); }

double AxisScale::place(double value) const {
  if (logarithmic_) return std::log10(value / low_) / std::log10(high_ / low_);
  return (value - low_) / (high_ - low_);
}

std::vector<Tick> AxisScale::ticks() const {
  return logarithmic_ && std::log10(high_ / low_) > 1.0 ? logarithmic_ticks() : linear_ticks();
}

std::vector<Tick> AxisScale::linear_ticks() const {
  const double rough = (high_ - low_) / kMostTicks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= rough * (1.0 - 1e-9)) break;
  }
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  std::vector<Tick> ticks;
  const auto first = static_cast<long long>(std::ceil(low_ / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(high_ / step + 1e-9));
  for (long long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    if (!shows(value)) continue;
    ticks.push_back({value, decimals > 4 || std::abs(value) >= 1e6
                                ? fmt::format("{:.3g}", value)
                                : fmt::format("{:.{}f}", value, decimals)});
  }
  return ticks;
}

std::vector<Tick> AxisScale::logarithmic_ticks() const {
  const int first = static_cast<int>(std::floor(std::log10(low_) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high_) - 1e-9));
  const int every =
      std::max(1, static_cast<int>(std::ceil((last - first) / static_cast<double>(kMostTicks))));
  // Within two decades powers of ten alone may be a single label.
  const bool is_short = std::log10(high_ / low_) < 2.0;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int digit = 1; digit <= (every == 1 ? 9 : 1); ++digit) {
      const double value = digit * std::pow(10.0, exponent);
      if (value < low_ * (1.0 - 1e-9) || value > high_ * (1.0 + 1e-9)) continue;
      const bool labelled = digit == 1 && exponent % every == 0;
      const bool between = is_short && (digit == 2 || digit == 5);
      ticks.push_back({value, labelled ? power_label(exponent) : between ? fmt::format("{:g}", value) : ""});
    }
  }
  return ticks;
}

std::string power_label(int exponent) {
  if (exponent >= 0 && exponent <= 3) return fmt::format("{:.0f}", std::pow(10.0, exponent));
  if (exponent < 0 && exponent >= -3) return fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent);
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string label = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) label += kDigits[digit - '0'];
  return label;
}

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Charts as complete Vega specifications (JSON text): the templates of src/report/charts with data in them.
// They name colours by signals, which a theme (src/report/page/light.json, dark.json) gives as Vega's
// configuration.
#pragma once

#include <string>
#include <vector>

#include "mixcert/answer/certified_law.h"

namespace mixcert::page {

/// Six digits: more than a chart can show.
double chart_number(double value);

/// Stacked bars: what each layer adds to the bound.
struct LayerTerms {
  std::string layer;
  double compression = 0.0;
  double local = 0.0;
};
std::string layers_chart(const std::vector<LayerTerms>& layers);

/// A mean, what the mixture says about it, and what is guaranteed; `x` must not fall.
struct BandPoint {
  double x = 0.0;
  double mean = 0.0;
  double inner = 0.0;  ///< half width of the inner band
  double outer = 0.0;  ///< half width of the outer band
};
std::string bands_chart(const std::vector<BandPoint>& points, const std::string& x_title,
                        const std::string& y_title);

/// Certified bounds by rank with brackets of estimates; NaN: no such number.
struct RankedBound {
  long long input = 0;
  double bound = 0.0;
  double lower = 0.0;
  double upper = 0.0;
};
std::string bounds_chart(const std::vector<RankedBound>& worst_first);

/// Curves over steps, on a logarithmic axis; values that are not positive are left out.
struct Curve {
  std::string name;
  std::vector<double> values;  ///< at step 1, 2, ..
};
std::string curves_chart(const std::vector<Curve>& curves, const std::string& y_title);

/// Columns of equally high cells, each with a value in [0, 1].
struct DensityColumn {
  double low = 0.0;
  double high = 0.0;
  std::vector<double> values;  ///< from y_low upwards, as many in all columns
};
std::string density_chart(const std::vector<DensityColumn>& columns, double y_low, double y_high,
                          const std::string& x_title, const std::string& y_title);

/// What is known of a law at x, and what a mixture and a Gaussian say instead.
struct LawPoint {
  double x = 0.0;
  double low = 0.0, high = 0.0;
  double mixture = 0.0, gaussian = 0.0;
};
/// `is_proven`: the law lies between low and high for certain; otherwise they are an area to look at.
std::string law_chart(const std::vector<LawPoint>& points, bool is_proven, const std::string& x_title,
                      const std::string& y_title);

/// Functions drawn at random, each with its values at `x`; the axis ends at +-`limit`.
std::string functions_chart(const std::vector<double>& x, const std::vector<std::vector<double>>& functions,
                            double limit);

/// A square of numbers (row-major, side * side), white at zero; colours end at +-`limit`.
std::string heatmap_chart(const std::vector<double>& values, int side, double limit,
                          const std::string& axis_title);

/// Intervals with the mixture's value.
struct NamedInterval {
  std::string name;
  Interval interval;
  bool chosen = false;  ///< drawn strongly
};
std::string intervals_chart(const std::vector<NamedInterval>& answers, double x_low, double x_high,
                            const std::string& x_title);

/// What is proven of a number, beside Monte Carlo's estimate of it.
struct ComparedNumber {
  std::string name;
  Interval certified;  ///< with the mixture's value
  double drawn = 0.0;  ///< Monte Carlo's estimate
  double error = 0.0;  ///< its standard error
};
/// Proven ranges as bars, estimates as points with two standard errors, in colours of their own.
std::string comparison_chart(const std::vector<ComparedNumber>& rows, double x_low, double x_high,
                             const std::string& x_title);

}  // namespace mixcert::page

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The computed law of one output in the report of `mixcert certify`: its density beside those of the mixture
// and of a Gaussian, and how far their distribution functions are from it, with the error that is proven.
#include <fmt/format.h>

#include <cmath>

#include "core/normal.h"
#include "report/pages/command_pages.h"

namespace mixcert::page {
namespace {

using Mark = LegendEntry::Mark;

// Deviations shown on either side, and points.
constexpr double kShownDeviations = 4.0;
constexpr int kPoints = 240;

/// What is drawn at each place.
template <class Point>
std::vector<LawPoint> points_of(const LawPicture& law, const Point& point) {
  const double mean = law.mixture.mean(), deviation = law.mixture.deviation();
  std::vector<LawPoint> points;
  for (int i = 0; i <= kPoints; ++i) {
    const double place = kShownDeviations * (2.0 * i / kPoints - 1.0);
    points.push_back(point(mean + deviation * place, place));
  }
  return points;
}

Figure density_figure(const LawPicture& law) {
  const double deviation = law.mixture.deviation();
  Figure figure;
  figure.title = fmt::format("Density of the output at input {}", law.input);
  figure.caption =
      "The network\u2019s own law, computed, with the mixture and the Gaussian of the same mean and "
      "deviation.";
  figure.alternative =
      "Densities of the computed law, of the mixture and of a Gaussian over four deviations.";
  figure.legend = {
      {Mark::MixtureSoft, "computed law"}, {Mark::Mixture, "mixture"}, {Mark::Gaussian, "Gaussian"}};
  figure.spec = law_chart(points_of(law,
                                    [&](double x, double place) -> LawPoint {
                                      return {x, 0.0, law.distribution->slope(x), law.mixture.density(x),
                                              normal_density(place) / deviation};
                                    }),
                          false, "output", "density");
  return figure;
}

/// Differences of distribution functions to the computed one, whose own error is the band.
Figure difference_figure(const LawPicture& law) {
  const CertifiedLine line(law.mixture, law.bound, law.bound, law.distribution, 1.0);
  Figure figure;
  figure.title =
      fmt::format("Probabilities P(y \u2264 x), less those of the computed law, at input {}", law.input);
  figure.caption =
      "The network\u2019s own probabilities are proven to lie within the band. Where it is too narrow to be "
      "seen "
      "they are known that well.";
  figure.alternative =
      "Differences of the distribution functions of the mixture and of a Gaussian to the computed one.";
  figure.legend = {{Mark::BoundSoft, "proven: the network is in it"},
                   {Mark::Mixture, "mixture"},
                   {Mark::Gaussian, "Gaussian"}};
  figure.spec =
      law_chart(points_of(law,
                          [&](double x, double place) -> LawPoint {
                            const Interval known = line.below(x);
                            return {x, known.lower - known.estimate, known.upper - known.estimate,
                                    law.mixture.cdf(x) - known.estimate, normal_cdf(place) - known.estimate};
                          }),
                true, "output", "difference of probabilities");
  return figure;
}

}  // namespace

FigureRow law_figures(const LawPicture& law) { return {{density_figure(law), difference_figure(law)}}; }

}  // namespace mixcert::page

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// How normal the outputs are, in words: what `mixcert explain` says before it takes a bound apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text_table.h"
#include "mixcert/answer/answers.h"
#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// Below both an output is called close to normal.
constexpr double kLittleSkewness = 0.1;
constexpr double kLittleKurtosis = 0.2;
/// Components of coordinates that are looked through: a moment's work.
constexpr Index kMostComponents = 20000;

std::string shape_words(const Normality& shape) {
  std::string words;
  if (std::abs(shape.skewness) >= kLittleSkewness)
    words = shape.skewness > 0.0 ? "longer tail above its mean" : "longer tail below its mean";
  if (std::abs(shape.excess_kurtosis) >= kLittleKurtosis) {
    const char* tails =
        shape.excess_kurtosis > 0.0 ? "heavier tails than a normal law" : "lighter tails than a normal law";
    words += (words.empty() ? "" : ", ") + std::string(tails);
  }
  return words.empty() ? "close to normal" : words;
}

/// One Gaussian: the bound itself says how far from normal the network may be.
std::string one_gaussian(const Result& result) {
  const double deviation = result.mixture.standard_deviation().norm();
  if (!(deviation > 0.0) || !result.w2.exists()) return "";
  const bool is_one = result.mixture.dimension() == 1;
  return fmt::format("how normal: the {} within {} {} of a normal law\n",
                     is_one ? "output is" : "outputs together are", short_bound(result.w2.value / deviation),
                     is_one ? "of its deviation" : "of their deviation");
}

}  // namespace

LeastNormal least_normal(const Result& result) {
  LeastNormal least;
  const CertifiedLaw law(result);
  const Index looked_at = std::max<Index>(1, kMostComponents / law.mixture().size());
  for (Index i = 0; i < std::min(law.dimension(), looked_at); ++i) {
    const CertifiedLine line = coordinate(law, i);
    const Normality shape = normality(line.mixture());
    if (i > 0 && !(shape.gaussian_distance > least.shape.gaussian_distance)) continue;
    least = {i, line.mixture().deviation(), shape};
  }
  return least;
}

std::string normality_text(const Result& result) {
  if (result.mixture.size() == 1) return one_gaussian(result);
  const LeastNormal least = least_normal(result);
  if (!(least.deviation > 0.0)) return "";
  std::string text = fmt::format(
      "how normal: the mixture's {} has skewness {}, excess kurtosis {} ({}); the Gaussian of the same mean "
      "and "
      "deviation is about {} deviations away",
      result.mixture.dimension() == 1 ? "output"
                                      : fmt::format("output {}, the least normal one,", least.output),
      short_number(least.shape.skewness), short_number(least.shape.excess_kurtosis), shape_words(least.shape),
      short_number(least.shape.gaussian_distance));
  if (result.w2.exists() && result.mixture.dimension() == 1)
    text += fmt::format(", the mixture {} at most", short_bound(result.w2.value / least.deviation));
  return text + "\n";
}

}  // namespace mixcert

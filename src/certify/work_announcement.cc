// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An estimate of work in words: how long, how much memory, and which options lower both.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/text_table.h"
#include "mixcert/certify/work_estimate.h"

namespace mixcert {
namespace {

constexpr double kLongSeconds = 30.0;
constexpr double kLargeShare = 0.25;

std::string gib_text(double bytes) {
  const double tenths = std::round(10.0 * bytes / 0x1.0p30);
  return tenths < 1.0 ? "less than 0.1 GiB" : short_number(tenths / 10.0) + " GiB";
}

}  // namespace

bool WorkEstimate::is_long(const Options& options) const {
  return seconds > kLongSeconds || bytes > kLargeShare * options.max_memory_in_gib * 0x1.0p30;
}

std::string duration_text(double seconds) {
  if (seconds < 90.0) return short_number(std::max(1.0, std::round(seconds))) + " s";
  if (seconds < 5400.0) return short_number(std::round(seconds / 60.0)) + " min";
  return short_number(std::round(seconds / 360.0) / 10.0) + " h";
}

std::string work_announcement(const WorkEstimate& estimate, const Options& options, Index input_count) {
  std::string text = "about " + duration_text(estimate.seconds) + (estimate.is_least ? " or more" : "") +
                     " and " + gib_text(estimate.bytes) +
                     " are expected (an estimate from sizes): " + estimate.method;
  const bool is_drawn = options.simulate || options.method == Method::Coupled;
  std::vector<std::string> lower;
  if (estimate.may_be_drawn) lower.emplace_back("--simulate (draws of the network)");
  if (is_drawn && options.draws > 10000) lower.emplace_back("fewer --draws");
  if (options.pieces > 1) lower.emplace_back("fewer --pieces");
  if (input_count > 1) lower.emplace_back("fewer inputs");
  if (options.joint) lower.emplace_back("inputs one by one");
  lower.emplace_back("smaller layers or images");
  if (!options.joint && input_count > 1 && options.threads != 1)
    lower.emplace_back("less memory with fewer --threads");
  for (std::size_t i = 0; i < lower.size(); ++i) text += (i == 0 ? "; less with " : ", ") + lower[i];
  return text;
}

}  // namespace mixcert

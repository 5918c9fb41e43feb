// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Text of `mixcert explain`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text_table.h"
#include "report/terminal/text_report.h"

namespace mixcert {
namespace {

/// Bounds that differ by less are called the same.
constexpr double kWorthSaying = 0.01;
/// Shares of the bound below this are not listed.
constexpr double kWorthListing = 0.001;
/// Bounds larger than this, relative to the output, are worth a simulation.
constexpr double kLargeBound = 0.1;

double share_of(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

std::string share_text(double share) {
  const double value = 100.0 * share;
  return fmt::format("{:.{}f} %", value, std::abs(value) < 9.95 ? 1 : 0);
}

std::string words_of(Source source, bool signature) {
  switch (source) {
    case Source::Activations:
      return signature ? "activations replaced by grid points" : "activations replaced by Gaussians";
    case Source::WeightNoise:
      return "noise of the next layer's weights, which depends on activations";
    case Source::CorrelatedNoise:
      return "noise of the next layer's correlated weights";
    case Source::Masks:
      return "dropout";
    case Source::ReplacedWeights:
      return "weights that are not Gaussian";
    case Source::OutputLaw:
      return "the law of the output, which is not Gaussian";
    case Source::Compression:
      return "compression to fewer components";
    case Source::Splitting:
      return "splitting into pieces";
    case Source::Rounding:
      return "rounding";
  }
  return "?";
}

/// A line under a row: who adds most.
std::string neurons_line(const std::string& whose, const Vector& amounts, double bound, Index top) {
  if (amounts.size() < 2 || top == 0) return "";
  std::string text;
  for (const Index neuron : largest_neurons(amounts, top).neurons) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", neuron,
                        share_text(share_of(amounts(neuron), bound)));
  }
  return fmt::format("\n{:>27}{}: {}", "", whose, text);
}

/// Rows of one hidden layer.
std::string layer_rows(const TextTable& table, const LayerContributions& layer, std::size_t number,
                       double bound, bool signature, Index top) {
  std::string text;
  for (const Contribution& part : layer.parts) {
    const double share = share_of(part.amount, bound);
    if (share < kWorthListing) continue;
    text += table.row({std::to_string(number), short_number(part.amount), share_text(share)});
    text.pop_back();
    text += "  " + (layer.title.empty() ? "" : layer.title + ": ") + words_of(part.source, signature);
    text += neurons_line("neurons", part.neurons, bound, top);
    text += neurons_line("into the next layer's neurons", part.outputs, bound, top);
    text += "\n";
  }
  return text;
}

const Contribution* largest_part(const LayerContributions& layer) {
  const Contribution* largest = nullptr;
  for (const Contribution& part : layer.parts) {
    if (largest == nullptr || part.amount > largest->amount) largest = &part;
  }
  return largest;
}

std::string direction_words(const LayerContributions& layer) {
  if (layer.directions.size() == 0) return "";
  const Index axes = layer.directions.size() - 1;
  return fmt::format("; {} of that lies in directions without grid points, the rest on {} {}",
                     share_text(share_of(layer.directions(0), layer.directions.sum())), axes,
                     axes == 1 ? "axis" : "axes");
}

/// The layer that makes most of the bound, in a sentence or two.
std::string main_points(const Explanation& explanation) {
  const BoundContributions& all = explanation.contributions;
  const bool signature = explanation.member_result.method == Method::Signature;
  const auto largest = std::max_element(all.layers.begin(), all.layers.end(),
                                        [](const auto& a, const auto& b) { return a.total < b.total; });
  if (largest == all.layers.end()) return "there are no hidden layers: the bound is rounding\n";
  const Contribution* part = largest_part(*largest);
  if (part == nullptr) return "";
  std::string text =
      fmt::format("layer {} makes {} of the bound, {} of it: {}", largest - all.layers.begin() + 1,
                  share_text(share_of(largest->total, all.bound)),
                  share_text(share_of(part->amount, largest->total)), words_of(part->source, signature));
  if (part->source == Source::Activations) text += direction_words(*largest);
  text += "\n";
  if (part->neurons.size() < 2) return text;
  return text + fmt::format("half of that comes from {} of its {} neurons\n",
                            largest_neurons(part->neurons, 0).half, part->neurons.size());
}

std::string member_lines(const Explanation& explanation) {
  if (explanation.members.size() < 2) return "";
  const auto member = static_cast<std::size_t>(explanation.member);
  return fmt::format(
      "ensemble of {} networks: network {} adds most, {} of the bound; what follows is its own bound, {}\n",
      explanation.members.size(), member,
      share_text(share_of(explanation.members[member], explanation.result.w2.value)),
      short_bound(explanation.contributions.bound));
}

std::string trial_bound(const Trial& trial) {
  return trial.failure.empty() ? short_bound(trial.w2_bound) : "-";
}

/// "43 % lower", against the present bound.
std::string difference(double bound, double present) {
  const double share = share_of(bound - present, present);
  if (std::abs(share) < kWorthSaying) return "the same";
  return share < 0.0 ? fmt::format("{} lower", share_text(-share))
                     : fmt::format("{:.3g} times", share_of(bound, present));
}

}  // namespace

LargestNeurons largest_neurons(ConstVectorRef amounts, Index top) {
  std::vector<Index> order(static_cast<std::size_t>(amounts.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return amounts(a) > amounts(b); });
  LargestNeurons largest;
  const double whole = amounts.sum();
  double sum = 0.0;
  for (const Index neuron : order) {
    if (!(sum < 0.5 * whole)) break;
    sum += amounts(neuron);
    ++largest.half;
  }
  for (const Index neuron : order) {
    if (static_cast<Index>(largest.neurons.size()) == top || !(amounts(neuron) > 0.0)) break;
    largest.neurons.push_back(neuron);
  }
  return largest;
}

std::string contributions_text(const Explanation& explanation, Index top) {
  const BoundContributions& all = explanation.contributions;
  const bool signature = explanation.member_result.method == Method::Signature;
  const TextTable table({{"layer", 5}, {"amount", 10}, {"share", 6}});
  std::string text = member_lines(explanation);
  text +=
      "\nwhere the bound comes from (amounts add up to it, what is below 0.1 % is left out; neurons count "
      "from 0)\n" +
      table.header();
  for (std::size_t k = 0; k < all.layers.size(); ++k) {
    text += layer_rows(table, all.layers[k], k + 1, all.bound, signature, top);
  }
  if (share_of(all.first, all.bound) >= kWorthListing || all.layers.empty()) {
    text += table.row({"first", short_number(all.first), share_text(share_of(all.first, all.bound))});
    text.pop_back();
    text += "  the first layer's weights that are not Gaussian, the mixture's better moments, and rounding\n";
  }
  return text + "\n" + main_points(explanation);
}

std::string nearest_gaussian_text(const Result& result) {
  const Index components = result.mixture.size();
  std::string text;
  if (result.w2_lower > 0.0) {
    text = fmt::format(
        "\nno Gaussian can be closer than {} (proven, {} of the bound): ", short_lower_bound(result.w2_lower),
        share_text(share_of(result.w2_lower, result.w2.value)));
    const bool is_closer = result.w2.value < result.w2_lower;
    text += is_closer
                ? fmt::format("this mixture of {} components is closer than every Gaussian\n", components)
            : components == 1 ? "more components are the only way below that, --pieces or --epsilon\n"
                              : "more components than one are the only way below that\n";
  }
  if (components > 1 && result.w2_lower_mixture > 0.0) {
    text += fmt::format("{}this mixture is no closer than {} (proven)\n", text.empty() ? "\n" : "",
                        short_lower_bound(result.w2_lower_mixture));
  }
  return text;
}

std::string trials_text(const std::vector<Trial>& trials) {
  if (trials.size() < 2) return "";
  const Trial& present = trials.front();
  std::vector<const Trial*> order;
  order.reserve(trials.size());
  for (const Trial& trial : trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [](const Trial* a, const Trial* b) {
    if (a->failure.empty() != b->failure.empty()) return a->failure.empty();
    return a->failure.empty() && a->w2_bound < b->w2_bound;
  });
  const TextTable table({{"certified W2", 12}, {"against now", 11}, {"time", 8}});
  std::string text = "\nwhat other options give here (tried just now)\n" + table.header();
  for (const Trial* trial : order) {
    const bool done = trial->failure.empty();
    text += table.row({trial_bound(*trial),
                       trial == &present ? "now"
                       : done            ? difference(trial->w2_bound, present.w2_bound)
                                         : "-",
                       short_time(trial->seconds)});
    text.pop_back();
    text += "  " + (trial == &present ? "as certified" : trial->change) +
            (done ? "" : ": " + trial->failure) + "\n";
  }
  const Trial& best = *order.front();
  if (!best.failure.empty() || !(best.w2_bound < (1.0 - kWorthSaying) * present.w2_bound)) {
    return text + "\nnothing that was tried lowers the bound by 1 %\n";
  }
  return text + fmt::format("\nto lower the bound: {} gives {} ({}) in {} instead of {}\n", best.change,
                            short_bound(best.w2_bound), difference(best.w2_bound, present.w2_bound),
                            short_time(best.seconds), short_time(present.seconds));
}

std::string forecast_text(const Explanation& explanation) {
  const Result& now = explanation.result;
  const bool is_graph = !now.layers.empty() && now.layers.front().metric == kFormsMetric;
  if (!explanation.forecast && is_graph && now.relative_w2 > kLargeBound) {
    return "\nsimulation may say more: certify --simulate bounds the distance by draws of the network, with "
           "a "
           "stated probability to fail\n";
  }
  if (!explanation.forecast) return "";
  const SimulationForecast& forecast = *explanation.forecast;
  return fmt::format(
      "\nsimulation would say more: certify --simulate can be expected to give W2 <= {} (relative {}), with "
      "{} in "
      "about {} at each input; such a bound fails with a stated probability\n",
      short_number(forecast.w2), short_number(forecast.w2 * now.relative_w2 / now.w2.value),
      counted(forecast.draws, "draw"), short_time(forecast.seconds));
}

}  // namespace mixcert

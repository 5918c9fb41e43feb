// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Sections of the report of `mixcert certify`, in the order in which they are read: what it says, what to
// keep in mind, what was certified, where the error comes from, what the outputs look like, every input, how
// it was run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text_table.h"
#include "report/pages/command_pages.h"
#include "theorems/theorem_table.h"

namespace mixcert::page {
namespace {

using Mark = LegendEntry::Mark;

/// A relative bound above which simulation is worth a word.
constexpr double kWorthSimulation = 0.1;
/// Statistical looseness that is worth a word.
constexpr double kLoose = 10.0;

double mean_of(double sum, const CertifyContents& c) {
  return sum / static_cast<double>(std::max<Index>(1, c.inputs));
}

std::string subject(const CertifyContents& c) { return c.run.models.size() > 1 ? "ensemble" : "network"; }

/// Is there a formal bound at any input?
bool has_formal(const CertifyContents& c) { return c.without_bound < c.inputs; }

/// Where bounds hold, if not at the inputs alone.
std::string where(const CertifyContents& c) {
  return c.holds_at.empty() ? "" : " Its bounds hold at " + c.holds_at + ".";
}

std::string summary(const CertifyContents& c) {
  const std::string distance = has_formal(c) ? " within a proven 2-Wasserstein distance (W2)"
                               : c.simulated > 0
                                   ? " within a 2-Wasserstein distance (W2) that is certified by simulation"
                                   : "";
  if (c.joint) {
    return fmt::format("The joint law of the {}\u2019s outputs at {}, as a Gaussian mixture{}.", subject(c),
                       counted(c.points, "input"), distance);
  }
  return fmt::format("The law of the {}\u2019s output at {}, as a Gaussian mixture{}.", subject(c),
                     c.inputs == 1 ? "one input" : "each of " + count_text(c.inputs) + " inputs", distance) +
         where(c);
}

void add_formal_headlines(const CertifyContents& c, std::vector<Headline>& all) {
  const bool several = c.inputs > 1;
  all.push_back({several ? "Certified W2, at worst" : "Certified W2", "\u2264 " + bound_text(c.bound_worst),
                 several   ? fmt::format("at input {}", c.worst_input)
                 : c.joint ? "over all inputs jointly"
                           : "",
                 Tone::Certified});
  if (several)
    all.push_back(
        {"Certified W2, on average", "\u2264 " + bound_text(mean_of(c.bound_sum, c)), "", Tone::Certified});
  all.push_back({several ? "Relative, on average" : "Relative",
                 "\u2264 " + percent_bound_text(mean_of(c.relative_sum, c)),
                 "of the output\u2019s root mean square", Tone::Certified});
  if (!c.holds_at.empty())
    all.push_back({"Of it for the inputs around", "\u2264 " + bound_text(mean_of(c.change_sum, c)),
                   several ? "on average; the rest is the bound at the input itself"
                           : "the rest is the bound at the input itself",
                   Tone::Certified});
}

std::vector<Headline> headlines(const CertifyContents& c) {
  const bool several = c.inputs > 1;
  std::vector<Headline> all;
  if (has_formal(c)) add_formal_headlines(c, all);
  if (c.with_lower > 0) {
    all.push_back({several ? "The nearest Gaussian, on average" : "The nearest Gaussian",
                   "\u2265 " + lower_bound_text(c.gaussian_lower_sum / static_cast<double>(c.with_lower)),
                   "W2 of any Gaussian, proven; only more components can be closer", Tone::Certified});
  }
  if (c.simulated > 0) {
    all.push_back({several ? "W2 by simulation, on average" : "W2 by simulation",
                   "\u2264 " + bound_text(c.simulated_sum / static_cast<double>(c.simulated)),
                   fmt::format("certified; fails with probability {:g} at each input", c.simulated_failure),
                   Tone::Simulated});
  }
  if (c.statistics) {
    const auto n = static_cast<double>(std::max<Index>(1, c.estimated));
    const double upper = c.upper_sum / n;
    const std::string lower = number_text(c.lower_sum / n);
    all.push_back({several ? "Estimated W2, on average" : "Estimated W2",
                   std::isnan(upper) ? "\u2265 " + lower : lower + " \u2013 " + number_text(upper),
                   fmt::format("from {} samples{}; not certified", count_text(c.statistics->samples),
                               c.estimated < c.inputs ? " at " + counted(c.estimated, "input") : ""),
                   Tone::Estimate});
  }
  if (c.classified > 0) {
    const double share = static_cast<double>(c.settled) / static_cast<double>(c.classified);
    all.push_back({"Class settled", fmt::format("{:.0f} %", std::floor(100.0 * share)),
                   fmt::format("{} of {} inputs", count_text(c.settled), count_text(c.classified)),
                   Tone::Certified});
  }
  return all;
}

void warn_of_bounds(const CertifyContents& c, std::vector<std::string>& all) {
  const std::string of = fmt::format(" of {} inputs", count_text(c.inputs));
  if (c.without_bound > 0) {
    const auto is_there = [&](const char* method) {
      return std::find(c.methods.begin(), c.methods.end(), method) != c.methods.end();
    };
    all.push_back(
        (c.joint ? "There is no formal bound"
                 : "There is no formal bound at " + count_text(c.without_bound) + of) +
        (is_there("cross")
             ? ": cross signatures have no certificate. The mixture is an approximation without a guarantee."
         : is_there("coupled") ? ": formal bounds of graphs cover neither masks nor tangents of this size. "
                                 "What is certified is "
                                 "certified by simulation."
                               : "."));
  }
  if (c.above_scale > 0) {
    all.push_back(
        (c.inputs == 1 ? std::string("The bound")
                       : fmt::format("At {}{} the bound", count_text(c.above_scale), of)) +
        " exceeds the size of the output itself (relative bound above 100 %): it is true, and says little.");
  }
  if (!c.simulate && !c.joint && !c.linearised && c.holds_at.empty() &&
      mean_of(c.relative_sum, c) > kWorthSimulation) {
    all.emplace_back(
        "For dense networks with Gaussian weights a bound certified by simulation is often far smaller "
        "at depth: certify --simulate. The command explain says what to expect of it, and how long it "
        "takes.");
  }
  if (c.epsilon_missed > 0) {
    all.push_back(fmt::format("The wanted bound {} was missed{}: {}", number_text(*c.epsilon),
                              c.inputs == 1 ? "" : " at " + count_text(c.epsilon_missed) + of,
                              c.missed_reason));
  }
}

std::vector<std::string> warnings(const CertifyContents& c) {
  std::vector<std::string> all;
  if (c.linearised) {
    all.emplace_back(
        "Mixtures and bounds are about the network linearised at the means of its weights (glm), which is "
        "another law than the network's.");
  }
  warn_of_bounds(c, all);
  if (c.upper_sum > 0.0 && c.estimated == c.inputs && c.bound_sum > kLoose * c.upper_sum) {
    all.push_back(
        fmt::format("The certified bound is at least {} times the distance that a coupled simulation finds: "
                    "the mixture is closer "
                    "than the certificate can say.",
                    number_text(std::floor(c.bound_sum / c.upper_sum))));
  }
  if (static_cast<Index>(c.rows.size()) < c.inputs && !c.joint) {
    all.push_back(
        fmt::format("Tables and charts of inputs show the {} worst of {}; means and the headline are of all.",
                    count_text(static_cast<long long>(c.rows.size())), count_text(c.inputs)));
  }
  return all;
}

Section subject_section(const CertifyContents& c) {
  FactList facts;
  for (const ModelFact& model : c.run.models) {
    const std::string weight =
        c.run.models.size() > 1 ? fmt::format(" (weight {})", number_text(model.weight)) : "";
    facts.facts.push_back({"Model", model.file + weight});
    facts.facts.push_back({"SHA-256", model.sha256, true});
  }
  facts.facts.push_back({"Architecture", c.run.architecture});
  facts.facts.push_back(
      {"Inputs", fmt::format("{} input{} of {}, from {}", count_text(c.points), c.points == 1 ? "" : "s",
                             counted(c.features, "feature"), c.inputs_file)});
  facts.facts.push_back({"Method", fmt::format("{}", fmt::join(c.methods, ", "))});
  if (c.statistics) {
    facts.facts.push_back(
        {"Estimates", fmt::format("W2 at least the lower one with confidence {}, at most the upper one but "
                                  "for a probability of {} ({})",
                                  percent_text(c.statistics->lower_confidence),
                                  number_text(c.statistics->failure_probability), c.statistics->assumption)});
  }
  return {"What was certified", {facts}};
}

/// What each layer adds, and what makes the bound hold at other inputs too; means over inputs.
std::vector<LayerTerms> terms_of_bound(const CertifyContents& c) {
  std::vector<LayerTerms> all = c.layers;
  if (!c.holds_at.empty()) all.push_back({"inputs around", 0.0, mean_of(c.change_sum, c)});
  return all;
}

Table layer_table(const CertifyContents& c) {
  Table table{"Contributions of the layers",
              {{"layer", Column::Kind::Text},
               {"local", Column::Kind::Number, Tone::Certified},
               {"compression", Column::Kind::Number, Tone::Certified},
               {"share"},
               {"gain"},
               {"components"},
               {"points"},
               {"metric", Column::Kind::Text},
               {"bounded by", Column::Kind::Text}},
              {}};
  const std::vector<LayerTerms> all = terms_of_bound(c);
  double total = 0.0;
  for (const LayerTerms& terms : all) total += terms.local + terms.compression;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const LayerTerms& terms = all[k];
    const double share = total > 0.0 ? (terms.local + terms.compression) / total : 0.0;
    std::vector<Cell> row = {word_cell(terms.layer),
                             bound_cell(terms.local),
                             bound_cell(terms.compression),
                             {fmt::format("{:.0f} %", 100.0 * share), share}};
    if (k < c.layers.size()) {
      const LayerReport& detail = c.layer_details[k];
      row.insert(row.end(),
                 {number_cell(detail.gain), count_cell(detail.components), count_cell(detail.points),
                  word_cell(detail.metric), word_cell(theorem_in_words(detail.theorem))});
    } else {
      row.insert(row.end(),
                 {word_cell(""), word_cell(""), word_cell(""), word_cell(""), word_cell("M.9, M.12")});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_error_section(const CertifyContents& c, Page& page) {
  if (c.layers.empty() || !std::isfinite(c.bound_sum)) return;
  Figure figure;
  figure.title = "What each layer adds to the bound";
  figure.caption = std::string(
                       "Local: replacing the layer\u2019s output by a simpler law. Compression: merging "
                       "components before that. Both carried to the output") +
                   (c.inputs > 1 ? ", mean over inputs." : ".") +
                   (c.holds_at.empty() ? "" : " Inputs around: what makes the bound hold at all of them.");
  figure.alternative =
      "Stacked bars of the contributions of the hidden layers; the table below has the numbers.";
  figure.legend = {{Mark::Bound, "local"}, {Mark::BoundSoft, "compression"}};
  figure.spec = layers_chart(terms_of_bound(c));
  page.sections.push_back({"Where the error comes from", {FigureRow{{figure}}, layer_table(c)}});
}

}  // namespace

Page certify_page(const CertifyContents& c) {
  Page page{"Certificate", model_names(c.run.models), summary(c), headlines(c), warnings(c), {},
            c.run.version};
  page.sections.push_back(subject_section(c));
  add_error_section(c, page);
  add_prediction_section(c, page);
  for (Section& section : input_sections(c)) page.sections.push_back(std::move(section));
  for (Section& section : assumption_sections(c.run)) page.sections.push_back(std::move(section));
  page.sections.push_back(settings_section(c.run));
  return page;
}

}  // namespace mixcert::page

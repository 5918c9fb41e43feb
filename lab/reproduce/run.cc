// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// One experiment after the other.
#include "reproduce/run.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "io/files/atomic_file.h"
#include "mixcert/core/error.h"
#include "reproduce/index_page.h"
#include "reproduce/outcome_file.h"

namespace mixcert::lab {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void write_index(const Context& context) {
  std::vector<std::optional<Outcome>> stored;
  for (const Experiment& experiment : experiments()) stored.push_back(read_outcome(context, experiment));
  std::vector<const Outcome*> outcomes;
  for (const auto& outcome : stored) outcomes.push_back(outcome ? &*outcome : nullptr);
  AtomicFile file(context.options.out / "index.html");
  file.write(page::write_page(index_page(context, outcomes)));
  file.commit();
}

/// The outcome of an earlier run that needs no other.
std::optional<Outcome> finished(const Context& context, const Experiment& experiment) {
  if (context.options.restart) return std::nullopt;
  std::optional<Outcome> stored = read_outcome(context, experiment);
  if (stored && !stored->complete) stored.reset();
  return stored;
}

}  // namespace

ReproduceSummary reproduce(const std::vector<const Experiment*>& wanted, const Context& context) {
  std::error_code failed;
  std::filesystem::create_directories(context.options.out, failed);
  if (failed)
    throw FileError(context.options.out.string() + ": expected a folder to write to: " + failed.message());
  ReproduceSummary summary;
  const auto start = Clock::now();
  for (const Experiment* experiment : wanted) {
    context.check_cancelled();
    if (const auto stored = finished(context, *experiment)) {
      summary.whole_seconds += stored->seconds;
      summary.kept.emplace_back(experiment->name);
      continue;
    }
    context.say(fmt::format("{}: {}", experiment->name, experiment->title));
    const auto begin = Clock::now();
    double earlier = 0.0;
    Context own = context;
    own.earlier_seconds = &earlier;
    Outcome outcome = experiment->run(own);
    outcome.seconds = seconds_since(begin) + earlier;
    summary.whole_seconds += outcome.seconds;
    write_outcome(context, *experiment, outcome);
    write_index(context);
    context.say(fmt::format("{}: {:.1f} s", experiment->name, outcome.seconds));
    summary.ran.emplace_back(experiment->name);
  }
  write_index(context);
  summary.seconds = seconds_since(start);
  return summary;
}

}  // namespace mixcert::lab

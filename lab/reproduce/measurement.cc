// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Certification first, one thread per point, then estimates from samples of network and mixture.
#include "reproduce/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mixcert/certify/certify.h"
#include "mixcert/statistics/simulate.h"
#include "mixcert/transport/mixture_transport.h"
#include "mixcert/tune/tune.h"

namespace mixcert::lab {
namespace {

/// All names, in the order of files.
constexpr const char* kNames[] = {"bound",          "empirical",  "floor", "gelbrich",
                                  "gelbrich_floor", "lower",      "upper", "coupled",
                                  "seconds",        "components", "unit"};

void estimate(const Subject& subject, const Result& result, const MeasurementPlan& plan, RowNumbers& out) {
  const auto stream = static_cast<std::uint64_t>(result.input);
  const std::uint64_t seed = plan.options.seed;
  const double unit = std::sqrt(result.mixture.second_moment());
  const Index most = std::max(plan.empirical_samples, plan.statistics_samples);
  if (most == 0) return;
  const Matrix samples =
      simulate(subject.net(), subject.inputs.col(result.input), result.input, {most, seed, 1, nullptr});
  if (plan.empirical_samples > 0) {
    const EmpiricalDistance distance =
        empirical_distance(samples.leftCols(plan.empirical_samples), result.mixture, seed, stream);
    out.set("empirical", distance.distance / unit);
    out.set("floor", distance.floor / unit);
  }
  if (plan.statistics_samples > 0) {
    const Index count = plan.statistics_samples;
    const GelbrichLowerBound lower =
        gelbrich_lower_bound(samples.leftCols(count), result.mixture, seed, stream);
    const Matrix own = sample_mixture(result.mixture, count, seed, Stream::Floor, stream);
    out.set("gelbrich", lower.plug_in / unit);
    out.set("gelbrich_floor", gelbrich_lower_bound(own, result.mixture, seed, stream).plug_in / unit);
    out.set("lower", lower.lower / unit);
  }
}

/// Upper bound and cost of the coupled simulation, where the moment method made the mixture.
void add_coupling(const Context& context, const Subject& subject, const MeasurementPlan& plan,
                  std::vector<RowNumbers>& points) {
  Options with = plan.options;
  with.statistics = plan.statistics_samples;
  Services services = certify_services(context);
  services.statistics = [&](const Network& net, ConstMatrixRef input, Index index, const CouplingTrace& trace,
                            const GaussianMixture& mixture, const Options& used) {
    return two_sided_statistics(net, input, index, trace, mixture, used, context.cancel);
  };
  certify(
      subject.net(), subject.inputs, with,
      [&](Result&& result) {
        const double unit = std::sqrt(result.mixture.second_moment());
        RowNumbers& point = points[static_cast<std::size_t>(result.input)];
        point.set("upper", result.statistics->w2_upper_statistical / unit);
        point.set("coupled", result.statistics->coupled_cost / unit);
      },
      services);
}

RowNumbers means(const std::vector<RowNumbers>& points) {
  RowNumbers row;
  for (const char* name : kNames) {
    double sum = 0.0;
    for (const RowNumbers& point : points) sum += point.at(name);
    row.set(name, sum / static_cast<double>(points.size()));
  }
  row.set("points", static_cast<double>(points.size()));
  return row;
}

}  // namespace

Services certify_services(const Context& context) {
  Services services;
  services.cancel = context.cancel;
  services.mixture_plan = [](const GaussianMixture& from, const GaussianMixture& to) {
    return mixture_transport(from, to).plan.entries;
  };
  return services;
}

std::vector<RowNumbers> measure_points(const Context& context, const Subject& subject,
                                       const MeasurementPlan& plan) {
  const std::vector<Result> results =
      certify(subject.net(), subject.inputs, plan.options, certify_services(context));
  std::vector<RowNumbers> points(results.size());
  parallel_for(
      static_cast<Index>(results.size()), context.options.threads,
      [&](Index i) {
        const Result& result = results[static_cast<std::size_t>(i)];
        RowNumbers& point = points[static_cast<std::size_t>(i)];
        point.set("bound", result.relative_w2);
        point.set("seconds", result.seconds);
        point.set("components", static_cast<double>(result.mixture.size()));
        point.set("unit", std::sqrt(result.mixture.second_moment()));
        estimate(subject, result, plan, point);
      },
      context.cancel);
  const bool ours = plan.options.method == Method::Auto || plan.options.method == Method::Moment;
  if (ours && plan.statistics_samples > 0) add_coupling(context, subject, plan, points);
  return points;
}

RowNumbers measure(const Context& context, const Subject& subject, const std::string& name,
                   const MeasurementPlan& plan) {
  MeasurementPlan used = plan;
  used.options.seed = context.options.seed;
  used.options.threads = context.options.threads;
  std::string key =
      fmt::format("{} {} {} points, {} empirical, {} statistics", subject.sha256, fingerprint(subject.inputs),
                  subject.inputs.cols(), used.empirical_samples, used.statistics_samples);
  for (const auto& field : option_table()) {
    // Neither changes a bit of a result.
    if (field.name != "threads" && field.name != "block")
      key += " " + field.name + "=" + field.get(used.options);
  }
  return kept_row(context, name, key, [&] { return means(measure_points(context, subject, used)); });
}

Options paper_options(Index signature_size, Index components) {
  Options options;
  options.method = Method::Signature;
  options.certificate = CertificateMode::Paper;
  options.signature_size = signature_size;
  options.components = components;
  return options;
}

Options cross_options(Index signature_size, Index components) {
  Options options;
  options.method = Method::Cross;
  options.signature_size = signature_size;
  options.components = components;
  return options;
}

Options our_options(Index pieces, bool masks) {
  Options options;
  options.pieces = pieces;
  if (masks && pieces > 1) options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  return options;
}

}  // namespace mixcert::lab

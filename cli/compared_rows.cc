// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Samples, distances and bounds, one input per thread.
#include "compared_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "methods/moment/moment_tracer.h"
#include "mixcert/statistics/simulate.h"
#include "statistics/coupled_simulation.h"
#include "statistics/mean_bound.h"
#include "terminal.h"

namespace mixcert::cli {

// Upper bounds: traces by repetition of the moment method.

namespace {

constexpr double kSame = 1e-9;

bool is_same(const Gaussian& a, const Gaussian& b) {
  const Matrix covariance = a.covariance.to_dense();
  const double variance = covariance.cwiseAbs().maxCoeff();
  const double size = std::max(a.mean.cwiseAbs().maxCoeff(), std::sqrt(variance));
  return (a.mean - b.mean).cwiseAbs().maxCoeff() <= kSame * size &&
         (covariance - b.covariance.to_dense()).cwiseAbs().maxCoeff() <= kSame * variance;
}

/// The same components in the same order, to 1e-9.
bool is_same(const GaussianMixture& a, const GaussianMixture& b) {
  if (a.size() != b.size() || a.dimension() != b.dimension()) return false;
  if ((a.weights() - b.weights()).cwiseAbs().maxCoeff() > kSame) return false;
  return std::equal(a.components().begin(), a.components().end(), b.components().begin(),
                    [](const Gaussian& x, const Gaussian& y) { return is_same(x, y); });
}

/// Why no coupling can be simulated; "" where one can.
std::string coupling_gap(const Ensemble& ensemble, bool joint) {
  for (Index i = 0; i < ensemble.size(); ++i) {
    if (ensemble.member(i).graph() != nullptr)
      return "layers of the network keep their structure; certify --method coupled --statistics has an upper "
             "estimate";
    std::string gap = ensemble.member(i).correlated_layer();
    if (!gap.empty()) return gap;
    if (joint && ensemble.member(i).has_masks()) return "several inputs jointly meet dropout";
  }
  return "";
}

}  // namespace

CoupledUpper::CoupledUpper(const Ensemble& ensemble, const std::vector<StoredResult>& results, bool joint)
    : results_(results), gap_(coupling_gap(ensemble, joint)) {}

bool CoupledUpper::is_stored(const GaussianMixture& mixture, Index index) const {
  return is_same(mixture, results_[static_cast<std::size_t>(index)].mixture);
}

Services CoupledUpper::services(const std::function<void(Index, double)>& found) const {
  Services services;
  services.cancel = &cancel_flag();
  services.statistics = [this, found](const Network& net, ConstMatrixRef input, Index index,
                                      const CouplingTrace& trace, const GaussianMixture& mixture,
                                      const Options& used) {
    TwoSidedStatistics statistics;
    if (!trace.is_empty() && is_stored(mixture, index)) {
      const int threads = used.joint ? used.threads : 1;
      const CoupledSamples samples =
          simulate_coupled(net, input, index, trace, {used.statistics, used.seed, threads, &cancel_flag()});
      statistics.w2_upper_statistical =
          coupled_distance(samples, used.failure_probability).w2_upper_statistical;
    }
    found(index, statistics.w2_upper_statistical);
    return statistics;
  };
  services.ensemble_statistics = [this, found](const Ensemble& all, ConstMatrixRef input, Index index,
                                               const std::vector<CouplingTrace>& traces,
                                               const GaussianMixture& mixture, const Options& used) {
    TwoSidedStatistics statistics;
    if (is_stored(mixture, index))
      statistics = two_sided_statistics(all, input, index, traces, mixture, used, &cancel_flag());
    found(index, statistics.w2_upper_statistical);
    return statistics;
  };
  return services;
}

namespace {

// In more than one dimension the empirical distance is a transport problem whose cost grows
// with the cube of the samples: 1e4 take 20 s.
constexpr Index kMaxTransportSamples = 2000;

std::string bytes_of(const ComparedRow& row) {
  std::string bytes(sizeof(row), '\0');
  std::memcpy(bytes.data(), &row, sizeof(row));
  return bytes;
}

ComparedRow row_of(std::string_view bytes) {
  ComparedRow row;
  std::memcpy(&row, bytes.data(), std::min(bytes.size(), sizeof(row)));
  return row;
}

/// Where a row's upper bound is not there yet.
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ComparedRows::ComparedRows(const Ensemble& ensemble, const Matrix& inputs,
                           const std::vector<StoredResult>& results, const SimulationOptions& simulation,
                           const Options& options)
    : ensemble_(ensemble),
      inputs_(inputs),
      results_(results),
      simulation_(simulation),
      options_(options),
      upper_(ensemble, results, options.joint) {
  options_.method = Method::Moment;
}

ComparedRow ComparedRows::row(Index i, double upper, int threads) const {
  const GaussianMixture& mixture = results_[static_cast<std::size_t>(i)].mixture;
  SimulationOptions simulation = simulation_;
  simulation.threads = threads;
  const Matrix samples = options_.joint ? simulate_joint(ensemble_, inputs_, simulation)
                                        : simulate(ensemble_, inputs_.col(i), i, simulation);
  const auto stream = static_cast<std::uint64_t>(i);
  const Index used = samples.rows() == 1 ? samples.cols() : std::min(samples.cols(), kMaxTransportSamples);
  const EmpiricalDistance empirical =
      empirical_distance(samples.leftCols(used), mixture, simulation.seed, stream);
  const GelbrichLowerBound gelbrich = gelbrich_lower_bound(samples, mixture, simulation.seed, stream);
  ComparedRow row{empirical.distance,
                  empirical.floor,
                  static_cast<double>(used),
                  gelbrich.lower,
                  gelbrich.confidence,
                  gelbrich.plug_in,
                  gelbrich.bias,
                  upper};
  if (options_.joint || ensemble_.size() > 1) return row;
  if (const auto dual = dual_lower_bound(ensemble_.member(0), inputs_.col(i), mixture, samples)) {
    row.lower = std::max(row.lower, dual->lower);
    row.confidence += dual->confidence - 1.0;
  }
  return row;
}

void ComparedRows::perform(const InputQueue& queue, const BytesSink& sink) const {
  const int threads = resolve_thread_count(options_.threads);
  const int each = results_.size() > 1 ? 1 : threads;
  if (!gap().empty()) {
    const auto body = [&](Index i) { return bytes_of(row(i, kNone, each)); };
    return for_each_in_queue(queue, threads, &cancel_flag(), body, sink);
  }
  // Rows are made where the trace is, on the thread that certifies the input.
  std::vector<ComparedRow> rows(results_.size());
  const Services services = upper_.services(
      [&](Index i, double upper) { rows[static_cast<std::size_t>(i)] = row(i, upper, each); });
  certify_queue(
      ensemble_, inputs_, options_, queue,
      [&](Result&& result) { sink(result.input, bytes_of(rows[static_cast<std::size_t>(result.input)])); },
      services);
}

ComparedRow ComparedRows::joint_row() const {
  double upper = kNone;
  if (gap().empty()) {
    certify(
        ensemble_, inputs_, options_, [](Result&&) {},
        upper_.services([&](Index, double found) { upper = found; }));
  }
  return row(0, upper, simulation_.threads);
}

void ComparedRows::run(const std::function<void(Index, const ComparedRow&)>& arrived) const {
  if (options_.joint) {
    if (team().leads()) arrived(0, joint_row());
    return;
  }
  TeamWork work;
  for (Index i = 0; i < static_cast<Index>(results_.size()); ++i) work.inputs.push_back(i);
  work.threads = resolve_thread_count(options_.threads);
  work.cancel = &cancel_flag();
  work.perform = [this](const InputQueue& queue, const BytesSink& sink) { perform(queue, sink); };
  std::map<Index, ComparedRow> early;
  Index next = 0;
  work.arrived = [&](Index i, std::string_view bytes) {
    early.emplace(i, row_of(bytes));
    for (auto first = early.begin(); first != early.end() && first->first == next; first = early.begin()) {
      arrived(next++, first->second);
      early.erase(first);
    }
  };
  team().work(work);
}

}  // namespace mixcert::cli

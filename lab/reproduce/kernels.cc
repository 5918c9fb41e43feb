// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// figure-kernels: means and kernels of three networks at 30 inputs jointly, by Monte Carlo and by our
// Gaussian, with the time of each. A kernel's entry is the trace of the block of two inputs over outputs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "mixcert/core/error.h"
#include "mixcert/statistics/simulate.h"
#include "reproduce/measurement.h"

namespace mixcert::lab {
namespace {

struct Moments {
  Matrix means;   ///< inputs x outputs
  Matrix kernel;  ///< inputs x inputs
  double seconds = 0.0;
};

/// Input-major mean and covariance to what the figure shows.
Moments shown_moments(const Vector& mean, const Matrix& covariance, Index outputs) {
  const Index inputs = mean.size() / outputs;
  Moments moments{Matrix(inputs, outputs), Matrix(inputs, inputs), 0.0};
  for (Index i = 0; i < inputs; ++i) {
    moments.means.row(i) = mean.segment(i * outputs, outputs).transpose();
    for (Index j = 0; j < inputs; ++j)
      moments.kernel(i, j) = covariance.block(i * outputs, j * outputs, outputs, outputs).trace();
  }
  return moments;
}

template <class Function>
Moments timed(const Function& compute) {
  const auto start = std::chrono::steady_clock::now();
  Moments moments = compute();
  moments.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return moments;
}

Moments sampled_moments(const Context& context, const Subject& subject, Index samples, std::uint64_t seed) {
  return timed([&] {
    const Matrix draws = simulate_joint(subject.net(), subject.inputs,
                                        {samples, seed, context.options.threads, context.cancel});
    const Vector mean = draws.rowwise().mean();
    const Matrix centred = draws.colwise() - mean;
    return shown_moments(mean, centred * centred.transpose() / static_cast<double>(samples - 1),
                         subject.net().outputs());
  });
}

/// Every input draws its own masks, and where nothing else is random its outputs are independent of those at
/// other inputs: then the joint law is a product, and one input after the other will do.
Options joint_options(const Context& context, const NetworkSpec& spec) {
  Options options;
  options.method = Method::Moment;
  options.theorems = TheoremSet::Coupling;
  options.joint = !spec.dropout;
  options.threads = context.options.threads;
  return options;
}

/// Of one joint law, or of the product of the laws at all inputs, whose squared distances add up.
Moments certified_moments(const Context& context, const Subject& subject, const Options& options,
                          double& relative_bound) {
  const std::vector<Result> results =
      certify(subject.net(), subject.inputs, options, certify_services(context));
  const Index size = results.front().mixture.dimension();
  const Index count = static_cast<Index>(results.size());
  Vector mean(size * count);
  Matrix covariance = Matrix::Zero(size * count, size * count);
  double distance = 0.0, second_moment = 0.0;
  for (Index i = 0; i < count; ++i) {
    const Result& result = results[static_cast<std::size_t>(i)];
    mean.segment(i * size, size) = result.mixture.mean();
    covariance.block(i * size, i * size, size, size) = result.mixture.covariance();
    distance += std::pow(result.relative_w2, 2) * result.mixture.second_moment();
    second_moment += result.mixture.second_moment();
  }
  relative_bound = std::sqrt(distance / second_moment);
  return shown_moments(mean, covariance, subject.net().outputs());
}

/// The points by class.
void sort_by_class(Subject& subject) {
  std::vector<std::size_t> order(subject.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return subject.labels[a] < subject.labels[b]; });
  Matrix inputs = subject.inputs;
  std::vector<int> labels;
  for (std::size_t i = 0; i < order.size(); ++i) {
    inputs.col(static_cast<Index>(i)) = subject.inputs.col(static_cast<Index>(order[i]));
    labels.push_back(subject.labels[order[i]]);
  }
  subject.inputs = inputs;
  subject.labels = labels;
}

/// Class numbers at the first input of each.
std::vector<std::string> class_names(const std::vector<int>& labels) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < labels.size(); ++i)
    names.push_back(i == 0 || labels[i] != labels[i - 1] ? std::to_string(labels[i]) : "");
  return names;
}

Plot heat_plot(const std::string& name, const std::string& title, const Matrix& values, double limit,
               const std::vector<int>& labels, bool kernel) {
  Plot plot;
  plot.name = "figure-kernels-" + name;
  plot.title = title;
  plot.caption = fmt::format("Colours end at ±{:.3g}; blue is positive.", limit);
  plot.heat = {{values, limit}};
  plot.y.names = class_names(labels);
  std::reverse(plot.y.names.begin(), plot.y.names.end());
  plot.y.label = "inputs by class";
  plot.x.label = kernel ? "inputs by class" : "output";
  if (kernel) plot.x.names = class_names(labels);
  if (!kernel) {
    for (Index c = 0; c < values.cols(); ++c) plot.x.names.push_back(std::to_string(c));
  }
  return plot;
}

double relative_difference(const Matrix& a, const Matrix& b) { return (a - b).norm() / b.norm(); }

void add_kernels(const Context& context, Subject& subject, ResultTable& table, Outcome& outcome) {
  const NetworkSpec& spec = *subject.spec;
  sort_by_class(subject);
  subject.inputs_file = context.options.out / "inputs" / (spec.name + "-by-class.npy");
  write_points(subject.inputs_file, subject.inputs);
  const Index samples = context.size(200, 10000);
  context.say("kernels of " + spec.name);
  const Moments drawn = sampled_moments(context, subject, samples, context.options.seed);
  const Moments again = sampled_moments(context, subject, samples, context.options.seed + 1);
  const Options options = joint_options(context, spec);
  double bound = NAN;
  const Moments ours = timed([&] { return certified_moments(context, subject, options, bound); });
  const double kernel_limit = drawn.kernel.cwiseAbs().maxCoeff();
  const double mean_limit = drawn.means.cwiseAbs().maxCoeff();
  const std::string title = spec.title + " " + spec.label;
  outcome.add(heat_plot(spec.name + "-mc-kernel", title + ": kernel, Monte Carlo", drawn.kernel, kernel_limit,
                        subject.labels, true));
  outcome.add(
      heat_plot(spec.name + "-mc-mean", "mean, Monte Carlo", drawn.means, mean_limit, subject.labels, false));
  outcome.add(heat_plot(spec.name + "-kernel", title + ": kernel, ours", ours.kernel, kernel_limit,
                        subject.labels, true));
  outcome.add(heat_plot(spec.name + "-mean", "mean, ours", ours.means, mean_limit, subject.labels, false));
  table.rows.push_back(
      {{spec.title, spec.label, static_cast<double>(subject.inputs.cols()),
        relative_difference(ours.kernel, drawn.kernel), relative_difference(again.kernel, drawn.kernel),
        relative_difference(ours.means, drawn.means), relative_difference(again.means, drawn.means),
        number_or_nothing(bound), drawn.seconds, ours.seconds, drawn.seconds / ours.seconds, spec.remark},
       subject.origin(
           context, {certify_command(subject, options),
                     fmt::format("mixcert sample {} --inputs {} --joint --samples {}", subject.model.string(),
                                 subject.inputs_file.string(), samples)})});
}

}  // namespace

Outcome figure_kernels(const Context& context) {
  Outcome outcome;
  ResultTable table{"figure-kernels", "Kernels and means, ours against Monte Carlo", {}, {}, {}};
  table.columns = {{"data set", ColumnKind::Label},
                   {"network", ColumnKind::Label},
                   {"inputs", ColumnKind::Number},
                   {"kernel, difference", ColumnKind::Estimate},
                   {"kernel", ColumnKind::Floor},
                   {"mean, difference", ColumnKind::Estimate},
                   {"mean", ColumnKind::Floor},
                   {"joint W2, relative", ColumnKind::Certified},
                   {"Monte Carlo", ColumnKind::Seconds},
                   {"ours", ColumnKind::Seconds},
                   {"Monte Carlo / ours, time", ColumnKind::Number},
                   {"remark", ColumnKind::Remark}};
  std::vector<std::string> names = {"mnist-2x128", "cifar-vgg2-1x128", "cifar-vgg2-drop-1x128-drop"};
  if (context.quick()) names = {"mnist-1x128"};
  for (const std::string& name : names) {
    Subject subject = prepare_subject(context, find_network(name), context.size(6, 30));
    if (subject.is_there()) {
      try {
        add_kernels(context, subject, table, outcome);
        continue;
      } catch (const InvalidArgument& error) {
        subject.gap = error.what();
      }
    }
    outcome.complete = false;
    const NetworkSpec& spec = *subject.spec;
    table.rows.push_back(
        {{spec.title, spec.label, {}, {}, {}, {}, {}, {}, {}, {}, {}, "not reproduced: " + subject.gap},
         {{}, "", "", context.options.seed}});
  }
  table.notes = {fmt::format(
      "Differences in the Frobenius norm, relative to Monte Carlo with {} draws of all weights (local "
      "reparametrisation is not possible jointly); their floor is a second Monte Carlo run of the same size. "
      "Both on the same threads. Jointly our Gaussian has the network's mean, and its covariance at each "
      "input; between inputs it has that of the coupled surrogate (J.1), which is a little larger. Dropout "
      "draws masks for every input: outputs of the head with dropout are independent from input to input.",
      context.size(200, 10000))};
  outcome.tables.push_back(std::move(table));
  return outcome;
}

}  // namespace mixcert::lab

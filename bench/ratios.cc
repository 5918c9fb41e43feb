// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The ratios that the documentation quotes, measured in one run on one thread:
//   - one input against 1e4 Monte Carlo samples by local reparametrisation,
//   - a call with one input, the first and later ones, against an input of a batch,
//   - growth of the cost per input with the width,
//   - the moment method for a batch against the matrix products it cannot avoid,
//   - the draws of a certificate by simulation against theirs,
//   - peak memory while results of growing numbers of inputs stream to disk.
//     ratios [DIRECTORY for the streamed file [PART: streaming, moments, draws, sampling, single or width]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "bench_networks.h"
#include "measures.h"
#include "methods/moment/moment_tracer.h"
#include "mixcert/certify/certify.h"
#include "mixcert/io/result_file.h"
#include "simulated/coupled_paths.h"

namespace {

using namespace mixcert;

Options one_thread(Method method = Method::Signature) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  return options;
}

/// Median time per input over several batches.
double time_per_input(const Network& network, Index inputs, Method method = Method::Signature) {
  const Matrix x = uniform_inputs(network.inputs(), inputs);
  certify(network, x.leftCols(2), one_thread(method));
  std::vector<double> times;
  for (const Result& result : certify(network, x, one_thread(method))) times.push_back(result.seconds);
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void against_monte_carlo() {
  std::printf("one input, N = 10, M = 5, certificate best, against 1e4 Monte Carlo samples\n");
  for (const std::vector<Index>& widths :
       {std::vector<Index>{1, 64, 1}, {784, 128, 10}, {784, 128, 128, 10}}) {
    const Network network = mean_field_network(widths, ActivationFunction::Relu);
    const double ours = time_per_input(network, 51);
    const double sampling = monte_carlo_seconds(network);
    std::printf("  [%s] %.3f ms, Monte Carlo %.1f ms, ratio 1/%.0f\n", width_text(widths).c_str(), 1e3 * ours,
                1e3 * sampling, sampling / ours);
  }
}

/// Milliseconds of processor time per input of a batch, and of calls with one input.
void single_inputs() {
  std::printf("ms per call with one input: the first, the median of later ones, and per input of 300\n");
  for (const std::vector<Index>& widths :
       {std::vector<Index>{1, 64, 1}, {8, 128, 128, 1}, {784, 128, 128, 10}}) {
    for (const Method method : {Method::Moment, Method::Auto}) {
      const Network network = mean_field_network(widths, ActivationFunction::Relu);
      const Matrix x = uniform_inputs(network.inputs(), 300);
      std::vector<double> calls;
      for (Index i = 0; i < 52; ++i) {
        const double start = processor_seconds();
        (void)certify(network, x.col(i), one_thread(method));
        calls.push_back(1e3 * (processor_seconds() - start));
      }
      const double start = processor_seconds();
      certify(network, x, one_thread(method), [](Result&&) {});
      const double each = 1e3 * (processor_seconds() - start) / 300.0, first = calls.front();
      std::nth_element(calls.begin() + 1, calls.begin() + 26, calls.end());
      std::printf("  [%s] %s: %.2f, %.2f, %.2f, ratio %.2f\n", width_text(widths).c_str(),
                  method == Method::Auto ? "auto" : "moment", first, calls[26], each, calls[26] / each);
    }
  }
}

void growth_with_width() {
  std::printf("growth of the cost per input with the width, [784-n-n-10]\n");
  double previous = 0.0;
  for (Index n = 64; n <= 1024; n *= 2) {
    const double time = time_per_input(mean_field_network({784, n, n, 10}, ActivationFunction::Relu), 11);
    if (previous > 0.0) {
      std::printf("  n = %4lld: %.3f ms, exponent %.2f\n", static_cast<long long>(n), 1e3 * time,
                  std::log2(time / previous));
    } else {
      std::printf("  n = %4lld: %.3f ms\n", static_cast<long long>(n), 1e3 * time);
    }
    previous = time;
  }
}

void moment_method() {
  const Network small = mean_field_network({1, 64, 1}, ActivationFunction::Tanh);
  std::printf("moment method, one thread\n  [1-64-1] tanh: %.1f us per input\n",
              1e6 * time_per_input(small, 201, Method::Moment));
  const Network network = mean_field_network({784, 128, 128, 10}, ActivationFunction::Relu);
  const Matrix x = uniform_inputs(network.inputs(), 1000);
  unavoidable_products(network, x.leftCols(50));
  std::vector<double> ratios;
  for (int repeat = 0; repeat < 5; ++repeat) {
    double start = processor_seconds();
    const double sink = unavoidable_products(network, x);
    const double products = processor_seconds() - start + (std::isnan(sink) ? 1e9 : 0.0);
    start = processor_seconds();
    certify(network, x, one_thread(Method::Moment), [](Result&&) {});
    const double ours = processor_seconds() - start;
    std::printf("  1000 inputs of [784-128-128-10]: %.0f ms, products %.0f ms, ratio %.2f\n", 1e3 * ours,
                1e3 * products, ours / products);
    ratios.push_back(ours / products);
  }
  std::nth_element(ratios.begin(), ratios.begin() + 2, ratios.end());
  std::printf("  median ratio %.2f\n", ratios[2]);
  std::printf("  1024^3 matrix product: %.1f GFLOP/s\n", matrix_product_speed());
}

/// M a, V a^2 and M b of all layers, as many columns at a time as the simulation takes.
double products_of_draws(const CoupledChain& chain, Index draws) {
  constexpr Index kColumns = 128;
  double sink = 0.0;
  for (Index first = 0; first < draws; first += kColumns) {
    for (const CoupledStep& step : chain.steps) {
      const Matrix a = Matrix::Constant(step.next->inputs(), kColumns, 0.5), b = 2.0 * a;
      const Matrix mean = step.next->weight_mean() * a, other = step.next->weight_mean() * b;
      const Matrix variance = step.variances * a;
      sink += mean(0, 0) + other(0, 0) + variance(0, 0);
    }
  }
  return sink;
}

void simulated_draws() {
  std::printf("draws of a certificate by simulation, [784, 128 x K, 10], one thread\n");
  constexpr Index kDraws = 25600;
  for (const Index depth : {Index{2}, Index{4}}) {
    std::vector<Index> widths(static_cast<std::size_t>(depth + 2), 128);
    widths.front() = 784;
    widths.back() = 10;
    const Network network = mean_field_network(widths, ActivationFunction::Relu);
    const auto trace = propagate_moments(network, uniform_inputs(784, 1).col(0),
                                         [](Index, const GaussianMixture&) { return MomentChoices{}; }, {});
    const CoupledChain chain(network, *trace);
    std::vector<double> shares;
    for (int repeat = 0; repeat < 5; ++repeat) {
      double start = processor_seconds();
      const double sink = products_of_draws(chain, kDraws);
      const double products = processor_seconds() - start + (std::isnan(sink) ? 1e9 : 0.0);
      start = processor_seconds();
      draw_costs(chain, {1, DrawUse::Main, 0, kDraws}, 1, nullptr);
      shares.push_back(products / (processor_seconds() - start));
    }
    std::nth_element(shares.begin(), shares.begin() + 2, shares.end());
    std::printf("  K = %lld: the products are %.0f %% of the draws' time\n", static_cast<long long>(depth),
                100.0 * shares[2]);
  }
}

void memory_while_streaming(const std::filesystem::path& directory) {
  std::printf("peak memory while results stream to disk, [16-32-10], one thread\n");
  const Network network = mean_field_network({16, 32, 10}, ActivationFunction::Relu);
  for (const Index count : {Index{1000}, Index{3000}, Index{10000}}) {
    const Matrix x = uniform_inputs(network.inputs(), count);
    ResultWriter writer(directory / "stream.npz", directory / "stream.json", RunRecord{});
    certify(network, x, one_thread(), [&](Result&& result) { writer.add(result); });
    writer.finish();
    std::printf("  %5lld inputs: peak %.1f MiB, file %.1f MiB\n", static_cast<long long>(count),
                peak_memory_in_mib(),
                static_cast<double>(std::filesystem::file_size(directory / "stream.npz")) / 0x1.0p20);
  }
  std::filesystem::remove(directory / "stream.npz");
  std::filesystem::remove(directory / "stream.json");
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path directory = argc > 1 ? argv[1] : std::filesystem::temp_directory_path();
  const std::string part = argc > 2 ? argv[2] : "";
  if (part.empty() || part == "streaming") memory_while_streaming(directory);
  if (part.empty() || part == "moments") moment_method();
  if (part.empty() || part == "draws") simulated_draws();
  if (part.empty() || part == "sampling") against_monte_carlo();
  if (part.empty() || part == "single") single_inputs();
  if (part.empty() || part == "width") growth_with_width();
}

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The ratios that the documentation quotes, measured in one run on one thread:
//   - one input against 1e4 Monte Carlo samples by local reparametrisation,
//   - growth of the cost per input with the width,
//   - the moment method for a batch against the matrix products it cannot avoid,
//   - speed and memory of the moment method over ten thousand inputs, by threads and blocks,
//   - peak memory while results of growing numbers of inputs stream to disk.
//     ratios [DIRECTORY for the streamed file [PART: streaming, moments, many, sampling or width]]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <variant>

#include "bench_networks.h"
#include "mixcert/io/result_file.h"
#include "mixcert/propagate/certify.h"
#include "mixcert/simulate/simulate.h"

namespace {

using namespace mixcert;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Processor time of this thread: ratios then hold on a machine that others use too.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Options one_thread(Method method = Method::Signature) {
  Options options;
  options.method = method;
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

double monte_carlo_time(const Network& network) {
  const Matrix x = uniform_inputs(network.inputs(), 1);
  SimulationOptions options;
  options.threads = 1;
  std::vector<double> times;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    const Matrix samples = simulate(network, x.col(0), 0, options);
    times.push_back(seconds_since(start) + (samples.hasNaN() ? 1e9 : 0.0));
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

void against_monte_carlo() {
  std::printf("one input, N = 10, M = 5, certificate best, against 1e4 Monte Carlo samples\n");
  for (const std::vector<Index>& widths :
       {std::vector<Index>{1, 64, 1}, {784, 128, 10}, {784, 128, 128, 10}}) {
    const Network network = mean_field_network(widths, ActivationFunction::Relu);
    const double ours = time_per_input(network, 51);
    const double sampling = monte_carlo_time(network);
    std::printf("  [");
    for (std::size_t i = 0; i < widths.size(); ++i) {
      std::printf("%s%lld", i == 0 ? "" : "-", static_cast<long long>(widths[i]));
    }
    std::printf("] %.3f ms, Monte Carlo %.1f ms, ratio 1/%.0f\n", 1e3 * ours, 1e3 * sampling,
                sampling / ours);
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

/// The products of the moment method at a batch of inputs of a network with two hidden layers: means and
/// variances of all layers for the whole batch; for each input the covariance of the second hidden layer, its
/// image at the output, and the two quadratic forms of Var S (H.2) there. Returns a number that depends on
/// all of them.
double unavoidable_products(const Network& network, const Matrix& x) {
  double sink = 0.0;
  Matrix activations = x;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const Matrix& m = network.layer(k).weight_mean();
    const Matrix& v = std::get<MeanFieldWeights>(network.layer(k).weights()).variance;
    Matrix means = m * activations;
    const Matrix variances = v * activations.cwiseAbs2();
    sink += means(0, 0) + variances(0, 0);
    activations = std::move(means);
  }
  const Matrix& first = network.layer(1).weight_mean();
  const Matrix& last = network.layer(2).weight_mean();
  Matrix covariance(first.rows(), first.rows());
  for (Index i = 0; i < x.cols(); ++i) {
    const Matrix factor = first * (1.0 + 1e-3 * static_cast<double>(i));
    covariance.setZero();
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(factor);
    const Matrix image = last * covariance;
    const Matrix output = image * last.transpose();
    const Matrix linear = last * covariance;
    const Matrix quadratic = last * covariance;
    sink += output(0, 0) + linear(0, 0) + quadratic(1, 1);
  }
  return sink;
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

long peak_memory_in_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Many inputs by the moment method: speed with one and two threads and for blocks of several sizes, and peak
/// memory, which the inputs are part of from the start. Processor time says what two threads cost each other
/// where the machine is not idle.
void many_inputs() {
  const Network network = mean_field_network({784, 128, 128, 10}, ActivationFunction::Relu);
  const Matrix x = uniform_inputs(network.inputs(), 10000);
  std::printf("moment method, [784-128-128-10]\n");
  for (const int threads : {1, 2}) {
    Options options = one_thread(Method::Moment);
    options.threads = threads;
    for (const Index count : {Index{1000}, Index{10000}}) {
      const auto start = std::chrono::steady_clock::now();
      const std::clock_t busy = std::clock();
      certify(network, x.leftCols(count), options, [](Result&&) {});
      const double processor = static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC;
      std::printf(
          "  %5lld inputs, threads %d: %.0f inputs per second, %.0f us of a processor each, peak %.1f MiB\n",
          static_cast<long long>(count), threads, static_cast<double>(count) / seconds_since(start),
          1e6 * processor / static_cast<double>(count), static_cast<double>(peak_memory_in_kib()) / 1024.0);
    }
  }
  for (const Index block : {Index{1}, Index{2}, Index{4}, Index{8}, Index{16}, Index{64}}) {
    Options options = one_thread(Method::Moment);
    options.block = block;
    const double start = processor_seconds();
    certify(network, x.leftCols(1000), options, [](Result&&) {});
    std::printf("  blocks of %2lld: %.0f us per input\n", static_cast<long long>(block),
                1e3 * (processor_seconds() - start));
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
                static_cast<double>(peak_memory_in_kib()) / 1024.0,
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
  if (part.empty() || part == "many") many_inputs();
  if (part.empty() || part == "sampling") against_monte_carlo();
  if (part.empty() || part == "width") growth_with_width();
}

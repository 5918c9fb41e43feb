// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Tables of the performance page (scripts/measure_performance): inputs per second of the moment method
// against width, depth, outputs, pieces and threads, and of the signature method against components, each
// beside the matrix products that cannot be avoided and 1e4 Monte Carlo samples of the same network, in the
// same run.
//     performance [--quick | --write DIRECTORY INPUTS]
// --write puts the network of the many-process table and its inputs into a folder instead.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bench_networks.h"
#include "io/formats/npy.h"
#include "measures.h"
#include "mixcert/certify/certify.h"
#include "mixcert/io/model_file.h"

namespace {

using namespace mixcert;
using Widths = std::vector<Index>;

struct Effort {
  double seconds = 1.0;  ///< each time is measured over about this long
  Index samples = 10000;
  int repeats = 5;
};

double batch_seconds(const Network& network, const Options& options, Index count) {
  const Matrix x = uniform_inputs(network.inputs(), count);
  const double start = processor_seconds();
  certify(network, x, options, [](Result&&) {});
  return processor_seconds() - start;
}

/// Seconds per input, by processor time, without what is done once for a network: the difference of two
/// batches, of as many inputs as fill the time and of eight.
double certify_seconds(const Network& network, const Options& options, const Effort& effort) {
  constexpr Index kFew = 8;
  const double few = batch_seconds(network, options, kFew);
  const auto count = static_cast<Index>(std::clamp(effort.seconds * kFew / few, 4.0 * kFew, 4000.0));
  return (batch_seconds(network, options, count) - few) / static_cast<double>(count - kFew);
}

double product_seconds(const Network& network, const Effort& effort) {
  const Matrix x = uniform_inputs(network.inputs(), 64);
  Index batches = 0;
  double sink = unavoidable_products(network, x);
  const double start = processor_seconds();
  do {
    sink += unavoidable_products(network, x);
    ++batches;
  } while (processor_seconds() - start < effort.seconds / 4.0);
  return (processor_seconds() - start + (sink == 0.0 ? 1e9 : 0.0)) / static_cast<double>(64 * batches);
}

Options one_thread(Method method) {
  Options options;
  options.method = method;
  if (method == Method::Moment) options.theorems = TheoremSet::Coupling;
  options.threads = 1;
  return options;
}

void table_head(const std::string& title, const char* first, const Effort& effort) {
  std::printf("## %s\n\n| %s | inputs per second | unavoidable products, per second | ours / products | ",
              title.c_str(), first);
  std::printf("%lld samples, per second | samples / ours |\n| --- | ---: | ---: | ---: | ---: | ---: |\n",
              static_cast<long long>(effort.samples));
}

/// Decimals to print.
int digits(double number) { return number < 10.0 ? 2 : 0; }

void table_row(const std::string& name, const Widths& widths, const Options& options, const Effort& effort) {
  const Network network = mean_field_network(widths, ActivationFunction::Relu);
  const double ours = certify_seconds(network, options, effort);
  const double products = product_seconds(network, effort);
  const double sampling = monte_carlo_seconds(network, effort.samples, effort.repeats);
  std::printf("| %s | %.*f | %.0f | %.*f | %.1f | %.*f |\n", name.c_str(), digits(1.0 / ours), 1.0 / ours,
              1.0 / products, digits(ours / products), ours / products, 1.0 / sampling,
              digits(sampling / ours), sampling / ours);
  std::fflush(stdout);
}

void shapes(const std::vector<Widths>& all, const char* title, const Effort& effort) {
  table_head(title, "network", effort);
  for (const Widths& widths : all)
    table_row("[" + width_text(widths) + "]", widths, one_thread(Method::Moment), effort);
  std::printf("\n");
}

void pieces_and_components(const Widths& widths, const Effort& effort) {
  table_head("Components, [" + width_text(widths) + "]", "method", effort);
  for (const Index pieces : {1, 2, 4, 16}) {
    Options options = one_thread(Method::Moment);
    options.pieces = pieces;
    table_row("moment, --pieces " + std::to_string(pieces), widths, options, effort);
  }
  for (const Index components : {1, 5, 20}) {
    Options options = one_thread(Method::Signature);
    options.components = components;
    table_row("signature, --components " + std::to_string(components), widths, options, effort);
  }
  table_row("auto", widths, one_thread(Method::Auto), effort);
  std::printf("\n");
}

/// By the clock, since threads share the work; so the machine has to be idle.
void threads(const Widths& widths, Index count) {
  std::printf(
      "## Threads, %lld inputs of [%s], by the clock\n\n| threads | inputs per second | efficiency | peak "
      "memory "
      "of the process |\n| ---: | ---: | ---: | ---: |\n",
      static_cast<long long>(count), width_text(widths).c_str());
  const Network network = mean_field_network(widths, ActivationFunction::Relu);
  const Matrix x = uniform_inputs(network.inputs(), count);
  double alone = 0.0;
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  for (int used = 1; used <= processors; used *= 2) {
    Options options = one_thread(Method::Moment);
    options.threads = used;
    const auto start = std::chrono::steady_clock::now();
    certify(network, x, options, [](Result&&) {});
    const double rate = static_cast<double>(count) /
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (used == 1) alone = rate;
    std::printf("| %d | %.0f | %.0f %% | %.1f MiB |\n", used, rate, 100.0 * rate / (alone * used),
                peak_memory_in_mib());
  }
  std::printf("\n");
}

void all_tables(const Effort& effort, Index scale, Index inputs) {
  const Index n = scale;
  threads({784, n, n, 10}, inputs);  // first: peak memory never falls again
  shapes({{784, n / 4, n / 4, 10},
          {784, n / 2, n / 2, 10},
          {784, n, n, 10},
          {784, 2 * n, 2 * n, 10},
          {784, 4 * n, 4 * n, 10}},
         "Width", effort);
  shapes({{784, n, 10}, {784, n, n, 10}, {784, n, n, n, 10}, {784, n, n, n, n, 10}}, "Depth", effort);
  shapes({{784, n, n, 1}, {784, n, n, 10}, {784, n, n, 100}}, "Outputs", effort);
  shapes({{1, 64, 1}, {8, n, n, 1}, {4096, n, 10}}, "Inputs of the network", effort);
  pieces_and_components({784, n, n, 10}, effort);
  std::printf("A product of 1024 x 1024 matrices ran at %.1f GFLOP/s on one thread.\n",
              matrix_product_speed());
}

void write_model(const std::filesystem::path& directory, Index count) {
  const Network network = mean_field_network({784, 128, 128, 10}, ActivationFunction::Relu);
  save_network(directory / "network.safetensors", network);
  const Matrix x = uniform_inputs(network.inputs(), count);
  write_npy(directory / "inputs.npy", to_array(x.transpose()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--write") == 0) {
    write_model(argv[2], std::stol(argv[3]));
  } else if (argc == 2 && std::strcmp(argv[1], "--quick") == 0) {
    all_tables({0.01, 100, 1}, 16, 50);
  } else if (argc == 1) {
    all_tables({}, 128, 10000);
  } else {
    std::fprintf(stderr, "usage: performance [--quick | --write DIRECTORY INPUTS]\n");
    return 2;
  }
}

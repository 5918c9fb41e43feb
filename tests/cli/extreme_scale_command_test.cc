// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The program on networks of extreme scale: files hold finite numbers only, or there are none and one line
// says why; and no answer excludes what samples in long double say.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "certify/scale_reference.h"
#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace extreme_scale_command_test {

using nlohmann::json;
using Words = std::vector<std::string>;
using F = ActivationFunction;

/// Layer `layer` of a small network multiplied by `scale`.
Network with_large_layer(Index layer, double scale, F function) {
  const Network small = small_network({3, 4, 3, 2});
  std::vector<DenseLayer> layers;
  std::vector<ActivationMap> activations;
  for (Index k = 0; k < small.layer_count(); ++k) {
    const DenseLayer& old = small.layer(k);
    const double factor = k == layer ? scale : 1.0;
    const Matrix deviation = std::get<MeanFieldWeights>(old.weights()).variance.cwiseSqrt();
    // Above 1e154 a variance is no double: the layer is fixed then.
    WeightCovariance weights = DeterministicWeights{};
    if (factor < 1e153) weights = MeanFieldWeights{(factor * deviation).cwiseAbs2()};
    layers.emplace_back(old.name(), factor * old.weight_mean(), old.bias_mean(), weights, old.bias());
    activations.emplace_back(Activation(k == 0 ? F::Identity : function));
  }
  return {layers, activations};
}

/// A random layer of a small scale before a fixed factor that undoes it: the law is ordinary, and far from a
/// Gaussian.
Network behind_small_noise(F function, double scale) {
  const auto layer = [](const char* name, double mean, double variance) {
    return DenseLayer(name, Matrix::Constant(1, 1, mean), Vector::Zero(1),
                      MeanFieldWeights{Matrix::Constant(1, 1, variance)}, DeterministicBias{});
  };
  return {{layer("0", 0.5, 1.0), layer("1", 0.5 * scale, scale * scale), layer("2", 1.0 / scale, 0.0)},
          {Activation(), Activation(function), Activation()}};
}

/// No null, NaN or infinity where a number belongs.
bool all_finite(const json& value) {
  if (value.is_null()) return false;
  if (value.is_number()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  return std::all_of(value.begin(), value.end(), [](const json& part) { return all_finite(part); });
}

class ExtremeScaleCommand : public CommandLineTest {
 protected:
  ExtremeScaleCommand() { write_inputs(directory_ / "x.csv", 2, 3); }

  /// Finite files or a refusal; `word` is what the run is about.
  void expect_finite_or_refused(const Words& options, const std::string& word) const {
    SCOPED_TRACE(word);
    const auto before = snapshot(directory_ / ".");
    Words words = {"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz", "--json", "r.json"};
    words.insert(words.end(), options.begin(), options.end());
    const Finished finished = run(words);
    if (finished.exit_code != 0) {
      EXPECT_EQ(finished.exit_code, 2);
      EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
      EXPECT_EQ(finished.err.rfind("mixcert: ", 0), 0U) << finished.err;
      EXPECT_TRUE(snapshot(directory_ / ".") == before) << "files were changed or left behind";
      return;
    }
    for (const char* name : {"weights", "means", "covariances", "w2_bound", "w1_bound"}) {
      const Array array = read_npz(directory_ / "r.npz").at(name);
      EXPECT_TRUE(std::all_of(array.values.begin(), array.values.end(), [](double x) {
        return std::isfinite(x);
      })) << name;
    }
    const json written = json::parse(read_text(directory_ / "r.json"));
    for (const json& result : written["results"]) {
      EXPECT_TRUE(all_finite(result["w2_bound"]) && all_finite(result["w1_bound"])) << result;
    }
    std::filesystem::remove(directory_ / "r.npz");
    std::filesystem::remove(directory_ / "r.json");
  }

  /// The range that `mixcert answer` proves for P(y0 > threshold); the whole of [0, 1] where the network is
  /// refused.
  [[nodiscard]] std::pair<double, double> proven_range(const std::string& threshold) const {
    const Finished certified = run({"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"});
    if (certified.exit_code == 2) return {0.0, 1.0};
    EXPECT_EQ(certified.exit_code, 0);
    const Finished answered =
        run({"answer", "r.npz", "--probability", "y0 > " + threshold, "--json", "a.json"});
    if (answered.exit_code == 2) return {0.0, 1.0};
    const json range =
        json::parse(read_text(directory_ / "a.json"))["results"][0]["probabilities"][0]["probability"];
    return {range["lower"].get<double>(), range["upper"].get<double>()};
  }
};

TEST_F(ExtremeScaleCommand, FilesAreFiniteOrThereAreNone) {
  for (const F function : {F::Relu, F::Tanh}) {
    for (const double scale : {1e75, 1e100, 1e152, 1e200, 1e300}) {
      for (Index layer = 0; layer < 3; ++layer) {
        save_network(directory_ / "net.safetensors", with_large_layer(layer, scale, function));
        for (const char* method : {"auto", "moment", "signature"}) {
          expect_finite_or_refused({"--method", method}, std::string(method) + ", " +
                                                             std::string(to_string(function)) + ", layer " +
                                                             std::to_string(layer) + " times 1e" +
                                                             std::to_string(std::lround(std::log10(scale))));
        }
      }
    }
  }
}

TEST_F(ExtremeScaleCommand, InputsOfEveryScale) {
  save_network(directory_ / "net.safetensors", small_network({3, 4, 3, 2}));
  for (const char* input : {"1e80,1,1", "1e160,1e160,1", "-1e300,1e300,1e-300", "1e-170,1e-170,1e-170"}) {
    std::ofstream(directory_ / "x.csv") << "a,b,c\n" << input << "\n";
    for (const char* method : {"auto", "moment", "signature"}) {
      expect_finite_or_refused({"--method", method}, std::string(method) + ", " + input);
      expect_finite_or_refused({"--method", method, "--joint"}, std::string(method) + ", jointly, " + input);
    }
  }
}

TEST_F(ExtremeScaleCommand, AnswersHoldWhatSamplesSay) {
  std::ofstream(directory_ / "x.csv") << "a\n1\n";
  for (const F function : {F::Identity, F::Relu, F::Tanh}) {
    const Network network = behind_small_noise(function, 1e-84);
    save_network(directory_ / "net.safetensors", network);
    const mixcert::testing::WideVector drawn =
        mixcert::testing::wide_samples(network, Matrix::Constant(1, 1, 1.0), 200000, 5).front();
    for (const double threshold : {-0.7, 0.1, 0.3, 1.0, 2.5}) {
      const auto above =
          std::count_if(drawn.begin(), drawn.end(), [&](long double y) { return y > threshold; });
      const double truth = static_cast<double>(above) / static_cast<double>(drawn.size());
      // Five standard errors.
      const double noise = 2.5 / std::sqrt(static_cast<double>(drawn.size()));
      const auto [lower, upper] = proven_range(std::to_string(threshold));
      EXPECT_LE(lower, truth + noise) << to_string(function) << ", y0 > " << threshold;
      EXPECT_GE(upper, truth - noise) << to_string(function) << ", y0 > " << threshold;
    }
  }
}

}  // namespace extreme_scale_command_test
}  // namespace mixcert::test

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Weights as other libraries save them. For every convention a dictionary with its exact keys: standard
// deviations are those of the library's own formula, written out here, and the first two moments of the
// imported network at an input are those of samples whose weights are drawn one by one from that formula.
#include <Eigen/LU>
#include <cmath>

#include "io/import_support.h"
#include "io/test_files.h"

namespace mixcert {
namespace import_test {

using namespace test;

/// Libraries with one module per layer.
struct ModuleCase {
  std::string library;
  std::string keys[4];  ///< weight mean, weight scale, bias mean, bias scale
  std::vector<std::string> extra;
  bool exponential = false;
};

class Modules : public ::testing::TestWithParam<ModuleCase> {};

TEST_P(Modules, KeysAndFormula) {
  const ModuleCase& c = GetParam();
  Numbers numbers;
  Truth truth;
  NamedArrays arrays;
  arrays.keeps_order = true;
  for (const int k : {0, 1}) {
    const RawLayer raw = raw_layer(numbers, k, -1.5, 0.7);
    set_truth(truth, k, raw, [&](double s) { return c.exponential ? std::exp(s) : log1p_exp(s); });
    const std::string prefix = k == 0 ? "state_dict.hidden." : "state_dict.final.";
    for (const std::string& key : c.extra)
      arrays.entries.emplace_back(prefix + key, numbers.array({5}, 0, 1));
    const Array* values[] = {&raw.weight, &raw.weight_scale, &raw.bias, &raw.bias_scale};
    for (int i = 0; i < 4; ++i) arrays.entries.emplace_back(prefix + c.keys[i], *values[i]);
  }
  arrays.entries.emplace_back("epoch", Array{{}, {3.0}});
  check(truth, arrays, {c.library, ""});
  // The same layers named in a list, the order of the dictionary lost.
  arrays.keeps_order = false;
  check(truth, arrays,
        {c.library,
         R"([{"type":"dense","name":"hidden","in":3,"out":4},{"type":"activation","function":"relu"},)"
         R"({"type":"dense","name":"final","in":4,"out":2}])"});
  ImportOptions ordered{c.library, kWidths};
  EXPECT_CONTAINS(message_of<FileError>([&] { import_weights(arrays, ordered); }), "--layers");
  ordered.layers = {"hidden", "final"};
  check(truth, arrays, ordered);
  arrays.entries.emplace_back("state_dict.hidden.other", numbers.array({5}, 0, 1));
  EXPECT_CONTAINS(message_of<FileError>([&] { import_weights(arrays, ordered); }),
                  "'state_dict.hidden.other'");
}

INSTANTIATE_TEST_SUITE_P(
    All, Modules,
    ::testing::Values(
        ModuleCase{"bayesian-torch",
                   {"mu_weight", "rho_weight", "mu_bias", "rho_bias"},
                   {"eps_weight", "prior_weight_mu", "prior_weight_sigma", "prior_bias_mu"}},
        ModuleCase{"bayesian-torch", {"mu_kernel", "rho_kernel", "mu_bias", "rho_bias"}, {"eps_kernel"}},
        ModuleCase{"blitz",
                   {"weight_sampler.mu", "weight_sampler.rho", "bias_sampler.mu", "bias_sampler.rho"},
                   {"weight_mu", "weight_rho", "bias_mu", "bias_rho", "weight_sampler.eps_w"}},
        ModuleCase{"torchbnn",
                   {"weight_mu", "weight_log_sigma", "bias_mu", "bias_log_sigma"},
                   {"weight_eps", "bias_eps"},
                   true},
        ModuleCase{"bayesian-cnn", {"W_mu", "W_rho", "bias_mu", "bias_rho"}, {}},
        ModuleCase{
            "torch-uncertainty",
            {"weight_mu", "weight_sigma", "bias_mu", "bias_sigma"},
            {"weight_sampler.mu", "weight_sampler.rho", "weight_prior_dist.pi", "bias_prior_dist.sigmas"}}));

TEST(Import, PyroNormal) {
  Numbers numbers;
  Truth truth;
  NamedArrays arrays;
  for (const int k : {0, 1}) {
    const RawLayer raw = raw_layer(numbers, k, -1.0, 0.5);
    set_truth(truth, k, raw, log1p_exp);
    const std::string site = "fc" + std::to_string(k + 9);  // fc9 before fc10
    arrays.entries.emplace_back("locs." + site + ".weight", raw.weight);
    arrays.entries.emplace_back("locs." + site + ".bias", raw.bias);
    arrays.entries.emplace_back("scales." + site + ".weight_unconstrained", raw.weight_scale);
    arrays.entries.emplace_back("scales." + site + ".bias_unconstrained", raw.bias_scale);
  }
  check(truth, arrays, {"pyro", ""});
  arrays.entries[2].first = "scales.fc9.weight";
  EXPECT_CONTAINS(message_of<FileError>([&] { import_weights(arrays, {"pyro", kWidths}); }), "--scales");
}

TEST(Import, NumpyroKernelsAreTransposed) {
  Numbers numbers;
  Truth truth;
  NamedArrays arrays;
  for (const int k : {0, 1}) {
    const RawLayer raw = raw_layer(numbers, k, 0.3, 0.2);
    set_truth(truth, k, raw, [](double s) { return s; });
    const std::string site = "nn/Dense_" + std::to_string(k);
    for (const auto& [key, array] :
         {std::pair{".kernel_auto_loc", &raw.weight}, std::pair{".kernel_auto_scale", &raw.weight_scale}}) {
      arrays.entries.emplace_back(site + key, to_array(matrix(*array).transpose()));
    }
    arrays.entries.emplace_back(site + ".bias_auto_loc", raw.bias);
    arrays.entries.emplace_back(site + ".bias_auto_scale", raw.bias_scale);
  }
  check(truth, arrays, {"numpyro", ""});
  for (auto& [key, array] : arrays.entries) {  // sites w0, b0, ... of a model written by hand
    const std::string ending = key.substr(key.rfind("_auto"));
    key = (key.find("kernel") != std::string::npos ? "w" : "b") + std::string(1, key[9]) + ending;
  }
  check(truth, arrays, {"numpyro", ""});
}

/// All parameters one after the other: weights and bias of the first layer, then of the second.
Array flattened(const std::vector<const Array*>& parts) {
  Array all{{0}, {}};
  for (const Array* part : parts)
    all.values.insert(all.values.end(), part->values.begin(), part->values.end());
  all.shape[0] = all.size();
  return all;
}

class Flat : public ::testing::Test {
 protected:
  void make(double centre, double spread, const std::function<double(double)>& formula) {
    for (const int k : {0, 1}) {
      raw_[k] = raw_layer(numbers_, k, centre, spread);
      set_truth(truth_, k, raw_[k], formula);
    }
    mean_ = flattened({&raw_[0].weight, &raw_[0].bias, &raw_[1].weight, &raw_[1].bias});
    scale_ =
        flattened({&raw_[0].weight_scale, &raw_[0].bias_scale, &raw_[1].weight_scale, &raw_[1].bias_scale});
  }

  Numbers numbers_;
  RawLayer raw_[2];
  Truth truth_;
  Array mean_, scale_;
};

TEST_F(Flat, PyroDiagonal) {
  make(-1.0, 0.5, log1p_exp);
  const NamedArrays arrays{{{"loc", mean_}, {"scale_unconstrained", scale_}}, false};
  check(truth_, arrays, {"pyro-diagonal", ""});
  EXPECT_CONTAINS(message_of<FileError>([&] {
                    import_weights(arrays, {"pyro-diagonal", "3-4-3"});
                  }),
                  "key 'loc': expected 31 values (24 without biases), got 26");
}

TEST_F(Flat, Vogn) {
  make(12.0, 6.0, [](double precision) { return 1.0 / std::sqrt(precision); });
  check(truth_, {{{"state.mu", mean_}, {"state.Precision", scale_}}, true}, {"vogn", ""});
}

TEST_F(Flat, Ivon) {
  make(0.4, 0.3, [](double h) { return 1.0 / std::sqrt(50.0 * (h + 0.01)); });
  const NamedArrays arrays{{{"model.0.weight", raw_[0].weight},
                            {"model.0.bias", raw_[0].bias},
                            {"model.2.weight", raw_[1].weight},
                            {"model.2.bias", raw_[1].bias},
                            {"optimizer.param_groups.0.hess", scale_},
                            {"optimizer.param_groups.0.momentum", scale_},
                            {"optimizer.param_groups.0.ess", {{}, {50.0}}},
                            {"optimizer.param_groups.0.weight_decay", {{}, {0.01}}}},
                           true};
  check(truth_, arrays, {"ivon", ""});
}

TEST_F(Flat, LaplaceDiagonal) {
  // precision = H / (noise^2 T) + prior, prior 2 for all tensors but the last bias.
  make(12.0, 6.0, [](double h) { return 1.0 / std::sqrt(h / (0.25 * 2.0) + 2.0); });
  truth_.bias_deviation[1] =
      vector(raw_[1].bias_scale).unaryExpr([](double h) { return 1.0 / std::sqrt(h / 0.5 + 3.0); });
  const NamedArrays arrays{{{"mean", mean_},
                            {"H", scale_},
                            {"loss", {{}, {1.0}}},
                            {"prior_mean", {{}, {0.0}}},
                            {"prior_precision", {{4}, {2, 2, 2, 3}}},
                            {"sigma_noise", {{}, {0.5}}},
                            {"temperature", {{}, {2.0}}}},
                           true};
  check(truth_, arrays, {"laplace", ""});
}

/// A random positive definite matrix.
Matrix positive(Numbers& numbers, Index size) {
  const Matrix root = matrix(numbers.array({size, size}, 0.0, 1.0));
  return root * root.transpose() + Matrix::Identity(size, size);
}

TEST_F(Flat, LaplaceFullIsProjectedOnlyWhenAsked) {
  make(1.0, 0.0, [](double) { return 1.0; });
  const Matrix hessian = positive(numbers_, 26);
  const NamedArrays arrays{{{"mean", mean_},
                            {"H", to_array(hessian)},
                            {"prior_precision", {{1}, {0.5}}},
                            {"sigma_noise", {{}, {1.0}}},
                            {"temperature", {{}, {1.0}}}},
                           true};
  ImportOptions options{"laplace", kWidths};
  const Matrix covariance = Matrix(hessian + 0.5 * Matrix::Identity(26, 26)).inverse();
  const ImportedModel whole = import_weights(arrays, options);
  EXPECT_TRUE(whole.assumptions.empty());
  const auto factor_of = [&](int k) {
    return std::get<LowRankWeights>(std::get<DenseSpec>(whole.layers[k].variant()).layer.weights());
  };
  const LowRankWeights first = factor_of(0), second = factor_of(2);
  EXPECT_TRUE(first.is_common && second.is_common);
  // Entry (1, 2) of the first weights, flat index 5, with row 1 of the last layer: weight 2 and the bias.
  double with_weight = 0.0, with_bias = 0.0;
  for (std::size_t s = 0; s < first.factor.size(); ++s) {
    with_weight += first.factor[s](1, 2) * second.factor[s](1, 2);
    with_bias += first.factor[s](1, 2) * second.bias_factor(1, static_cast<Index>(s));
  }
  EXPECT_NEAR(with_weight, covariance(5, 16 + 4 + 2), 1e-10);
  EXPECT_NEAR(with_bias, covariance(5, 16 + 8 + 1), 1e-10);
  options.project_per_layer = true;
  const ImportedModel model = import_weights(arrays, options);
  ASSERT_EQ(model.assumptions.size(), 1U);
  EXPECT_CONTAINS(model.assumptions[0], "correlations across layers are left out");
  const DenseLayer& last = std::get<DenseSpec>(model.layers[2].variant()).layer;
  const Matrix& joint = std::get<JointWeights>(last.weights()).covariance;
  // Row 1 of the last layer: weights at 16 + 4 + j, bias at 16 + 8 + 1; joint order i * 5 + j.
  EXPECT_NEAR(joint(5 + 2, 3), covariance(16 + 4 + 2, 16 + 3), 1e-10);
  EXPECT_NEAR(joint(5 + 4, 1), covariance(16 + 8 + 1, 16 + 1), 1e-10);
}

TEST_F(Flat, LaplaceKronecker) {
  make(1.0, 0.0, [](double) { return 1.0; });
  const Matrix rows = positive(numbers_, kHidden);
  const Matrix columns = positive(numbers_, kIn);
  const Matrix bias = positive(numbers_, kHidden);
  const NamedArrays arrays{{{"mean", mean_},
                            {"H.0.0", to_array(rows)},
                            {"H.0.1", to_array(columns)},
                            {"H.1.0", to_array(bias)},
                            {"H.2.0", to_array(positive(numbers_, kOut))},
                            {"H.2.1", to_array(positive(numbers_, kHidden))},
                            {"H.3.0", to_array(positive(numbers_, kOut))},
                            {"prior_precision", {{1}, {0.5}}},
                            {"sigma_noise", {{}, {0.5}}},
                            {"temperature", {{}, {1.0}}}},
                           true};
  const ImportedModel model = import_weights(arrays, {"laplace", kWidths});
  const DenseLayer& layer = std::get<DenseSpec>(model.layers[0].variant()).layer;
  const auto& law = std::get<KroneckerEigenbasisWeights>(layer.weights());
  // Cov(W_ij, W_kl) against the inverse of 4 rows x columns + prior, written out.
  Matrix precision = 0.5 * Matrix::Identity(12, 12);
  for (Index a = 0; a < 12; ++a) {
    for (Index b = 0; b < 12; ++b) precision(a, b) += 4.0 * rows(a / 3, b / 3) * columns(a % 3, b % 3);
  }
  const Matrix covariance = precision.inverse();
  for (const auto& [a, b] : {std::pair{0, 0}, std::pair{1, 7}, std::pair{11, 4}}) {
    double sum = 0.0;
    for (Index s = 0; s < 4; ++s) {
      for (Index t = 0; t < 3; ++t)
        sum += law.row_basis(a / 3, s) * law.column_basis(a % 3, t) * law.variance(s, t) *
               law.row_basis(b / 3, s) * law.column_basis(b % 3, t);
    }
    EXPECT_NEAR(sum, covariance(a, b), 1e-10);
  }
  const Matrix bias_covariance = Matrix(4.0 * bias + 0.5 * Matrix::Identity(4, 4)).inverse();
  EXPECT_LT((std::get<CorrelatedBias>(layer.bias()).covariance - bias_covariance).norm(), 1e-10);
}

class Swag : public Flat {
 protected:
  /// sq_mean such that sq_mean - mean^2 is the scale; the last weight's is clamped.
  NamedArrays dictionary() {
    make(0.4, 0.3, [](double variance) { return std::sqrt(variance); });
    NamedArrays arrays;
    arrays.keeps_order = true;
    arrays.entries.emplace_back("n_models", Array{{1}, {20.0}});
    for (const int k : {0, 1}) {
      const std::string prefix = k == 0 ? "base.fc1." : "base.fc2.";
      for (const auto& [name, mean, scale] : {std::tuple{"weight", &raw_[k].weight, &raw_[k].weight_scale},
                                              std::tuple{"bias", &raw_[k].bias, &raw_[k].bias_scale}}) {
        Array squares = *scale;
        for (std::size_t i = 0; i < squares.values.size(); ++i)
          squares.values[i] += mean->values[i] * mean->values[i];
        arrays.entries.emplace_back(prefix + name + "_mean", *mean);
        arrays.entries.emplace_back(prefix + name + "_sq_mean", squares);
      }
    }
    return arrays;
  }
};

TEST_F(Swag, Diagonal) {
  NamedArrays arrays = dictionary();
  check(truth_, arrays, {"swag", ""});
  arrays.entries[2].second.values[0] = 0.0;  // below the squared mean: clamped
  const ImportedModel model = import_weights(arrays, {"swag", kWidths});
  const auto& layer = std::get<DenseSpec>(model.layers[0].variant()).layer;
  EXPECT_NEAR(std::get<MeanFieldWeights>(layer.weights()).variance(0, 0), 1e-30, 1e-40);
}

TEST_F(Swag, LowRankIsCommonToLayersOrProjected) {
  NamedArrays arrays = dictionary();
  Array deviations;
  for (const int k : {0, 1}) {
    const std::string prefix = k == 0 ? "base.fc1." : "base.fc2.";
    deviations = numbers_.array({3, raw_[k].weight.size()}, 0.0, 1.0);
    arrays.entries.emplace_back(prefix + "weight_cov_mat_sqrt", deviations);
    arrays.entries.emplace_back(prefix + "bias_cov_mat_sqrt",
                                numbers_.array({3, raw_[k].bias.size()}, 0.0, 1.0));
  }
  ImportOptions options{"swag", kWidths};
  const ImportedModel whole = import_weights(arrays, options);
  EXPECT_TRUE(whole.assumptions.empty());
  EXPECT_EQ(common_factor_count(std::get<DenseSpec>(whole.layers[0].variant()).layer.weights()), 3);
  options.project_per_layer = true;
  const ImportedModel model = import_weights(arrays, options);
  ASSERT_EQ(model.assumptions.size(), 1U);
  const auto& law = std::get<LowRankWeights>(std::get<DenseSpec>(model.layers[2].variant()).layer.weights());
  // Half of diag + D' D / (3 - 1); entry (1, 2) is flat index 6.
  EXPECT_NEAR(law.variance(1, 2), 0.5 * raw_[1].weight_scale.values[6], 1e-12);
  EXPECT_NEAR(law.factor[2](1, 2), std::sqrt(0.25) * deviations.values[2 * 8 + 6], 1e-12);
  EXPECT_EQ(law.bias_factor.cols(), 3);
  EXPECT_FALSE(law.is_common);
}

TEST(Import, PlainConvolutionsAndBatchNorm) {
  Numbers numbers;
  const NamedArrays arrays{{{"conv.weight", numbers.array({2, 1, 3, 3}, 0, 1)},
                            {"conv.bias", numbers.array({2}, 0, 1)},
                            {"bn.weight", numbers.array({2}, 1, 0.1)},
                            {"bn.bias", numbers.array({2}, 0, 1)},
                            {"bn.running_mean", numbers.array({2}, 0, 1)},
                            {"bn.running_var", numbers.array({2}, 1, 0.1)},
                            {"bn.num_batches_tracked", {{}, {9}}},
                            {"out.weight", numbers.array({2, 8}, 0, 1)}},
                           true};
  const std::string architecture =
      R"([{"type":"conv2d","name":"conv","in":1,"out":2,"height":4,"width":4,"kernel":3},)"
      R"({"type":"batch_norm","name":"bn","features":2,"epsilon":1e-5},{"type":"flatten"},)"
      R"({"type":"dense","name":"out","in":8,"out":2}])";
  const ImportedModel model = import_weights(arrays, {"plain", architecture});
  ASSERT_EQ(model.layers.size(), 4U);
  const auto& conv = std::get<Conv2dSpec>(model.layers[0].variant());
  EXPECT_EQ(conv.kernel_mean, vector(arrays.entries[0].second));
  EXPECT_EQ(conv.kernel_variance.size(), 0);
  EXPECT_EQ(std::get<BatchNormSpec>(model.layers[1].variant()).running_variance,
            vector(arrays.entries[5].second));
}

TEST(Import, MistakesAreNamed) {
  Numbers numbers;
  NamedArrays arrays{{{"0.weight", numbers.array({4, 3}, 0, 1)}, {"0.bias", numbers.array({4}, 0, 1)}}, true};
  const auto refusal = [&](const ImportOptions& options) {
    return message_of<FileError>([&] { import_weights(arrays, options, "w.pt"); });
  };
  EXPECT_CONTAINS(refusal({"plain", "3-5"}), "w.pt: key '0.weight': expected shape [5, 3], got [4, 3]");
  EXPECT_CONTAINS(refusal({"plain", "3-4-2"}), "expected 1 layers ('0'), got 2");
  EXPECT_CONTAINS(refusal({"laplace", "3-4"}), "key 'mean': expected such a key, got none");
  EXPECT_CONTAINS(refusal({"plain", R"([{"type":"dense","name":"x","in":3,"out":4}])"}), "'x'");
  EXPECT_THROW(import_weights(arrays, {"keras", "3-4"}), InvalidArgument);
  EXPECT_THROW(import_weights(arrays, {"plain", "3-"}), FileError);
  arrays.entries[0].second.values[5] = std::nan("");
  EXPECT_CONTAINS(refusal({"plain", "3-4"}),
                  "key '0.weight': expected finite values, got nan at index [1, 2]");
}

}  // namespace import_test
}  // namespace mixcert

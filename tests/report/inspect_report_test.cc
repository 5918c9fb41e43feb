// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What `mixcert inspect` says of layers, canonical layers, masks and features in front.
#include <gtest/gtest.h>

#include "mixcert/network/network_builder.h"
#include "report/terminal/text_report.h"
#include "support/random_specs.h"

namespace mixcert {
namespace inspect_report_test {

DenseSpec dense(Index in, Index out, const std::string& name, const EntryLaw& law = {}) {
  return {{name, Matrix::Ones(out, in), Vector::Ones(out), MeanFieldWeights{Matrix::Ones(out, in), law},
           DeterministicBias{}}};
}

TEST(Inspect, NamesEveryLayerAndWhatItBecomes) {
  Generator generator = make_generator(2, Stream::Example);
  const LayerShape image{2, {4, 4}, true};
  Conv2dSpec random = testing::same_convolution(generator, image, true, "random");
  const std::vector<LayerSpec> layers = {
      testing::same_convolution(generator, image, false, "fixed"),
      testing::random_batch_norm(generator, 2),
      MaxPool2dSpec{{{3, 3}, {1, 1}, {1, 1}, {1, 1}}},
      random,
      ResidualSpec{{testing::activation_spec(ActivationFunction::Relu)}},
      AvgPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {1, 1}}},
      FlattenSpec{},
      DropoutSpec{0.25},
      MixtureSpec{{0.25, 0.75}, {dense(8, 3, "m0", EntryLaw(EntryLaw::Family::Laplace)), dense(8, 3, "m1")}}};
  const std::string text = inspect_text(layers, build_ensemble(layers));
  for (const char* part :
       {"on an input of 2 x 4 x 4", "conv2d 'fixed'", "deterministic, kernel 3, padding 1",
        "batch_norm 'norm'", "kernel 3, stride 1, padding 1", "mean-field, kernel 3, padding 1", "residual",
        "4.0", "activation", "2 x 2 x 2", "rate 0.25", "2 alternatives", "mean-field, laplace, weight 0.25",
        "an ensemble of 2 networks", "relu on 32 of 64", "bernoulli 0.25", "shared",
        "deterministic layers in front, evaluated at the input: 32 inputs to 32 features"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

/// A block with a layer in its skip: has no canonical form, so that asking for one throws.
Ensemble graph_ensemble() {
  return Ensemble(build_network({ResidualSpec{{dense(2, 2, "inner")}, {dense(2, 2, "skip")}},
                                 testing::activation_spec(ActivationFunction::Relu), dense(2, 1, "head")}));
}

Result plain_result() {
  Result result;
  result.mixture = GaussianMixture(Gaussian{Vector::Zero(1), Covariance::dense(Matrix::Ones(1, 1))});
  result.w2.value = 0.5;
  result.relative_w2 = 0.25;
  return result;
}

TEST(Inspect, ShowsWhatEntriesSeeWhereTheySayIt) {
  const std::vector<LayerSpec> layers = {
      dense(2, 3, "a"), seeing(testing::activation_spec(ActivationFunction::Relu), "h", {"a"}),
      seeing(ResidualSpec{{testing::activation_spec(ActivationFunction::Tanh)}, {dense(3, 3, "s")}}, "r",
             {"h"}),
      seeing(ConcatSpec{}, "", {"r", "h"}), dense(6, 1, "b")};
  const std::string text = layers_text(layers);
  for (const char* part : {"inputs", "r, h", "activation 'h'", "residual 'r'", "2.1", "dense 's'"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(layers_text({dense(2, 3, "a"), dense(3, 1, "b")}).find("inputs"), std::string::npos);
}

TEST(CertifyText, CountsNoNeuronsOfGraphs) {
  const Ensemble ensemble = graph_ensemble();
  const Options options;
  CertifyReport report(ensemble, options);
  Result result = plain_result();
  result.layers.resize(2);
  result.layers[1].local = 0.5;
  (void)report.add(result);
  EXPECT_NE(report.footer().find("<= 0.5"), std::string::npos) << report.footer();
}

DenseSpec fixed_dense(Index in, Index out, const std::string& name) {
  return {{name, Matrix::Ones(out, in), Vector::Ones(out), DeterministicWeights{}, DeterministicBias{}}};
}

TEST(CertifyText, SaysWhatNoGaussianIsCloserThan) {
  const Ensemble ensemble(
      build_network({fixed_dense(2, 3, "first"), testing::activation_spec(ActivationFunction::Relu),
                     DropoutSpec{0.1}, fixed_dense(3, 1, "second")}));
  const Options options;
  CertifyReport report(ensemble, options);
  Result first = plain_result(), second = plain_result();
  first.w2_lower = 0.123456;
  second.w2_lower = 0.2;
  second.input = 1;
  const std::string row = report.add(first);
  EXPECT_NE(row.find("no Gaussian <"), std::string::npos) << row;
  EXPECT_NE(row.find("0.1234 "), std::string::npos) << row;
  (void)report.add(second);
  const std::string footer = report.footer();
  EXPECT_NE(footer.find("proven: no Gaussian is closer than 0.1617 on average (D.9)\n"), std::string::npos)
      << footer;
  EXPECT_EQ(footer.find("stat."), std::string::npos) << footer;
  // Networks with other randomness have no such column.
  const Ensemble other = graph_ensemble();
  CertifyReport without(other, options);
  const std::string plain = without.add(plain_result()) + without.footer();
  EXPECT_EQ(plain.find("no Gaussian"), std::string::npos) << plain;
}

TEST(ExplainText, SaysWhereMoreComponentsAreTheOnlyWay) {
  Result result = plain_result();
  EXPECT_EQ(nearest_gaussian_text(result), "");
  result.w2_lower = 0.125;
  EXPECT_EQ(
      nearest_gaussian_text(result),
      "\nno Gaussian can be closer than 0.125 (proven, 25 % of the bound): more components are the only "
      "way below that, --pieces or --epsilon\n");
  const Gaussian half = result.mixture.component(0);
  result.mixture = GaussianMixture(Vector::Constant(2, 0.5), {half, half});
  result.w2.value = 0.0625;
  result.w2_lower_mixture = 0.03125;
  const std::string text = nearest_gaussian_text(result);
  EXPECT_NE(text.find("this mixture of 2 components is closer than every Gaussian\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("this mixture is no closer than 0.03125 (proven)\n"), std::string::npos) << text;
}

TEST(CertifyText, EstimatesThatNobodyAskedForHaveNoColumn) {
  const Ensemble ensemble = graph_ensemble();
  Options options;
  options.simulate = true;
  CertifyReport report(ensemble, options);
  Result result = plain_result();
  result.method = Method::Coupled;
  result.simulated.emplace();
  result.simulated->gap = "a gap";
  result.statistics = TwoSidedStatistics{2000, 0.0625, 0.95, 0.125, 0.11, 1e-3, "large samples"};
  const std::string row = report.add(result);
  EXPECT_EQ(row.find("0.0625"), std::string::npos) << row;
  EXPECT_EQ(row.find("0.125"), std::string::npos) << row;
  EXPECT_NE(row.find("0.5"), std::string::npos) << row;
  // Means are of the inputs that have them.
  (void)report.add(plain_result());
  const std::string footer = report.footer();
  EXPECT_NE(footer.find("W2 >= 0.0625"), std::string::npos) << footer;
  EXPECT_NE(footer.find("W2 <= 0.125"), std::string::npos) << footer;
  EXPECT_EQ(footer.find("looseness"), std::string::npos) << footer;
}

}  // namespace inspect_report_test
}  // namespace mixcert

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What `mixcert inspect` says of layers, canonical layers, masks and features in front.
#include <gtest/gtest.h>

#include "mixcert/network/network_builder.h"
#include "report/terminal/text_report.h"
#include "support/random_specs.h"

namespace mixcert {
namespace {

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

}  // namespace
}  // namespace mixcert

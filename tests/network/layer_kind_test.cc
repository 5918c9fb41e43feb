// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What layers of every kind answer for themselves, kind by kind: names, tensors, noise, layers inside.
#include "network/layers/layer_kind.h"

#include <gtest/gtest.h>

#include <set>

#include "mixcert/core/error.h"
#include "support/random_network.h"
#include "support/random_specs.h"

namespace mixcert {
namespace layer_kind_test {

class Kinds : public ::testing::Test {
 protected:
  DenseSpec dense(const std::string& name) {
    return {testing::random_layer(generator_, {.inputs = 8, .outputs = 8}, name)};
  }
  MixtureSpec mixture(const std::string& name) { return {{0.25, 0.75}, {dense(name), dense(name)}}; }
  /// One layer of each kind; those that move over images on 2 x 4 x 4 values.
  std::vector<LayerSpec> one_of_each(const std::string& name) {
    const Window2d window{{2, 2}, {2, 2}, {0, 0}, {1, 1}};
    return {testing::random_convolution(generator_, image_, true, name),
            AvgPool2dSpec{window},
            MaxPool2dSpec{window},
            FlattenSpec{},
            testing::random_batch_norm(generator_, 2, name),
            testing::activation_spec(ActivationFunction::Tanh),
            DropoutSpec{0.25},
            Dropout2dSpec{0.25},
            GaussianDropoutSpec{0.25},
            GaussianNoiseSpec{0.5},
            ResidualSpec{{testing::same_convolution(generator_, image_, true, name), DropoutSpec{0.5}}},
            dense(name),
            mixture(name),
            AddSpec{},
            ConcatSpec{},
            AffineSpec{name, testing::random_vector(generator_, 2), testing::random_vector(generator_, 1)},
            ReshapeSpec{{8, {2, 2}, true}},
            MeanSpec{}};
  }
  /// In front of each of them.
  [[nodiscard]] LayerShape shape_before(const LayerSpec& spec) const {
    const std::string_view type = type_name(spec);
    return type == "dense" || type == "mixture" ? LayerShape{8, {}, false} : image_;
  }

  Generator generator_ = make_generator(91, Stream::Example);
  LayerShape image_{2, {4, 4}, true};
};

TEST_F(Kinds, EachHasANameOfItsOwnInFiles) {
  std::set<std::string_view> types;
  std::set<std::size_t> alternatives;
  for (const LayerSpec& spec : one_of_each("x")) {
    types.insert(type_name(spec));
    alternatives.insert(spec.index());
    const std::string type(type_name(spec));
    EXPECT_EQ(title(spec), layer_kind(spec)->name() == nullptr ? type : type + " 'x'");
  }
  EXPECT_EQ(types.size(), std::variant_size_v<LayerSpecVariant>);
  EXPECT_EQ(alternatives.size(), std::variant_size_v<LayerSpecVariant>);
}

TEST_F(Kinds, ThoseWithANameHaveTensorsAndTheOthersHaveNone) {
  for (const LayerSpec& spec : one_of_each("x")) {
    const LayerKindPointer layer = layer_kind(spec);
    const OwnTensors own = layer->tensors();
    EXPECT_EQ(own.count() > 0, layer->name() != nullptr) << layer->title();
    for (const LayerTensor& tensor : own.plain) {
      Index size = 1;
      for (const Index side : tensor.shape) size *= side;
      EXPECT_EQ(tensor.values->size(), size) << layer->title() << tensor.ending;
    }
  }
}

TEST_F(Kinds, WithoutNoiseAreDeterministicAndKeepTheirShape) {
  for (const LayerSpec& spec : one_of_each("x")) {
    const LayerKindPointer layer = layer_kind(spec);
    if (type_name(spec) == "mixture") {
      EXPECT_THROW((void)layer->without_noise(), InvalidArgument);
      continue;
    }
    const LayerSpec fixed = layer->without_noise();
    const LayerShape before = shape_before(spec);
    EXPECT_TRUE(is_deterministic(fixed)) << title(spec);
    EXPECT_EQ(shape_after(fixed, before), shape_after(spec, before)) << title(spec);
  }
}

TEST_F(Kinds, ThoseThatAreDeterministicStayAsTheyAre) {
  for (const LayerSpec& spec : one_of_each("x")) {
    if (!is_deterministic(spec)) continue;
    EXPECT_EQ(layer_kind(spec)->without_noise().index(), spec.index()) << title(spec);
  }
}

TEST_F(Kinds, WithoutANameGetTheirPlace) {
  std::vector<LayerSpec> layers = one_of_each("");
  name_layers(layers, "p.");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerKindPointer layer = layer_kind(layers[i]);
    const std::string place = "p." + std::to_string(i);
    if (layer->name() != nullptr) {
      EXPECT_EQ(*layer->name(), place);
    }
    const InnerLayers inner = layer->inner();
    for (std::size_t j = 0; j < inner.layers.size(); ++j) {
      const std::string* name = inner.layers[j]->name();
      if (name != nullptr) {
        EXPECT_EQ(*name, place + "." + std::to_string(j));
      }
    }
  }
}

TEST_F(Kinds, KeepTheNamesThatTheyHave) {
  std::vector<LayerSpec> layers = one_of_each("x");
  name_layers(layers, "");
  for (const LayerSpec& spec : layers) {
    const LayerKindPointer layer = layer_kind(spec);
    if (layer->name() != nullptr) {
      EXPECT_EQ(*layer->name(), "x");
    }
    const InnerLayers inner = layer->inner();
    for (const LayerKindPointer& one : inner.layers) {
      if (one->name() != nullptr) {
        EXPECT_EQ(*one->name(), "x");
      }
    }
  }
}

TEST_F(Kinds, ChooseOneAlternativeOfEveryMixture) {
  const LayerSpec block = ResidualSpec{{mixture("a"), mixture("b")}};
  std::vector<std::size_t> sizes;
  layer_kind(block)->count_choices(sizes);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2}));
  const std::vector<std::size_t> digits = {1, 0};
  ChoiceCursor cursor{digits.begin()};
  const LayerSpec chosen = layer_kind(block)->chosen(cursor);
  EXPECT_EQ(cursor.weight, 0.75 * 0.25);
  EXPECT_EQ(cursor.digit, digits.end());
  const auto& layers = std::get<ResidualSpec>(chosen.variant()).layers;
  ASSERT_EQ(layers.size(), 2U);
  const auto& before = std::get<ResidualSpec>(block.variant()).layers;
  const auto mean = [](const DenseSpec& spec) { return spec.layer.weight_mean(); };
  EXPECT_EQ(mean(std::get<DenseSpec>(layers[0].variant())),
            mean(std::get<MixtureSpec>(before[0].variant()).alternatives[1]));
  EXPECT_EQ(mean(std::get<DenseSpec>(layers[1].variant())),
            mean(std::get<MixtureSpec>(before[1].variant()).alternatives[0]));
  std::vector<std::size_t> none;
  layer_kind(chosen)->count_choices(none);
  EXPECT_TRUE(none.empty());
}

}  // namespace layer_kind_test
}  // namespace mixcert

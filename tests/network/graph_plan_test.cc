// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lists of layers as graphs: names, shapes, residual blocks written out, and one line for every wrong graph.
#include "network/layers/graph_plan.h"

#include <gtest/gtest.h>

#include "mixcert/core/error.h"
#include "mixcert/network/network_builder.h"
#include "network/graph/layer_graph.h"
#include "network/layers/layer_kind.h"
#include "network/layers/mixture_choices.h"
#include "support/random_graphs.h"
#include "support/random_specs.h"

namespace mixcert {
namespace graph_plan_test {

using Names = std::vector<std::string>;

DenseSpec dense(const std::string& name, Index in, Index out) {
  return {{name, Matrix::Constant(out, in, 0.5), Vector::Ones(out),
           MeanFieldWeights{Matrix::Constant(out, in, 0.1)}, IndependentBias{Vector::Constant(out, 0.2)}}};
}

LayerSpec seen(LayerSpec layer, const Names& inputs, const std::string& node = "") {
  return seeing(std::move(layer), node, inputs);
}

Conv2dSpec pixelwise(const std::string& name, Index in, Index out, const Size2d& image) {
  Conv2dSpec spec{name, in, out, image, {}, 1, Vector::Ones(in * out), {}, {}, {}};
  return spec;
}

const LayerSpec kRelu = testing::activation_spec(ActivationFunction::Relu);

struct WrongGraph {
  std::vector<LayerSpec> layers;
  std::string message;
};

class Wrong : public ::testing::TestWithParam<WrongGraph> {};

TEST_P(Wrong, IsRefusedInOneLine) {
  try {
    (void)layer_shapes(GetParam().layers);
    ADD_FAILURE() << "no exception, expected " << GetParam().message;
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().message);
  }
  EXPECT_THROW((void)build_ensemble(GetParam().layers), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, Wrong,
    ::testing::Values(
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 1), {"x"})},
                   "dense 'b' sees 'x': expected 'input' or an entry before it, got no entry of that name"},
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 3), {"b"})},
                   "dense 'b' sees itself: expected entries before it, a network has no cycles"},
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 3), {"c"}), dense("c", 3, 1)},
                   "dense 'b' sees 'c', a later entry: expected entries before it, a network has no cycles"},
        WrongGraph{{dense("a", 2, 3), seen(dense("a", 3, 1), {"a"})},
                   "dense 'a': expected a name that no other entry has, got 'a' twice"},
        WrongGraph{{dense("a", 2, 3), seen(kRelu, {"a"}), seen(dense("b", 3, 1), {"a"})},
                   "entry 1 (activation): expected a later entry that sees it, got none"},
        WrongGraph{{dense("a", 2, 3), seen(AddSpec{}, {"a"}, "s")},
                   "add 's': expected two inputs or more, got 1"},
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 2), {"a"}), seen(AddSpec{}, {"a", "b"}, "s")},
                   "add 's': expected inputs of one shape, got 3 and 2"},
        WrongGraph{
            {pixelwise("a", 1, 2, {4, 4}), seen(AvgPool2dSpec{{{2, 2}, {2, 2}, {0, 0}, {}}}, {"a"}, "p"),
             seen(ConcatSpec{}, {"a", "p"}, "c")},
            "concat 'c': expected images of one size, or vectors, got 2 x 4 x 4 and 2 x 2 x 2"},
        WrongGraph{{dense("a", 2, 6), seen(ReshapeSpec{{2, {2, 2}, true}}, {"a"}, "r")},
                   "reshape 'r': shape: expected 6 values (outputs of the layer before), got 8 (2 x 2 x 2)"},
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 1), {"a", "input"})},
                   "dense 'b': expected one input, got 2"},
        WrongGraph{{seen(dense("input", 2, 3), {"input"})},
                   "dense 'input': expected another name than 'input', which is what the list sees"},
        WrongGraph{{dense("a", 2, 3), seen(dense("b", 3, 1), {""})},
                   "dense 'b': inputs: expected names, got an empty one"},
        WrongGraph{{dense("a", 2, 3), seen(AffineSpec{"f", Vector::Ones(2), {}}, {"a"})},
                   "affine 'f': scale: expected 1 value or 3, got 2"},
        WrongGraph{
            {dense("a", 2, 3), seen(MeanSpec{}, {"a"}, "m")},
            "mean 'm': expected a conv2d before it that tells the size of the image, got a vector of 3"},
        WrongGraph{{dense("a", 2, 3), ResidualSpec{{seen(dense("b", 3, 3), {"a"})}}},
                   "dense 'b' sees 'a': expected 'input' or an entry before it, got no entry of that name"},
        WrongGraph{{dense("a", 2, 3), AddSpec{}}, "entry 1 (add): expected two inputs or more, got 1"}));

TEST(GraphPlan, NamesOfChainsMayRepeat) {
  EXPECT_NO_THROW((void)layer_shapes({dense("a", 2, 3), dense("a", 3, 1)}));
  EXPECT_NO_THROW((void)layer_shapes({dense("input", 2, 3), dense("a", 3, 1)}));
}

TEST(GraphPlan, WritesABlockAsItsLayers) {
  const LayerShape image{2, {3, 3}, true};
  const std::vector<LayerSpec> layers = {
      pixelwise("a", 2, 2, image.image),
      ResidualSpec{{pixelwise("f", 2, 2, image.image), kRelu}, {pixelwise("s", 2, 2, image.image)}}, kRelu};
  const GraphPlan plan(layers, input_shape(layers));
  ASSERT_EQ(plan.size(), 6);  // a, s, f, relu, sum, relu
  EXPECT_EQ(plan.node(1).inputs, std::vector<Index>{0});
  EXPECT_EQ(plan.node(2).inputs, std::vector<Index>{0});
  EXPECT_EQ(plan.node(4).inputs, (std::vector<Index>{3, 1}));
  EXPECT_EQ(plan.node(4).title, "residual");
  EXPECT_EQ(plan.node(0).last_use, 2);
  EXPECT_EQ(plan.node(1).last_use, 4);
  EXPECT_EQ(plan.node(5).last_use, 6);
  EXPECT_EQ(plan.last_use(kListInput), 0);
  EXPECT_EQ(plan.live_at(3), (std::vector<Index>{1, 2}));
  EXPECT_EQ(plan.nodes_of(1), 1);
  EXPECT_EQ(plan.nodes_of(2), 5);
  EXPECT_EQ(plan.live_at(6), std::vector<Index>{5});
}

TEST(GraphPlan, TheInputIsToldByWhateverSeesIt) {
  // Behind a concatenation sizes are not those of the input.
  const std::vector<LayerSpec> layers = {seen(kRelu, {"input"}, "r"), seen(ConcatSpec{}, {"r", "input"}, "c"),
                                         seen(dense("d", 6, 2), {"c"}, ""), seen(dense("e", 3, 2), {"r"}),
                                         seen(AddSpec{}, {"d", "e"})};
  EXPECT_EQ(input_shape(layers), (LayerShape{3, {}, false}));
  const std::vector<LayerShape> shapes = layer_shapes(layers);
  EXPECT_EQ(shapes[2], (LayerShape{6, {}, false}));
  EXPECT_EQ(shapes.back(), (LayerShape{2, {}, false}));
}

TEST(GraphPlan, ChosenNamedAndNoiseFreeEntriesStayWhereTheyAre) {
  const MixtureSpec mixture{{0.5, 0.5}, {dense("x", 3, 3), dense("y", 3, 3)}};
  const std::vector<LayerSpec> layers = {seen(dense("", 2, 3), {"input"}, "a"), seen(mixture, {"a"}, "m"),
                                         seen(AddSpec{}, {"m", "a"})};
  EXPECT_EQ(build_ensemble(layers).size(), 2);
  const MixtureChoices choices(layers);
  EXPECT_EQ(node_name(choices.current().layers[1]), "m");
  EXPECT_EQ(choices.current().layers[2].inputs, (Names{"m", "a"}));
  std::vector<LayerSpec> named = layers;
  name_layers(named, "");
  EXPECT_EQ(*layer_kind(named[0])->name(), "a");
  EXPECT_EQ(named[1].node, "m");
  EXPECT_EQ(named[1].inputs, Names{"a"});
}

TEST(GraphPlan, AChainWrittenAsAGraphIsTheSameNetwork) {
  Generator generator = make_generator(5, Stream::Example, 3010);
  const LayerShape image{2, {3, 3}, true};
  const std::vector<LayerSpec> chain = {
      testing::same_convolution(generator, image, true, "c"),
      kRelu,
      ResidualSpec{{kRelu, testing::same_convolution(generator, image, true, "d")}},
      FlattenSpec{},
      dense("e", 18, 4),
      kRelu,
      DropoutSpec{0.2},
      dense("f", 4, 2)};
  const Network one = build_network(chain), other = build_network(testing::written_as_graph(chain));
  ASSERT_NE(one.graph(), nullptr);
  ASSERT_EQ(one.graph()->size(), other.graph()->size());
  for (Index k = 0; k < one.graph()->size(); ++k)
    EXPECT_EQ(one.graph()->node(k).from, other.graph()->node(k).from);
  ASSERT_EQ(one.layer_count(), other.layer_count());
  for (Index k = 0; k < one.layer_count(); ++k) {
    EXPECT_EQ(one.layer(k).weight_mean(), other.layer(k).weight_mean());
    EXPECT_EQ(one.layer(k).bias_mean(), other.layer(k).bias_mean());
    EXPECT_EQ(one.layer(k).weight_variances(), other.layer(k).weight_variances());
    EXPECT_EQ(one.layer(k).bias_variances(), other.layer(k).bias_variances());
    EXPECT_EQ(one.activation(k).unchanged(), other.activation(k).unchanged());
    EXPECT_EQ(one.mask(k).rate(), other.mask(k).rate());
  }
}

}  // namespace graph_plan_test
}  // namespace mixcert

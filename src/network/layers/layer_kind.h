// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What a layer of every kind answers for itself: geometry, checks, randomness, what becomes of it, and what
// files and reports hold of it. One source per kind in kinds/. A kind in the variant without its source, and
// a source without one of the answers, do not compile; answers that many kinds share are classes that a kind
// names (kind_bases.h), not defaults that it falls into.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

class ChainBuilder;
class FeatureStep;
class GraphBuilder;
class MemoryBudget;

/// A tensor as files and Python know it.
struct LayerTensor {
  std::string_view ending;         ///< of its name in files, behind the layer's name: ".weight.mean"
  std::vector<Index> shape;        ///< the last index varies fastest
  const Vector* values = nullptr;  ///< those of the layer; empty: zero, and not stored
};

/// The tensors of a layer itself, without those of layers inside it.
struct OwnTensors {
  const DenseLayer* dense = nullptr;  ///< its tensors depend on its law
  std::vector<LayerTensor> plain = {};

  /// Numbers that are stored.
  [[nodiscard]] Index count() const;
};

/// What is particular to a layer, for a reader: "kernel 3", or words and a number.
struct LayerDetail {
  std::string words;
  std::optional<double> number = {};
};

/// What the layers in front say of a network's input.
struct InputShape {
  MaybeShape told;
  MaybeShape fallback;  ///< features of a batch norm, where no layer has a size of its own
};

/// One way to choose an alternative of every mixture, in reading order.
struct ChoiceCursor {
  std::vector<std::size_t>::const_iterator digit;  ///< of the next mixture
  double weight = 1.0;                             ///< of the alternatives chosen so far
};

class LayerKind;
using LayerKindPointer = std::unique_ptr<const LayerKind>;
/// Before it is told what its entry is called.
using NewLayerKind = std::unique_ptr<LayerKind>;

/// Layers inside a layer: lists, or where there are weights alternatives, one of which is drawn.
struct InnerLayers {
  std::vector<LayerKindPointer> layers = {};
  std::vector<double> weights = {};
  /// Where the layers are from: each list sees what the layer sees.
  std::vector<const std::vector<LayerSpec>*> lists = {};
};

/// Refers to the layer that it was made for, which must outlive it.
class LayerKind {
 public:
  LayerKind() = default;
  LayerKind(const LayerKind&) = delete;
  LayerKind& operator=(const LayerKind&) = delete;
  virtual ~LayerKind() = default;

  /// As files spell it.
  [[nodiscard]] virtual std::string_view type() const = 0;
  /// Of its tensors; null where layers of this kind have none.
  [[nodiscard]] virtual const std::string* name() const = 0;
  /// "conv2d 'name'", or the type alone.
  [[nodiscard]] std::string title() const;
  /// Where tensors have no name the entry's own stands in the title.
  void set_node(std::string node) { node_ = std::move(node); }
  [[nodiscard]] virtual std::vector<LayerDetail> details() const = 0;
  /// Layers that have any have a name.
  [[nodiscard]] virtual OwnTensors tensors() const = 0;
  [[nodiscard]] virtual InnerLayers inner() const = 0;
  /// The layer called `place` where it has an empty name, and layers inside it "place.0", ...; nothing where
  /// no name changes.
  [[nodiscard]] virtual std::optional<LayerSpec> named(const std::string& place) const = 0;

  /// Sizes, finiteness and signs of tensors, rates, weights of mixtures. Layers inside are left to their own
  /// turn. Throws InvalidArgument.
  virtual void check_numbers() const = 0;
  /// The shape behind the layer, which sees values of the shapes `before`: one, or two and more where it
  /// joins entries. Throws InvalidArgument where it does not fit. Layers inside are checked.
  [[nodiscard]] virtual LayerShape shape_behind(const std::vector<LayerShape>& before) const = 0;
  /// Numbers and geometry.
  [[nodiscard]] LayerShape shape_after(const std::vector<LayerShape>& before) const;
  /// Says what shape it wants where nothing in front has said more.
  virtual void tell_input(InputShape& input) const = 0;

  /// Does the layer, given its input, always give the same output?
  [[nodiscard]] virtual bool is_deterministic() const = 0;
  /// The layer with every random number at its mean.
  [[nodiscard]] virtual LayerSpec without_noise() const = 0;
  /// Adds the number of alternatives of every mixture in it (L.6).
  virtual void count_choices(std::vector<std::size_t>& sizes) const = 0;
  /// The layer with its mixtures replaced by the alternatives at the cursor, which moves behind them.
  [[nodiscard]] virtual LayerSpec chosen(ChoiceCursor& cursor) const = 0;

  /// The deterministic layer at one input (L.1), on all that it sees one after the other; null where it
  /// changes nothing.
  [[nodiscard]] virtual std::unique_ptr<FeatureStep> make_step(
      const std::vector<LayerShape>& before) const = 0;
  /// Takes what its step will need; work is bounded by it, too.
  virtual void charge(const std::vector<LayerShape>& before, MemoryBudget& budget) const = 0;
  /// Adds the layer to a canonical network (L.2) - (L.6), (O.19).
  virtual void expand(ChainBuilder& builder) const = 0;
  /// Is it more than a dense layer or something on single values, so that written out it may be large?
  [[nodiscard]] virtual bool has_structure() const = 0;
  /// Adds the layer as it is to a graph of operators (O.1).
  virtual void add_to(GraphBuilder& builder) const = 0;

 private:
  std::string node_;
};

NewLayerKind kind(const DenseSpec& spec);
NewLayerKind kind(const Conv2dSpec& spec);
NewLayerKind kind(const AvgPool2dSpec& spec);
NewLayerKind kind(const MaxPool2dSpec& spec);
NewLayerKind kind(const FlattenSpec& spec);
NewLayerKind kind(const BatchNormSpec& spec);
NewLayerKind kind(const ActivationSpec& spec);
NewLayerKind kind(const DropoutSpec& spec);
NewLayerKind kind(const Dropout2dSpec& spec);
NewLayerKind kind(const GaussianDropoutSpec& spec);
NewLayerKind kind(const GaussianNoiseSpec& spec);
NewLayerKind kind(const ResidualSpec& spec);
NewLayerKind kind(const MixtureSpec& spec);
NewLayerKind kind(const AddSpec& spec);
NewLayerKind kind(const ConcatSpec& spec);
NewLayerKind kind(const AffineSpec& spec);
NewLayerKind kind(const ReshapeSpec& spec);
NewLayerKind kind(const MeanSpec& spec);

/// Of whichever kind it is.
LayerKindPointer layer_kind(const LayerSpec& spec);

/// `made` as the entry that `spec` is: with its name and inputs.
LayerSpec in_place_of(const LayerSpec& spec, LayerSpec made);
/// Layers without a name get their place in the list behind `prefix`: "0", "1.2" inside others.
void name_layers(std::vector<LayerSpec>& layers, const std::string& prefix);
/// The first layer that has a size of its own tells it, of those that see what the list sees, whatever
/// leaves its size in between.
void ask_input(const std::vector<LayerSpec>& layers, InputShape& input);

}  // namespace mixcert

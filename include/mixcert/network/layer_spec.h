// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Layers of every type as files list them, and the shapes between them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mixcert/activation/activation.h"
#include "mixcert/core/types.h"
#include "mixcert/network/dense_layer.h"
#include "mixcert/network/layer_shape.h"

namespace mixcert {

// Layers as a model file lists them: plain structs without behaviour, each with its name in files (kType).
// A list is a graph in topological order: an entry sees those that it names, or the one before it.
// build_network (network_builder.h) turns it into a network. Images are channel-major: value (channel, row,
// column) has the index (channel * height + row) * width + column.

struct DenseSpec {
  static constexpr std::string_view kType = "dense";

  DenseLayer layer;
};

/// y[c, p] = b[c] + sum over the taps (i, j) and the input channels d of the group of c of
/// k[c, d, i, j] x[d, p * stride - padding + (i, j) * dilation], zero outside the image (L.2). The parameters
/// are independent and Gaussian; each is one random number, shared by all positions p.
struct Conv2dSpec {
  static constexpr std::string_view kType = "conv2d";

  std::string name;
  Index in = 1;   ///< channels
  Index out = 1;  ///< channels
  Size2d image;   ///< of the input
  Window2d window;
  Index groups = 1;
  Vector kernel_mean;      ///< [out, in / groups, kernel height, kernel width], the last varies fastest
  Vector kernel_variance;  ///< empty: deterministic
  Vector bias_mean;        ///< [out]; empty: zero
  Vector bias_variance;    ///< empty: deterministic
};

/// Means of windows; zeros of the padding count (torch's default).
struct AvgPool2dSpec {
  static constexpr std::string_view kType = "avg_pool2d";

  Window2d window;
};

/// Largest values of windows; the padding is left out.
struct MaxPool2dSpec {
  static constexpr std::string_view kType = "max_pool2d";

  Window2d window;
};

/// An image as a vector.
struct FlattenSpec {
  static constexpr std::string_view kType = "flatten";
};

/// The same values in another shape; their order is kept.
struct ReshapeSpec {
  static constexpr std::string_view kType = "reshape";

  LayerShape shape;
};

/// weight (x - running_mean) / (running_variance + epsilon)^(1/2) + bias, one entry per channel (L.3).
struct BatchNormSpec {
  static constexpr std::string_view kType = "batch_norm";

  std::string name;
  Vector weight;
  Vector bias;
  Vector running_mean;
  Vector running_variance;
  double epsilon = 1e-5;
};

struct ActivationSpec {
  static constexpr std::string_view kType = "activation";

  Activation activation;
};

/// Factors 0 with probability `rate` and 1 / (1 - rate) otherwise, independent over neurons.
struct DropoutSpec {
  static constexpr std::string_view kType = "dropout";

  double rate = 0.0;
};

/// The same with one factor for all pixels of a channel.
struct Dropout2dSpec {
  static constexpr std::string_view kType = "dropout2d";

  double rate = 0.0;
};

/// Factors N(1, rate / (1 - rate)).
struct GaussianDropoutSpec {
  static constexpr std::string_view kType = "gaussian_dropout";

  double rate = 0.0;
};

/// Adds independent N(0, deviation^2) to every coordinate.
struct GaussianNoiseSpec {
  static constexpr std::string_view kType = "gaussian_noise";

  double deviation = 0.0;
};

/// The sum of two inputs or more, all of one shape.
struct AddSpec {
  static constexpr std::string_view kType = "add";
};

/// Its inputs one after the other, two or more: along channels (images of one size) or features (vectors).
struct ConcatSpec {
  static constexpr std::string_view kType = "concat";
};

/// scale x + shift: one number each for all values, one for each channel of an image, or one for each value.
struct AffineSpec {
  static constexpr std::string_view kType = "affine";

  std::string name;
  Vector scale;  ///< empty: ones
  Vector shift;  ///< empty: zeros
};

/// The means of all pixels of each channel: an image of c channels becomes a vector of c.
struct MeanSpec {
  static constexpr std::string_view kType = "mean";
};

struct LayerSpec;

/// The layers of a skip. A type of its own, whose members are defined where LayerSpec is complete, so that
/// ResidualSpec stays an aggregate with a default.
struct SkipLayers {
  std::vector<LayerSpec> layers;

  SkipLayers();
  SkipLayers(std::initializer_list<LayerSpec> all);  // NOLINT(google-explicit-constructor)
  explicit SkipLayers(std::vector<LayerSpec> all);
  SkipLayers(const SkipLayers&);
  SkipLayers(SkipLayers&&) noexcept;
  SkipLayers& operator=(const SkipLayers&);
  SkipLayers& operator=(SkipLayers&&) noexcept;
  ~SkipLayers();
};

/// S(x) + F(x), F the layers and S those of the skip, x itself where it has none; both of one shape.
struct ResidualSpec {
  static constexpr std::string_view kType = "residual";

  std::vector<LayerSpec> layers;
  SkipLayers skip = {};
};

/// One of several dense layers, drawn with its weight. Discrete weights are a mixture of deterministic
/// layers.
struct MixtureSpec {
  static constexpr std::string_view kType = "mixture";

  std::vector<double> weights;
  std::vector<DenseSpec> alternatives;
};

/// All kinds of layers. What each of them is and becomes is said in src/network/layers/kinds.
using LayerSpecVariant =
    std::variant<DenseSpec, Conv2dSpec, AvgPool2dSpec, MaxPool2dSpec, FlattenSpec, BatchNormSpec,
                 ActivationSpec, DropoutSpec, Dropout2dSpec, GaussianDropoutSpec, GaussianNoiseSpec,
                 ResidualSpec, MixtureSpec, AddSpec, ConcatSpec, AffineSpec, ReshapeSpec, MeanSpec>;

/// An entry of a list.
struct LayerSpec : LayerSpecVariant {
  using LayerSpecVariant::LayerSpecVariant;

  /// By which later entries name it; empty: the name of its tensors, or none. In files they are one.
  std::string node = {};
  /// Names of earlier entries of the list, "input" for what the list sees; empty: the entry before.
  std::vector<std::string> inputs = {};

  [[nodiscard]] const LayerSpecVariant& variant() const { return *this; }
};

inline SkipLayers::SkipLayers() = default;
inline SkipLayers::SkipLayers(std::initializer_list<LayerSpec> all) : layers(all) {}
inline SkipLayers::SkipLayers(std::vector<LayerSpec> all) : layers(std::move(all)) {}
inline SkipLayers::SkipLayers(const SkipLayers&) = default;
inline SkipLayers::SkipLayers(SkipLayers&&) noexcept = default;
inline SkipLayers& SkipLayers::operator=(const SkipLayers&) = default;
inline SkipLayers& SkipLayers::operator=(SkipLayers&&) noexcept = default;
inline SkipLayers::~SkipLayers() = default;

/// The layer as an entry that is called `node` (empty: its own name, or none) and sees `inputs`.
LayerSpec seeing(LayerSpec spec, std::string node, std::vector<std::string> inputs);
/// By which other entries of its list can name it; empty: they cannot.
std::string node_name(const LayerSpec& spec);
/// As model files spell it: "dense", "conv2d", ...
std::string_view type_name(const LayerSpec& spec);
/// "conv2d 'name'", or the type alone where a layer has no name.
std::string title(const LayerSpec& spec);
/// Does the layer, given its input, always give the same output? (A mixture never does.)
bool is_deterministic(const LayerSpec& spec);
bool is_deterministic(const Conv2dSpec& spec);

// Shapes of what flows between layers, and every check of geometry: kernels that fit, channels and sizes that
// chain. All functions throw InvalidArgument in one line that names the layer, what was expected and what was
// found.

/// Shapes behind a layer. They look at sizes only, not at the tensors: a file is checked before it is read.
MaybeShape shape_after_dense(const std::string& name, Index inputs, Index outputs, const MaybeShape& before);
MaybeShape shape_after_convolution(const Conv2dSpec& spec, const MaybeShape& before);
MaybeShape shape_after_pool(const std::string& type, const Window2d& window, const MaybeShape& before);
MaybeShape shape_after_batch_norm(const std::string& name, Index features, const MaybeShape& before);
MaybeShape shape_after_flatten(const MaybeShape& before);
/// `inner` is the shape behind the layers of the block, `skip` that of what is added to it.
MaybeShape shape_after_residual(const MaybeShape& skip, const MaybeShape& inner);
/// Of all inputs; `who` names the layer in messages.
MaybeShape shape_after_add(const std::string& who, const std::vector<MaybeShape>& before);
MaybeShape shape_after_concat(const std::string& who, const std::vector<MaybeShape>& before);
MaybeShape shape_after_reshape(const std::string& who, const LayerShape& shape, const MaybeShape& before);
MaybeShape shape_after_mean(const std::string& who, const MaybeShape& before);

/// Shape of a network's input, told by its first layer that has a size of its own.
LayerShape input_shape(const std::vector<LayerSpec>& layers);
/// Shape behind one layer of one input, whose tensors and numbers are checked too.
LayerShape shape_after(const LayerSpec& spec, const LayerShape& before);
/// Of the network's input, and behind every entry.
std::vector<LayerShape> layer_shapes(const std::vector<LayerSpec>& layers);

}  // namespace mixcert

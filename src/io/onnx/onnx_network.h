// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The list of layers that becomes of an ONNX model: entries that see earlier ones, their names, and what is
// left out at the end because nobody sees it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/onnx/onnx_values.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::io {

class OnnxNetwork {
 public:
  OnnxNetwork(std::string label, const ReadLimits& limits)
      : label_(std::move(label)), bytes_(limits.max_bytes) {}

  /// Throws ResourceError where `count` numbers more are too many.
  void charge(const std::string& what, Index count);

  /// Printable, not empty, not "input", and as no entry before is called.
  std::string unique_name(const std::string& wanted);

  /// The index of a new entry that sees others. `name` is for kinds without a name of their own; it is made
  /// unique where others have to name the entry.
  Index add(LayerSpec spec, std::vector<Index> seen, const std::string& name);
  /// What an entry is, so that a bias can be put into it.
  [[nodiscard]] LayerSpec& spec(Index entry) { return entries_[static_cast<std::size_t>(entry)].spec; }

  /// The same values as a vector or as the image that sizes [c, h, w] and [c, w] mean. Throws InvalidArgument
  /// where sizes mean no image.
  OnnxFlow as_vector(const OnnxFlow& flow);
  OnnxFlow as_image(const OnnxFlow& flow);

  /// The list whose output is this flow, without entries that it does not need.
  std::vector<LayerSpec> finish(const OnnxFlow& output) &&;

 private:
  struct Entry {
    LayerSpec spec;
    std::vector<Index> seen;
    std::string name;
    bool is_needed = false;
  };

  OnnxFlow reshaped(const OnnxFlow& flow, const LayerShape& layout);
  void mark_needed(Index output);
  /// Convolutions tell the shape of the input themselves.
  void drop_first_reshape();

  std::string label_;
  std::uint64_t bytes_;
  std::vector<Entry> entries_;
  std::set<std::string> names_ = {"input"};
  std::map<std::string, Index> last_number_;
  Index input_image_ = kOnnxInput;  ///< the entry that gives the input as an image
};

/// The shape of an image of ONNX sizes without the batch: [c, h, w], or [c, w] with one row.
LayerShape onnx_image(const std::vector<Index>& sizes);
/// Their product.
Index onnx_count(const std::vector<Index>& sizes);

}  // namespace mixcert::io

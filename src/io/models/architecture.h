// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The `architecture` entry of a model file: a JSON list of layers, docs/model-format.md. Which members a kind
// of layer has is said in layer_fields.cc alone.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mixcert/core/types.h"
#include "mixcert/network/layer_spec.h"

namespace mixcert::io {

class EntryFields;
class TensorSource;

/// What the list says of a dense layer; the rest of its law is told by its tensors.
struct DenseEntry {
  std::string name;
  Index inputs = 0;
  Index outputs = 0;
  std::optional<EntryLaw> law = {};  ///< of independent weights and biases; none: normal
  bool has_common_factor = false;    ///< the normals of its factor are those of other layers too
};

/// A layer of the list before its tensors are read: which tensors it may own, and how it becomes a layer once
/// there is a source of them. Not a second list of kinds: nothing asks an entry what kind it is.
struct LayerEntry {
  std::string name = {};                       ///< in front of the names of its tensors
  std::string node = {};                       ///< by which other entries may name it
  std::vector<std::string> inputs = {};        ///< what it sees; empty: the entry before
  std::vector<std::string_view> endings = {};  ///< of the names of the tensors that it may own
  std::vector<Index> weight_shape = {};        ///< of random weights that an import brings; empty: none
  std::vector<LayerEntry> layers = {};         ///< inside it
  bool draws_one = false;                      ///< of `layers`
  std::function<LayerSpec(const LayerEntry& self, TensorSource& source)> fill = {};
};

LayerEntry dense_entry(const DenseEntry& dense);
/// A layer without tensors.
LayerEntry complete_entry(const LayerSpec& spec);

/// Reads lists of layers: remembers names, and the shapes behind the layers so far.
class ArchitectureReader {
 public:
  /// `file` names it in messages and must outlive this.
  explicit ArchitectureReader(const std::string& file) : file_(file) {}

  std::vector<LayerEntry> read(const nlohmann::json& list, const std::string& field);
  /// The member `name`, which no other layer has.
  std::string fresh_name(const EntryFields& fields);
  /// The list `key` inside a layer; `what` names such layers in messages.
  std::vector<LayerEntry> read_inner(const EntryFields& fields, const std::string& key,
                                     const std::string& what);
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Where no layer has told the shape in front yet: it is this one.
  void tell(const LayerShape& own) {
    if (!shape) told_ = own;
  }

  MaybeShape shape = {};                ///< in front of a layer, which moves it on behind itself
  std::vector<MaybeShape> shapes = {};  ///< of all that a layer sees, where it joins several

 private:
  const std::string& file_;
  std::set<std::string> names_;
  MaybeShape told_;
  int depth_ = 0;
};

/// Unknown types and keys, names that repeat, wrong graphs, geometry that does not fit and sizes that do not
/// chain are FileErrors.
std::vector<LayerEntry> parse_architecture(const std::string& text, const std::string& file);

/// The list as JSON.
std::string architecture_text(const std::vector<LayerSpec>& layers);

}  // namespace mixcert::io

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Lists of layers as graphs: names become indices, every error of a graph is found, and residual blocks are
// written as what they are made of. Shapes, files, features, canonical networks and graphs of operators all
// go through this one plan; a chain is a graph, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mixcert/network/layer_spec.h"

namespace mixcert {

/// Stands for what the list sees among the indices of its entries.
inline constexpr Index kListInput = -1;
inline constexpr std::string_view kListInputName = "input";

/// What a list says of an entry, whatever it is: files are checked before their tensors are read.
struct EntryHead {
  std::string title;                     ///< in messages
  std::string name = {};                 ///< empty: nobody can name it
  std::vector<std::string> inputs = {};  ///< empty: the entry before
  bool is_join = false;                  ///< sees two entries or more
  /// The name is that of tensors. In a list without `inputs` it may then be another's name, or "input".
  bool names_tensors = false;
};

/// Of layers of this type: do they see two entries or more?
bool joins_entries(std::string_view type);
/// "dense 'b'", or "entry 3 (flatten)" where it has no name.
std::string entry_title(std::string_view type, const std::string& name, std::size_t place);

/// Indices of the entries that each entry sees. Throws InvalidArgument, in one line that names the entry,
/// where a name is unknown, that of a later entry or of the entry itself, given twice or empty, where there
/// are too many inputs or too few, and where nobody sees an entry that is not the last.
std::vector<std::vector<Index>> linked_entries(const std::vector<EntryHead>& heads);
std::vector<std::vector<Index>> linked_entries(const std::vector<LayerSpec>& layers);

/// Shapes behind the entries of a list that sees `input`; all layers are checked.
std::vector<LayerShape> entry_shapes(const std::vector<LayerSpec>& layers, const LayerShape& input);

/// One layer, no residual block.
struct PlanNode {
  const LayerSpec* layer = nullptr;
  std::string title;
  std::vector<Index> inputs;  ///< earlier nodes, or kListInput
  LayerShape shape;           ///< behind it
  Index last_use = 0;         ///< the last node that sees it; the number of nodes for the output
};

class GraphPlan {
 public:
  /// Checks everything. `layers`, which no mixture is left in where nodes are built, must outlive this.
  GraphPlan(const std::vector<LayerSpec>& layers, const LayerShape& input);

  [[nodiscard]] Index size() const { return static_cast<Index>(nodes_.size()); }
  [[nodiscard]] const PlanNode& node(Index k) const { return nodes_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] const LayerShape& input() const { return input_; }
  /// Of a node, or of what the list sees.
  [[nodiscard]] const LayerShape& shape(Index k) const { return k == kListInput ? input_ : node(k).shape; }
  [[nodiscard]] Index last_use(Index k) const { return k == kListInput ? input_last_use_ : node(k).last_use; }
  /// Shapes in front of node k, one for each of its inputs.
  [[nodiscard]] std::vector<LayerShape> shapes_before(Index k) const;
  /// Nodes of the first `entries` entries of the list.
  [[nodiscard]] Index nodes_of(std::size_t entries) const;
  /// Values of what lies in front of node `cut` that nodes from there on need, in order; where `cut` is the
  /// number of nodes, the output.
  [[nodiscard]] std::vector<Index> live_at(Index cut) const;
  /// The most values that pass one of the first `last` nodes: seen by others behind it, and not by it for the
  /// last time.
  [[nodiscard]] double most_passing(Index last) const;

 private:
  /// Returns the node of the last entry, `input` where there is none.
  Index add_list(const std::vector<LayerSpec>& layers, Index input, std::vector<Index>* ends = nullptr);
  Index add_entry(const LayerSpec& layer, std::vector<Index> inputs);
  Index add_node(const LayerSpec& layer, std::string title, std::vector<Index> inputs);

  LayerShape input_;
  Index input_last_use_ = 0;
  std::vector<PlanNode> nodes_;
  std::vector<Index> ends_;  ///< nodes behind each entry of the list itself
};

}  // namespace mixcert

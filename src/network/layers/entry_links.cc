// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Names of entries become indices; what is wrong with a graph, whatever its layers are.
#include <algorithm>
#include <map>
#include <utility>

#include "mixcert/core/error.h"
#include "network/layers/graph_plan.h"
#include "network/layers/layer_kind.h"

namespace mixcert {
namespace {

std::string quoted_name(const std::string& name) { return "'" + name + "'"; }

class EntryLinks {
 public:
  explicit EntryLinks(const std::vector<EntryHead>& heads)
      : heads_(heads), is_graph_(std::any_of(heads.begin(), heads.end(), [](const EntryHead& head) {
          return !head.inputs.empty();
        })) {
    for (std::size_t k = 0; k < heads.size(); ++k) take_name(k);
  }

  [[nodiscard]] std::vector<std::vector<Index>> links() const {
    std::vector<std::vector<Index>> all;
    for (std::size_t k = 0; k < heads_.size(); ++k) all.push_back(links_of(k));
    check_all_seen(all);
    return all;
  }

 private:
  void take_name(std::size_t k) {
    const EntryHead& head = heads_[k];
    if (head.name.empty()) return;
    const bool is_link = is_graph_ || !head.names_tensors;
    require(!is_link || head.name != kListInputName,
            head.title + ": expected another name than 'input', which is what the list sees");
    const bool is_fresh = places_.try_emplace(head.name, static_cast<Index>(k)).second;
    require(is_fresh || !is_link, head.title + ": expected a name that no other entry has, got " +
                                      quoted_name(head.name) + " twice");
  }

  [[nodiscard]] std::vector<Index> links_of(std::size_t k) const {
    const EntryHead& head = heads_[k];
    std::vector<Index> links;
    for (const std::string& name : head.inputs) links.push_back(place_of(name, k));
    if (head.inputs.empty()) links.push_back(static_cast<Index>(k) - 1);
    if (head.is_join) {
      require(links.size() >= 2,
              head.title + ": expected two inputs or more, got " + std::to_string(links.size()));
    } else {
      require(links.size() == 1, head.title + ": expected one input, got " + std::to_string(links.size()));
    }
    return links;
  }

  [[nodiscard]] Index place_of(const std::string& name, std::size_t k) const {
    const EntryHead& head = heads_[k];
    require(!name.empty(), head.title + ": inputs: expected names, got an empty one");
    if (name == kListInputName) return kListInput;
    const auto found = places_.find(name);
    require(found != places_.end(),
            head.title + " sees " + quoted_name(name) +
                ": expected 'input' or an entry before it, got no entry of that name");
    const Index place = found->second, own = static_cast<Index>(k);
    require(place != own, head.title + " sees itself: expected entries before it, a network has no cycles");
    require(place < own, head.title + " sees " + quoted_name(name) +
                             ", a later entry: expected entries before it, a network has no cycles");
    return place;
  }

  void check_all_seen(const std::vector<std::vector<Index>>& all) const {
    std::vector<bool> is_seen(heads_.size(), false);
    for (const std::vector<Index>& links : all) {
      for (const Index from : links) {
        if (from != kListInput) is_seen[static_cast<std::size_t>(from)] = true;
      }
    }
    for (std::size_t k = 0; k + 1 < heads_.size(); ++k) {
      require(is_seen[k], heads_[k].title + ": expected a later entry that sees it, got none");
    }
  }

  const std::vector<EntryHead>& heads_;
  bool is_graph_;
  std::map<std::string, Index, std::less<>> places_;
};

}  // namespace

bool joins_entries(std::string_view type) { return type == AddSpec::kType || type == ConcatSpec::kType; }

std::string entry_title(std::string_view type, const std::string& name, std::size_t place) {
  const std::string kind(type);
  return name.empty() ? "entry " + std::to_string(place) + " (" + kind + ")" : kind + " '" + name + "'";
}

std::vector<std::vector<Index>> linked_entries(const std::vector<EntryHead>& heads) {
  return EntryLinks(heads).links();
}

std::vector<std::vector<Index>> linked_entries(const std::vector<LayerSpec>& layers) {
  std::vector<EntryHead> heads;
  for (std::size_t k = 0; k < layers.size(); ++k) {
    const LayerSpec& layer = layers[k];
    const std::string_view type = type_name(layer);
    const std::string name = node_name(layer);
    heads.push_back(
        {entry_title(type, name, k), name, layer.inputs, joins_entries(type), layer.node.empty()});
  }
  return linked_entries(heads);
}

}  // namespace mixcert

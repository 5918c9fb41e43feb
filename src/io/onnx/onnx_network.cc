// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// An entry names what it sees only where that is not the entry before it, so that chains look like chains.
#include "io/onnx/onnx_network.h"

#include <algorithm>
#include <utility>

#include "io/files/file_error.h"
#include "mixcert/core/error.h"

namespace mixcert::io {

Index onnx_count(const std::vector<Index>& sizes) {
  const std::optional<Index> count = element_count(sizes);
  require(count && *count >= 1 && *count <= kMaxLayerSize,
          "expected 1 to " + std::to_string(kMaxLayerSize) + " values, got " + shape_text(sizes));
  return *count;
}

LayerShape onnx_image(const std::vector<Index>& sizes) {
  require(sizes.size() == 2 || sizes.size() == 3,
          "expected an image (batch, channels and one or two axes), got " + shape_text(sizes) +
              " behind the batch");
  const Index height = sizes.size() == 3 ? sizes[1] : 1;
  return {sizes.front(), {height, sizes.back()}, true};
}

void OnnxNetwork::charge(const std::string& what, Index count) {
  check_memory(label_, what, 8.0 * static_cast<double>(count), bytes_);
  bytes_ -= 8U * static_cast<std::uint64_t>(count);
}

std::string OnnxNetwork::unique_name(const std::string& wanted) {
  constexpr std::size_t kLongest = 200;
  std::string name = wanted.empty() ? "layer" : wanted.substr(0, kLongest);
  for (char& c : name) {
    if (c < 0x20 || c >= 0x7F) c = '_';
  }
  std::string unique = name;
  // Numbers go on where they ended for this name.
  for (Index& last = last_number_[name]; !names_.insert(unique).second;)
    unique = name + "_" + std::to_string(++last + 1);
  return unique;
}

Index OnnxNetwork::add(LayerSpec spec, std::vector<Index> seen, const std::string& name) {
  entries_.push_back({std::move(spec), std::move(seen), name});
  return static_cast<Index>(entries_.size()) - 1;
}

OnnxFlow OnnxNetwork::reshaped(const OnnxFlow& flow, const LayerShape& layout) {
  if (flow.layout == layout) return flow;
  OnnxFlow result = flow;
  result.layout = layout;
  const bool flat = !layout.is_image && flow.layout.is_image;
  result.entry =
      flat ? add(FlattenSpec{}, {flow.entry}, "flatten") : add(ReshapeSpec{layout}, {flow.entry}, "reshape");
  return result;
}

OnnxFlow OnnxNetwork::as_vector(const OnnxFlow& flow) {
  return reshaped(flow, {flow.layout.size(), {}, false});
}

OnnxFlow OnnxNetwork::as_image(const OnnxFlow& flow) {
  const LayerShape image = onnx_image(flow.sizes);
  if (flow.entry != kOnnxInput) return reshaped(flow, image);
  if (input_image_ != kOnnxInput) {
    const auto& known = std::get<ReshapeSpec>(spec(input_image_).variant());
    if (known.shape == image) return {input_image_, flow.sizes, image};
  }
  OnnxFlow result = reshaped(flow, image);
  if (input_image_ == kOnnxInput) input_image_ = result.entry;
  return result;
}

void OnnxNetwork::mark_needed(Index output) {
  // Entries see earlier ones: one pass backwards reaches all.
  entries_[static_cast<std::size_t>(output)].is_needed = true;
  for (std::size_t k = entries_.size(); k-- > 0;) {
    if (!entries_[k].is_needed) continue;
    for (const Index seen : entries_[k].seen) {
      if (seen != kOnnxInput) entries_[static_cast<std::size_t>(seen)].is_needed = true;
    }
  }
}

void OnnxNetwork::drop_first_reshape() {
  if (input_image_ == kOnnxInput || !entries_[static_cast<std::size_t>(input_image_)].is_needed) return;
  Index readers = 0;
  bool only_convolutions = true;
  for (const Entry& entry : entries_) {
    if (!entry.is_needed) continue;
    if (std::find(entry.seen.begin(), entry.seen.end(), kOnnxInput) != entry.seen.end()) ++readers;
    const bool sees = std::find(entry.seen.begin(), entry.seen.end(), input_image_) != entry.seen.end();
    if (sees && !std::holds_alternative<Conv2dSpec>(entry.spec.variant())) only_convolutions = false;
  }
  if (readers != 1 || !only_convolutions) return;
  entries_[static_cast<std::size_t>(input_image_)].is_needed = false;
  for (Entry& entry : entries_) std::replace(entry.seen.begin(), entry.seen.end(), input_image_, kOnnxInput);
}

std::vector<LayerSpec> OnnxNetwork::finish(const OnnxFlow& output) && {
  require(output.entry != kOnnxInput, "expected a layer between input and output, got none");
  mark_needed(output.entry);
  // The output itself may be the reshape, then nobody sees it.
  if (output.entry != input_image_) drop_first_reshape();
  std::vector<bool> is_named(entries_.size(), false);
  const auto follows = [&](const Entry& entry, Index before) {
    return entry.seen.size() == 1 && entry.seen.front() == before;
  };
  Index before = kOnnxInput;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!entries_[k].is_needed) continue;
    for (const Index seen : entries_[k].seen) {
      if (seen != kOnnxInput && !follows(entries_[k], before))
        is_named[static_cast<std::size_t>(seen)] = true;
    }
    before = static_cast<Index>(k);
  }
  std::vector<LayerSpec> layers;
  std::vector<std::string> called(entries_.size());
  before = kOnnxInput;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    Entry& entry = entries_[k];
    if (!entry.is_needed) continue;
    if (is_named[k] && node_name(entry.spec).empty()) entry.spec.node = unique_name(entry.name);
    if (!follows(entry, before)) {
      for (const Index seen : entry.seen)
        entry.spec.inputs.push_back(seen == kOnnxInput ? "input" : called[static_cast<std::size_t>(seen)]);
    }
    called[k] = node_name(entry.spec);
    layers.push_back(std::move(entry.spec));
    before = static_cast<Index>(k);
  }
  return layers;
}

}  // namespace mixcert::io

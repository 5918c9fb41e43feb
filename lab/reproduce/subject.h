// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// A network of the catalogue ready to be examined: trained where its file is missing, with test points drawn
// from its data set, both also as files so that the commands of a row can be typed.
#pragma once

#include "mixcert/certificate/options.h"
#include "mixcert/network/network.h"
#include "reproduce/experiment.h"
#include "reproduce/network_catalogue.h"

namespace mixcert::lab {

struct Subject {
  const NetworkSpec* spec = nullptr;
  std::string gap;        ///< why it is not there; "" where it is
  bool for_ever = false;  ///< the gap does not close by itself: the quick form leaves the network out
  std::filesystem::path model;
  std::string sha256;
  std::vector<Network> network;  ///< one, unless there is a gap
  Matrix inputs;                 ///< columns
  std::filesystem::path inputs_file;
  std::vector<int> labels;  ///< of the inputs, classification

  [[nodiscard]] bool is_there() const { return gap.empty(); }
  [[nodiscard]] const Network& net() const { return network.front(); }
  /// Where rows about it come from.
  [[nodiscard]] RowOrigin origin(const Context& context, std::vector<std::string> commands) const;
};

/// `count` test points drawn without repetition, in the order of the set; behind a backbone of the first 1000
/// test images, whose features the training left. Missing data and, with options.train off, missing networks
/// are a gap, not an error.
Subject prepare_subject(const Context& context, const NetworkSpec& spec, Index count);

/// `count` numbers of 0..size-1 in increasing order, drawn without repetition.
std::vector<Index> draw_indices(Index size, Index count, std::uint64_t seed);

/// "mixcert certify MODEL --inputs FILE" with the options that differ from their defaults.
std::string certify_command(const Subject& subject, const Options& options);

/// Writes columns as rows of a .npy file.
void write_points(const std::filesystem::path& file, const Matrix& points);

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The one table of the paper's networks: how each is trained here, and what the paper prints about it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mixcert::lab {

/// Figures printed in the paper's Table 1: relative W2.
struct PaperErrors {
  double empirical = 0.0;
  double formal = 0.0;
  double cross_empirical = 0.0;
};

struct NetworkSpec {
  std::string name;   ///< of its file
  std::string set;    ///< data set, as `mixcert data` names it
  std::string title;  ///< "NoisySines"
  std::string label;  ///< "[1x64] (VI)"
  /// Words for `mixcert train`; NETWORKS stands for the folder of the networks.
  std::string training;
  /// Further words for the quick form; "": it leaves the network out.
  std::string quick;
  bool dropout = false;
  std::optional<PaperErrors> table1;
  /// Table 2: three compression sizes, 1, 3, none; for dropout 10, 100, 10000.
  std::optional<std::array<double, 3>> table2;
  std::string remark;  ///< how it differs from the paper's
};

/// In the order of Table 1. Where the paper leaves the dropout rate open there is a row for each of two.
const std::vector<NetworkSpec>& network_catalogue();
const NetworkSpec& find_network(const std::string& name);

/// "--arch 1-64-1 --epochs 3" by name.
std::map<std::string, std::string> training_fields(const std::string& words);

}  // namespace mixcert::lab

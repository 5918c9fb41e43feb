// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert import: from a PyTorch file and from npz to a model that certify takes; mistakes are one line; what
// an import changed is among the assumptions of a result.
#include <cmath>

#include "cli/model_files.h"
#include "cli/program.h"
#include "io/formats/npy.h"
#include "io/torch_archive.h"
#include "mixcert/io/model_file.h"

namespace mixcert::test {
namespace import_command_test {

using ImportCommand = CommandLineTest;

NamedArrays torchbnn_dictionary() {
  return {{{"fc1.weight_mu", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
           {"fc1.weight_log_sigma", {{2, 3}, {-1, -1, -1, -1, -1, -1}}},
           {"out.weight_mu", {{1, 2}, {1, -1}}},
           {"out.weight_log_sigma", {{1, 2}, {-2, -2}}}},
          true};
}

TEST_F(ImportCommand, TorchFileToCertificate) {
  write_torch_file(directory_ / "w.pt", torchbnn_dictionary());
  const std::string out = run_well({"import", "w.pt", "--from", "torchbnn", "--arch", "3-2-1", "--activation",
                                    "tanh", "--out", "net.safetensors"});
  EXPECT_CONTAINS(out, "wrote net.safetensors");
  const Network network = load_network(directory_ / "net.safetensors");
  EXPECT_EQ(network.layer(0).weight_mean()(1, 2), 6.0);
  EXPECT_NEAR(network.layer(1).row_variances()[0], 2.0 * std::exp(-4.0), 1e-15);
  write_inputs(directory_ / "x.csv", 2, 3);
  (void)run_well({"certify", "net.safetensors", "--inputs", "x.csv", "--out", "r.npz"});
}

TEST_F(ImportCommand, ProjectionsAreAmongTheAssumptions) {
  const std::map<std::string, Array> arrays = {{"mean", {{4}, {1, 2, 3, 4}}},
                                               {"H", {{4, 4}, std::vector<double>(16, 0.5)}},
                                               {"prior_precision", {{1}, {2}}},
                                               {"sigma_noise", {{1}, {1}}},
                                               {"temperature", {{1}, {1}}}};
  write_npz(directory_ / "w.npz", arrays);
  write_inputs(directory_ / "x.csv", 1, 1);
  // Layers that are not independent are read, drawn and linearised, and have no certificate.
  (void)run_well({"import", "w.npz", "--from", "laplace", "--arch", "1-1-1", "--out", "whole.safetensors"});
  EXPECT_CONTAINS(run_well({"inspect", "whole.safetensors"}), "layers share 4 random factors");
  expect_refusal({"certify", "whole.safetensors", "--inputs", "x.csv"},
                 {"factor in common", "project per-layer"});
  EXPECT_CONTAINS(run_well({"certify", "whole.safetensors", "--inputs", "x.csv", "--predictive", "glm"}),
                  "W2(linearised network, mixture) <=");
  EXPECT_CONTAINS(run_well({"sample", "whole.safetensors", "--inputs", "x.csv", "--out", "s.npy"}),
                  "wrote s.npy");
  const std::string out = run_well({"import", "w.npz", "--from", "laplace", "--arch", "1-1-1", "--project",
                                    "per-layer", "--out", "n.safetensors"});
  EXPECT_CONTAINS(out, "assumes: ");
  EXPECT_CONTAINS(run_well({"inspect", "n.safetensors"}), "correlations across layers are left out");
  (void)run_well({"certify", "n.safetensors", "--inputs", "x.csv", "--json", "r.json"});
  EXPECT_CONTAINS(read_text(directory_ / "r.json"), "correlations across layers are left out");
}

TEST_F(ImportCommand, MistakesAreOneLine) {
  write_torch_file(directory_ / "w.pt", torchbnn_dictionary());
  const auto refuse = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> words = {"import", "w.pt", "--out", "n.safetensors"};
    words.insert(words.end(), more.begin(), more.end());
    expect_refusal(words, parts);
  };
  refuse({"--from", "torchbnn", "--arch", "3-4-1"}, {"w.pt", "'fc1.weight_mu'", "[4, 3]", "[2, 3]"});
  refuse({"--from", "keras", "--arch", "3-2-1"}, {"keras", "torchbnn"});
  refuse({"--from", "blitz", "--arch", "3-2-1"}, {"w.pt", "blitz"});
  refuse({"--from", "torchbnn", "--arch", "none.json"}, {"none.json"});
  refuse({"--from", "torchbnn", "--arch", "3-2-1", "--activation", "sin"}, {"sin"});
  refuse({"--from", "torchbnn", "--arch", "3-2-1", "--project", "all"}, {"--project"});
  expect_refusal({"import", "w.txt", "--from", "plain", "--arch", "1-1", "--out", "n.safetensors"},
                 {"w.txt", ".npz"});
  write_text(directory_ / "old.pt", "\x80\x02");
  expect_refusal({"import", "old.pt", "--from", "plain", "--arch", "1-1", "--out", "n.safetensors"},
                 {"old.pt", "since 1.6"});
}

}  // namespace import_command_test
}  // namespace mixcert::test

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// mixcert import: a model file from the weights that another library saved, or from an ONNX model
// (docs/import.md).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command.h"
#include "io/files/byte_source.h"
#include "mixcert/core/error.h"
#include "mixcert/io/model_file.h"
#include "mixcert/io/onnx_file.h"
#include "mixcert/io/weight_conventions.h"
#include "run_context.h"

namespace mixcert::cli {
namespace {

constexpr std::uint64_t kMaxListBytes = std::uint64_t{16} << 20U;

struct ImportArguments {
  std::vector<std::string> files;
  std::string out;
  std::optional<std::string> library;
  std::optional<std::string> architecture;  ///< as typed
  std::optional<std::string> activation;
  std::optional<std::string> deviations;
  std::string layers;  ///< as typed
  std::optional<std::string> project;
  std::optional<std::string> scales;
  ImportOptions options;
};

/// An architecture that is no list of widths and no JSON is the name of a file with the list.
std::string architecture_text(const std::string& given) {
  const std::size_t first = given.find_first_not_of(" \t\n");
  if (given.find_first_not_of("0123456789-") == std::string::npos) return given;
  if (first != std::string::npos && given[first] == '[') return given;
  io::FileSource file(given);
  require(file.size() <= kMaxListBytes, given + ": expected at most 16 MiB of JSON, got more");
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size(), "file");
  return text;
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  return names;
}

/// An ONNX model tells its architecture itself.
bool is_onnx(const ImportArguments& arguments) {
  return std::any_of(arguments.files.begin(), arguments.files.end(), [](const std::string& file) {
    return std::filesystem::path(file).extension() == ".onnx";
  });
}

ImportedModel onnx_model(const ImportArguments& arguments) {
  const std::string& file = arguments.files.front();
  require(arguments.files.size() == 1, file + ": expected an ONNX model alone, got several files");
  const std::vector<std::pair<const char*, bool>> others = {
      {"--from", arguments.library.has_value()},
      {"--arch", arguments.architecture.has_value()},
      {"--activation", arguments.activation.has_value()},
      {"--layers", !arguments.layers.empty()},
      {"--project", arguments.project.has_value()},
      {"--scales", arguments.scales.has_value()},
      {"--swag-scale", arguments.options.swag_scale.has_value()}};
  for (const auto& [flag, given] : others)
    require(!given, std::string(flag) + ": expected weights without a graph, got the ONNX model " + file);
  return import_onnx(file, arguments.deviations ? read_named_arrays({*arguments.deviations}) : NamedArrays{});
}

ImportedModel model_of_weights(const ImportArguments& arguments) {
  require(arguments.library.has_value(), "--from is required: whose names and formulas the file has");
  require(arguments.architecture.has_value(),
          "--arch is required: widths as 784-128-10, or a JSON list of layers");
  require(!arguments.deviations, "--deviations: expected an ONNX model, got " + arguments.files.front());
  ImportOptions options = arguments.options;
  options.library = *arguments.library;
  options.architecture = architecture_text(*arguments.architecture);
  options.activation = arguments.activation.value_or(options.activation);
  options.layers = split_names(arguments.layers);
  options.project_per_layer = arguments.project.has_value();
  if (arguments.scales) options.constrained_scales = *arguments.scales == "constrained";
  const NamedArrays arrays = read_named_arrays({arguments.files.begin(), arguments.files.end()});
  return import_weights(arrays, options, arguments.files.front());
}

/// Dropout is what is random in ONNX models themselves.
bool drops(const std::vector<LayerSpec>& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const LayerSpec& layer) {
    return std::holds_alternative<DropoutSpec>(layer.variant());
  });
}

void run_import(const ImportArguments& arguments) {
  std::vector<NamedFile> read;
  for (const std::string& file : arguments.files) read.push_back({"WEIGHTS", file});
  if (arguments.deviations) read.push_back({"--deviations", *arguments.deviations});
  check_outputs(read, {{"--out", arguments.out}});
  const bool onnx = is_onnx(arguments);
  const ImportedModel model = onnx ? onnx_model(arguments) : model_of_weights(arguments);
  std::map<std::string, std::string> metadata = {{"imported_from", onnx ? "onnx" : *arguments.library}};
  if (!model.assumptions.empty()) metadata["assumptions"] = assumptions_text(model.assumptions);
  save_layers(arguments.out, model.layers, std::move(metadata));
  for (const LayerSpec& layer : model.layers) std::printf("%s\n", title(layer).c_str());
  for (const std::string& assumption : model.assumptions) std::printf("assumes: %s\n", assumption.c_str());
  if (onnx && !arguments.deviations && !drops(model.layers))
    std::printf(
        "note: nothing in it is random: exporters leave dropout out of models in evaluation mode, and "
        "--deviations "
        "makes weights random\n");
  std::printf("wrote %s\n", arguments.out.c_str());
}

}  // namespace

void add_import_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("import", "a model file from weights that another library saved");
  auto arguments = std::make_shared<ImportArguments>();
  // Two lines of names.
  const std::vector<std::string>& names = import_libraries();
  std::string libraries = "Libraries:";
  for (std::size_t i = 0; i < names.size(); ++i)
    libraries += (i == (names.size() + 1) / 2 ? "\n  " : " ") + names[i];
  command->add_option("WEIGHTS", arguments->files, "one .onnx, or .safetensors, .npz, .pt, .pth together")
      ->required()
      ->type_name("FILE");
  command->add_option("--from", arguments->library, "whose names and formulas the file has")
      ->type_name("LIBRARY");
  command->add_option("--arch", arguments->architecture, "widths as 784-128-10, or a JSON list of layers")
      ->type_name("ARCH");
  command->add_option("--out", arguments->out, "write the model (.safetensors)")
      ->required()
      ->type_name("FILE");
  command->add_option("--activation", arguments->activation, "between layers given by widths (relu)")
      ->type_name("NAME");
  command->add_option("--layers", arguments->layers, "names of the layers in order")->type_name("NAME,...");
  command->add_option("--project", arguments->project, "drop correlations across layers")
      ->check(CLI::IsMember({"per-layer"}))
      ->type_name("per-layer");
  command->add_option("--scales", arguments->scales, "Pyro, NumPyro: constrained or unconstrained scales")
      ->check(CLI::IsMember({"constrained", "unconstrained"}))
      ->type_name("KIND");
  command->add_option("--swag-scale", arguments->options.swag_scale, "factor of SWAG's covariance")
      ->check(CLI::PositiveNumber)
      ->type_name("NUMBER");
  command->add_option("--deviations", arguments->deviations, "ONNX: of initialisers, by their names")
      ->type_name("FILE");
  command->footer(
      libraries +
      "\nExample:\n  mixcert import w.pt --from bayesian-torch --arch 784-128-10 --out "
      "net.safetensors\n  mixcert import model.onnx --deviations d.safetensors --out net.safetensors");
  command->callback([arguments] { run_import(*arguments); });
}

}  // namespace mixcert::cli

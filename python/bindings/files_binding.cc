// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Results written as `mixcert certify` writes them: arrays, a report of every bound, a page for the browser.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "io/files/atomic_file.h"
#include "io/files/byte_source.h"
#include "mixcert/certify/certify.h"
#include "mixcert/core/error.h"
#include "mixcert/core/version.h"
#include "mixcert/io/proof_file.h"
#include "mixcert/network/layer_spec.h"
#include "report/pages/command_pages.h"

namespace mixcert::python {
namespace {

using Views = std::vector<ResultView>;
using MaybePath = std::optional<std::string>;

RunRecord record_of(const Run& run) {
  RunRecord record;
  record.version = version();
  const Model& model = run.require_model("save");
  if (model.records.size() == 1) record.model_sha256 = model.records.front().sha256;
  record.assumptions = run.assumptions();
  record.seed = run.options.seed;
  record.command = "mixcert.certify";
  record.joint = run.options.joint;
  record.model_files = model.files;
  record.outputs = model.ensemble.outputs();
  for (const auto& field : option_table()) record.options.emplace_back(field.name, field.get(run.options));
  return record;
}

/// The results numbered from 0, each with its input.
struct Chosen {
  std::vector<Result> results;
  Matrix inputs;
};

Chosen choose(const Views& views) {
  require(!views.empty(), "save: expected at least one result, got none");
  const Run& run = *views.front().run;
  Chosen chosen;
  if (run.options.joint)
    chosen.inputs = run.inputs;
  else
    chosen.inputs.resize(run.inputs.rows(), static_cast<Index>(views.size()));
  for (const ResultView& view : views) {
    require(view.run.get() == &run, "save: expected results of one call of certify, got those of several");
    const auto place = static_cast<Index>(chosen.results.size());
    if (!run.options.joint) chosen.inputs.col(place) = run.inputs.col(static_cast<Index>(view.place));
    chosen.results.push_back(view.result());
    chosen.results.back().input = place;
  }
  return chosen;
}

void save_results(const Views& views, const MaybePath& npz, const MaybePath& json) {
  const Chosen chosen = choose(views);
  const Run& run = *views.front().run;
  ResultWriter writer(npz, json, record_of(run));
  writer.add_inputs(chosen.inputs, run.model->noise);
  for (const Result& result : chosen.results) writer.add(result);
  writer.finish();
}

/// The network as a model file, and the proof that is about it.
void save_proof(const Views& views, const std::string& path, const std::string& model_file) {
  const Chosen chosen = choose(views);
  const Run& run = *views.front().run;
  const Model& model = run.require_model("save_proof");
  require(model.ensemble.size() == 1 && model.noise.is_none() && !run.options.joint,
          "save_proof: expected a single network with all its outputs, and inputs one by one");
  save_model(model, model_file);
  ProofWriter writer(path, model.ensemble.member(0), sha256_of_file(model_file), run.options);
  for (std::size_t i = 0; i < chosen.results.size(); ++i)
    writer.add(chosen.results[i], chosen.inputs.col(static_cast<Index>(i)));
  writer.finish();
}

/// Inputs are shown as pictures where the network takes images of one or three channels.
std::optional<LayerShape> picture_shape(const Model& model, Index features) {
  if (model.layers.empty()) return std::nullopt;
  const LayerShape shape = input_shape(model.layers);
  const bool shown = shape.is_image && (shape.channels == 1 || shape.channels == 3);
  return shown && shape.size() == features ? std::optional(shape) : std::nullopt;
}

page::RunFacts facts_of(const Run& run) {
  RunRecord record = record_of(run);
  page::RunFacts facts;
  facts.version = record.version;
  facts.command = record.command;
  facts.seed = record.seed;
  facts.architecture = page::architecture_words(run.model->ensemble);
  for (std::size_t i = 0; i < run.model->files.size(); ++i)
    facts.models.push_back({run.model->files[i], run.model->records[i].sha256, 1.0});
  facts.options = std::move(record.options);
  facts.assumptions = std::move(record.assumptions);
  facts.seconds = run.seconds;
  return facts;
}

void write_report(const Views& views, const std::string& path) {
  const Chosen chosen = choose(views);
  const Run& run = *views.front().run;
  const Model& model = run.require_model("report");
  AtomicFile file(path);
  page::CertifyCollector collector(model.ensemble, run.options, chosen.inputs,
                                   picture_shape(model, chosen.inputs.rows()));
  for (const Result& result : chosen.results) collector.add(result);
  page::CertifyContents contents = collector.finish();
  contents.run = facts_of(run);
  file.write(page::write_page(page::certify_page(contents)));
  file.commit();
}

/// Numbers of a kind: names, and of each the mixture's value, both ends, Monte Carlo's and its error.
void write_comparison(
    const std::string& path, const std::string& title, const std::string& summary,
    const std::vector<std::array<std::string, 4>>& headlines,
    const std::vector<std::tuple<std::string, std::vector<std::string>, std::vector<std::array<double, 5>>>>&
        groups,
    const std::vector<std::string>& notes) {
  page::ComparisonContents contents{title, summary, {}, {}, notes, std::string(version())};
  for (const auto& [label, value, note, tone] : headlines) {
    const page::Tone own = tone == "certified"  ? page::Tone::Certified
                           : tone == "estimate" ? page::Tone::Estimate
                                                : page::Tone::Plain;
    contents.headlines.push_back({label, value, note, own});
  }
  for (const auto& [kind, names, numbers] : groups) {
    page::ComparedGroup group{kind, {}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [mixture, lower, upper, drawn, error] = numbers.at(i);
      group.rows.push_back({names[i], {mixture, lower, upper}, drawn, error});
    }
    contents.groups.push_back(std::move(group));
  }
  AtomicFile file(path);
  file.write(page::write_page(page::comparison_page(contents)));
  file.commit();
}

/// Results as they were written; what files do not have (layers' metrics, times) is empty or NaN.
Views load_results(const std::string& path) {
  StoredRun stored = read_run(path);
  const auto run = std::make_shared<Run>();
  run->file = path;
  if (stored.run) {
    run->options = stored.options();
    run->stored = *stored.run;
    run->options.joint = stored.run->joint;
  }
  const auto options = std::make_shared<const Options>(run->options);
  Views views;
  for (std::size_t i = 0; i < stored.results.size(); ++i) {
    run->results.push_back(stored.result(static_cast<Index>(i), options));
    views.push_back({run, i});
  }
  run->inputs = std::move(stored.inputs);
  return views;
}

}  // namespace

void bind_files(py::module_& module) {
  module.def("save_results", &save_results, py::call_guard<py::gil_scoped_release>());
  module.def("save_proof", &save_proof, py::call_guard<py::gil_scoped_release>());
  module.def("load_results", &load_results, py::call_guard<py::gil_scoped_release>());
  module.def("write_comparison", &write_comparison, py::call_guard<py::gil_scoped_release>());
  module.def("write_report", &write_report, py::call_guard<py::gil_scoped_release>());
}

}  // namespace mixcert::python

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the catalogue to networks and points.
#include "reproduce/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "data/load.h"
#include "io/files/byte_source.h"
#include "io/formats/npy.h"
#include "mixcert/core/error.h"
#include "mixcert/io/input_file.h"
#include "mixcert/io/model_file.h"
#include "train/divergence.h"
#include "train/train.h"

namespace mixcert::lab {
namespace {

DataRequest request_of(const Context& context, const NetworkSpec& spec) {
  DataRequest request;
  request.name = spec.set;
  request.folder = context.options.data;
  return request;
}

std::string training_words(const Context& context, const NetworkSpec& spec) {
  std::string words = spec.training + (context.quick() ? " " + spec.quick : "");
  const std::string folder = "NETWORKS";
  if (const auto at = words.find(folder); at != std::string::npos)
    words.replace(at, folder.size(), context.options.networks.string());
  return words;
}

void train_network(const Context& context, const NetworkSpec& spec, const std::filesystem::path& model) {
  TrainOptions options = resolve_train_options(training_fields(training_words(context, spec)), spec.set);
  options.threads = context.options.threads;
  options.validate();
  const Dataset data = load_dataset(request_of(context, spec));
  context.say("training " + spec.name);
  std::filesystem::create_directories(model.parent_path());
  TrainServices services;
  services.stage = [](const std::string&, Index, Index) {};
  services.epoch = [](const EpochRecord&) {};
  services.step = [] {};
  services.cancel = context.cancel;
  train(data, options, model, services);
}

/// Test points and labels; features that the training left where the network stands behind a backbone.
void load_points(const Context& context, Index count, Subject& subject) {
  const Dataset data = load_dataset(request_of(context, *subject.spec));
  const auto features_file = std::filesystem::path(subject.model).replace_extension(".features.npy");
  const bool backbone = std::filesystem::exists(features_file);
  const Matrix features = backbone ? read_inputs(features_file) : Matrix();
  const Index size = backbone ? std::min(features.cols(), data.test.size()) : data.test.size();
  const std::vector<Index> chosen = draw_indices(size, count, context.options.seed);
  subject.inputs.resize(backbone ? features.rows() : data.features(), static_cast<Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto column = static_cast<Index>(i);
    subject.inputs.col(column) = backbone
                                     ? Vector(features.col(chosen[i]))
                                     : Vector(data.test.inputs.row(chosen[i]).transpose().cast<double>());
    if (!data.test.labels.empty())
      subject.labels.push_back(data.test.labels[static_cast<std::size_t>(chosen[i])]);
  }
}

}  // namespace

RowOrigin Subject::origin(const Context& context, std::vector<std::string> commands) const {
  return {std::move(commands), model.string(), sha256, context.options.seed};
}

std::vector<Index> draw_indices(Index size, Index count, std::uint64_t seed) {
  std::vector<Index> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), Index{0});
  Generator generator = make_generator(seed, Stream::Subset);
  const Index taken = std::min(size, count);
  for (Index i = 0; i < taken; ++i) {
    const Index j = i + static_cast<Index>(uniform(generator) * static_cast<double>(size - i));
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
  }
  all.resize(static_cast<std::size_t>(taken));
  std::sort(all.begin(), all.end());
  return all;
}

void write_points(const std::filesystem::path& file, const Matrix& points) {
  std::filesystem::create_directories(file.parent_path());
  NpyWriter writer(file, {points.cols(), points.rows()});
  writer.append(std::span(points.data(), static_cast<std::size_t>(points.size())));
  writer.finish();
}

std::string certify_command(const Subject& subject, const Options& options) {
  std::string text =
      fmt::format("mixcert certify {} --inputs {}", subject.model.string(), subject.inputs_file.string());
  const Options usual;
  for (const auto& field : option_table()) {
    const std::string value = field.get(options);
    if (value == field.get(usual) || field.name == "threads") continue;
    text += " --" + field.name + (field.kind == OptionKind::Flag ? "" : " " + value);
  }
  return text;
}

Subject prepare_subject(const Context& context, const NetworkSpec& spec, Index count) {
  Subject subject;
  subject.spec = &spec;
  subject.model = context.options.networks / (spec.name + ".safetensors");
  try {
    if (!std::filesystem::exists(subject.model)) {
      if (context.quick() && spec.quick.empty()) {
        subject.gap = "left out of the quick form";
        subject.for_ever = true;
        return subject;
      }
      if (!context.options.train) {
        subject.gap = "not trained: mixcert train --data " + spec.set + " " + training_words(context, spec);
        return subject;
      }
      train_network(context, spec, subject.model);
    }
    load_points(context, count, subject);
    subject.network.push_back(load_network(subject.model));
  } catch (const FileError& error) {
    subject.gap = error.what();
    return subject;
  } catch (const Diverged& error) {
    subject.gap = error.what();
    return subject;
  }
  subject.sha256 = sha256_of_file(subject.model);
  subject.inputs_file = context.options.out / "inputs" / fmt::format("{}-{}.npy", spec.name, count);
  write_points(subject.inputs_file, subject.inputs);
  return subject;
}

}  // namespace mixcert::lab

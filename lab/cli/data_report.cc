// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Texts about data sets.
#include "data_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/noisy_sines.h"

namespace mixcert::lab {
namespace {

std::string shape_of(const CatalogueEntry& entry) {
  const auto& shape = entry.image_shape;
  if (shape[0] == 0) return std::to_string(entry.features);
  return fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]);
}

std::string source_of(const CatalogueEntry& entry) {
  switch (entry.source.kind) {
    case SourceKind::NpmPackage:
      return "npm " + entry.source.package;
    case SourceKind::DebianPackage:
      return "Debian " + entry.source.package;
    case SourceKind::Copy:
      return "--from FOLDER";
    case SourceKind::Generated:
      break;
  }
  return "generated";
}

std::string state_of(const CatalogueEntry& entry, const DataVariant* variant) {
  if (entry.format == DataFormat::Generated) return "always";
  if (variant == nullptr) return "no";
  return variant->note.empty() ? "yes" : "a part";
}

std::string list_line(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  const DataVariant* const found = find_variant(entry, folder);
  const bool generated = entry.variants.empty();
  const DataVariant* const shown = found != nullptr || generated ? found : &entry.variants.front();
  return fmt::format("{:<14} {:<8} {:<8} {:>6} {:>6}  {:<30} {}\n", entry.name, state_of(entry, found),
                     shape_of(entry), generated ? kNoisySinesTrain : shown->train_size,
                     generated ? kNoisySinesTest : shown->test_size, source_of(entry), entry.title);
}

std::string counts_line(const char* split, const Examples& examples, Index classes) {
  std::vector<Index> counts(static_cast<std::size_t>(classes), 0);
  for (const int label : examples.labels) ++counts[static_cast<std::size_t>(label)];
  return fmt::format("  {:<12} {}\n", split, fmt::join(counts, " "));
}

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

Moments moments_of(const FloatRows& values) {
  const double mean = values.cast<double>().mean();
  return {mean, std::sqrt((values.cast<double>().array() - mean).square().mean())};
}

std::string moments_line(const std::string& what, const FloatRows& values) {
  const auto [mean, deviation] = moments_of(values);
  return fmt::format("  {:<12} mean {:8.5f}, standard deviation {:8.5f}, smallest {:8.5f}, largest {:8.5f}\n",
                     what, mean, deviation, values.minCoeff(), values.maxCoeff());
}

/// The raw means and scales of the training rows, at most eight of them.
std::string standardisation_lines(const Standardisation& used) {
  const auto line = [](const char* what, const Vector& values) {
    constexpr Index kMost = 8;
    const Vector head = values.head(std::min(values.size(), kMost));
    return fmt::format("  {:<12} {:.5g}{}\n", what, fmt::join(head.data(), head.data() + head.size(), " "),
                       values.size() > kMost ? " .." : "");
  };
  return "standardised by (raw - mean) / scale\n" + line("input mean", used.input_mean) +
         line("input scale", used.input_scale) + line("target mean", used.target_mean) +
         line("target scale", used.target_scale);
}

std::string files_lines(const CatalogueEntry& entry, const std::filesystem::path& folder) {
  const DataVariant* const variant = find_variant(entry, folder);
  if (variant == nullptr) return "files          none\n";
  std::string text = "files, sums verified\n";
  for (const DataFile& file : variant->files) {
    const auto path = find_data_file(folder, file);
    text += fmt::format("  {}  {} bytes of contents, {} {}\n", path ? path->string() : file.name, file.size,
                        file.sum.size() == 32 ? "md5" : "sha256", file.sum);
  }
  return text;
}

}  // namespace

std::string data_list_text(const std::filesystem::path& folder) {
  std::string text =
      fmt::format("Data folder: {}\n\n{:<14} {:<8} {:<8} {:>6} {:>6}  {:<30} {}\n", folder.string(), "name",
                  "there", "inputs", "train", "test", "source", "what");
  for (const CatalogueEntry& entry : catalogue()) text += list_line(entry, folder);
  return text;
}

std::string data_show_text(const CatalogueEntry& entry, const Dataset& dataset,
                           const std::filesystem::path& folder) {
  const DataVariant* const variant = find_variant(entry, folder);
  std::string text = fmt::format("{}: {}\n", dataset.name, entry.title);
  if (variant != nullptr && !variant->note.empty()) text += fmt::format("note           {}\n", variant->note);
  text +=
      fmt::format("task           {}\n", dataset.task == Task::Regression
                                             ? "regression, 1 output"
                                             : fmt::format("classification, {} classes", dataset.classes));
  text += fmt::format("inputs         {}\n", shape_of(entry));
  text += fmt::format("examples       {} train, {} test\n", dataset.train.size(), dataset.test.size());
  text += fmt::format("source         {}; licence: {}\n", source_of(entry), entry.licence);
  if (dataset.task == Task::Classification) {
    text += "images per class\n" + counts_line("train", dataset.train, dataset.classes) +
            counts_line("test", dataset.test, dataset.classes);
  }
  text += "values as a network sees them\n" + moments_line("train inputs", dataset.train.inputs) +
          moments_line("test inputs", dataset.test.inputs);
  if (dataset.task == Task::Regression) {
    text += moments_line("train target", dataset.train.targets) +
            moments_line("test target", dataset.test.targets);
    if (variant != nullptr) text += standardisation_lines(dataset.standardisation);
  }
  return text + files_lines(entry, folder);
}

}  // namespace mixcert::lab

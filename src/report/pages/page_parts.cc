// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Facts and numbers of pages, and pictures of inputs.
#include "report/pages/page_parts.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "core/text_table.h"
#include "mixcert/core/error.h"
#include "network/graph/layer_graph.h"

namespace mixcert::page {
namespace {

constexpr std::string_view kMinus = "\u2212";

std::string superscript(int exponent) {
  static constexpr const char* kDigits[] = {"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                            "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "\u207B" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

/// "1.2e-05" as "1.2·10⁻⁵", "-3" with a minus sign.
std::string typeset(const std::string& plain) {
  if (plain == "inf") return "\u221E";
  if (plain == "-inf") return std::string(kMinus) + "\u221E";
  const std::size_t exponent = plain.find('e');
  std::string text;
  for (const char c : plain.substr(0, exponent)) {
    if (c == '-') {
      text += kMinus;
    } else {
      text += c;
    }
  }
  if (exponent == std::string::npos) return text;
  return text + "\u00B710" +
         superscript(static_cast<int>(std::strtol(plain.c_str() + exponent + 1, nullptr, 10)));
}

std::string input_words(const Network& network) {
  std::string text = counted(network.inputs(), "input");
  if (network.front() == nullptr) return text;
  return text + fmt::format(" \u2192 deterministic layers, {} features", count_text(network.feature_count()));
}

std::string layer_words(const Network& network) {
  std::string text = input_words(network);
  for (Index k = 0; k < network.layer_count(); ++k) {
    const bool last = k + 1 == network.layer_count();
    text += fmt::format(" \u2192 {}", count_text(network.layer(k).outputs()));
    text += last ? (network.outputs() == 1 ? " output" : " outputs")
                 : fmt::format(" {}", to_string(network.activation(k + 1).common().function()));
    if (!last && !network.mask(k + 1).is_none())
      text += fmt::format(", dropout {}", number_text(network.mask(k + 1).rate()));
  }
  return text;
}

std::string family_words(const Network& network) {
  std::vector<std::string> families;
  for (Index k = 0; k < network.layer_count(); ++k) {
    const std::string name(family_name(network.layer(k).weights()));
    if (std::find(families.begin(), families.end(), name) == families.end()) families.push_back(name);
  }
  return fmt::format("{} weights", fmt::join(families, " and "));
}

}  // namespace

std::string architecture_words(const Ensemble& ensemble) {
  const Network& first = ensemble.member(0);
  if (first.graph() != nullptr) {
    const LayerGraph& graph = *first.graph();
    return fmt::format("{} \u2192 {} \u2192 {}", input_words(first), counted(graph.size() - 1, "layer"),
                       counted(graph.outputs(), "output"));
  }
  Index parameters = 0;
  for (Index k = 0; k < first.layer_count(); ++k) parameters += first.layer(k).parameter_count();
  std::string one = fmt::format("{}; {}; {} parameters (means and covariances)", layer_words(first),
                                family_words(first), count_text(parameters));
  if (ensemble.size() == 1) return one;
  return fmt::format("ensemble of {} networks, the first: {}", ensemble.size(), one);
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string model_names(const std::vector<ModelFact>& models) {
  std::vector<std::string> names;
  names.reserve(models.size());
  for (const ModelFact& model : models) names.push_back(file_name(model.file));
  return fmt::format("{}", fmt::join(names, ", "));
}

Section settings_section(const RunFacts& run) {
  FactList facts{
      {{"Command", run.command, true}, {"Version", run.version}, {"Seed", std::to_string(run.seed)}}};
  facts.facts.push_back({"Time", short_time(run.seconds)});
  std::string options;
  for (const auto& [name, value] : run.options) {
    if (!value.empty()) options += fmt::format("{}{} {}", options.empty() ? "" : ", ", name, value);
  }
  if (!options.empty()) facts.facts.push_back({"Options", options});
  return {"Settings", {facts}};
}

std::vector<Section> assumption_sections(const RunFacts& run) {
  if (run.assumptions.empty()) return {};
  FactList facts;
  if (!run.checked.empty()) facts.facts.push_back({"Checked", run.checked});
  int number = 0;
  for (const std::string& assumption : run.assumptions) {
    facts.facts.push_back({fmt::format("Assumption {}", ++number), assumption});
  }
  return {{"What the bounds rest on", {facts}}};
}

std::string number_text(double value) { return std::isnan(value) ? "\u2013" : typeset(short_number(value)); }
std::string bound_text(double value) { return std::isnan(value) ? "\u2013" : typeset(short_bound(value)); }
std::string lower_bound_text(double value) {
  return std::isnan(value) ? "\u2013" : typeset(short_lower_bound(value));
}
std::string percent_text(double share) {
  return std::isnan(share) ? "\u2013" : number_text(100.0 * share) + " %";
}
std::string percent_bound_text(double share) {
  return std::isnan(share) ? "\u2013" : bound_text(100.0 * share) + " %";
}

std::string count_text(long long count) {
  std::string digits = std::to_string(count);
  for (int at = static_cast<int>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

Cell number_cell(double value) { return {number_text(value), value}; }
Cell bound_cell(double value) { return {bound_text(value), value}; }
Cell lower_bound_cell(double value) { return {lower_bound_text(value), value}; }
Cell count_cell(long long count) { return {count_text(count), static_cast<double>(count)}; }
Cell word_cell(std::string text) { return {std::move(text)}; }

// The smallest PNG: one header, one block of pixels compressed by zlib, the end. libpng would add its own
// stream handling for the same three chunks.

namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 32; shift > 0; shift -= 8) bytes += static_cast<char>((value >> (shift - 8U)) & 255U);
  return bytes;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

std::string compressed(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string bytes(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                               reinterpret_cast<const Bytef*>(data.data()), data.size(), 9);
  if (status != Z_OK) throw ResourceError("png_image: zlib could not compress a picture");
  bytes.resize(size);
  return bytes;
}

char pixel(double value, double low, double high) {
  const double share = high > low ? (value - low) / (high - low) : 0.0;
  return static_cast<char>(static_cast<unsigned char>(
      std::lround(255.0 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0))));
}

}  // namespace

std::string png_image(ConstVectorRef values, const LayerShape& shape, double low, double high) {
  require((shape.channels == 1 || shape.channels == 3) && shape.size() == values.size(),
          fmt::format("png_image: expected one or three channels of {} values in all, got {}", values.size(),
                      to_string(shape)));
  const Index height = shape.image.height, width = shape.image.width;
  std::string rows;
  for (Index row = 0; row < height; ++row) {
    rows += '\0';  // no filter
    for (Index column = 0; column < width; ++column) {
      for (Index channel = 0; channel < shape.channels; ++channel) {
        rows += pixel(values((channel * height + row) * width + column), low, high);
      }
    }
  }
  const char colour_type = shape.channels == 1 ? 0 : 2;
  const std::string header = big_endian(static_cast<std::uint32_t>(width)) +
                             big_endian(static_cast<std::uint32_t>(height)) +
                             std::string{8, colour_type, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

}  // namespace mixcert::page

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The dictionary that is imported: single keys found by their endings, and what messages say of them.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "io/files/file_error.h"
#include "io/formats/elements.h"
#include "io/imports/imported_layers.h"

namespace mixcert::io {

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

bool has_ending(std::string_view key, std::string_view ending) {
  if (!key.ends_with(ending)) return false;
  return key.size() == ending.size() || key[key.size() - ending.size() - 1] == '.';
}

void ImportSource::fail(const std::string& key, const std::string& expected, const std::string& got) const {
  bad_file(label, "key " + key, expected, got);
}

bool ImportSource::has(std::string_view ending) const {
  return std::any_of(arrays.entries.begin(), arrays.entries.end(),
                     [&](const auto& entry) { return has_ending(entry.first, ending); });
}

const Array& ImportSource::one(std::string_view ending) const {
  const auto& all = arrays.entries;
  // 'bn1.weight' itself, where 'layer1.0.bn1.weight' is there too.
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == ending; });
  if (found == all.end()) {
    const auto ends = [&](const auto& entry) { return has_ending(entry.first, ending); };
    found = std::find_if(all.begin(), all.end(), ends);
    if (found == all.end()) fail(in_quotes(ending), "such a key", "none");
    if (std::find_if(std::next(found), all.end(), ends) != all.end())
      fail(in_quotes(ending), "one such key", "several");
  }
  require_finite_values(found->first, found->second);
  return found->second;
}

double ImportSource::number(std::string_view ending) const {
  const Array& array = one(ending);
  if (array.size() != 1) fail(in_quotes(ending), "one number", "shape " + shape_text(array.shape));
  return array.values.front();
}

void ImportSource::require_finite_values(const std::string& key, const Array& array) const {
  require_finite(array.values, array.shape, label, "key " + in_quotes(key));
}

}  // namespace mixcert::io

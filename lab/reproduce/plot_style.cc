// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// Colours of drawings. Okabe, Ito: Color universal design (2008); on dark ground blue and green are lighter,
// the others as they are. Yellow is left out: it cannot be read on white.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reproduce/plot.h"

namespace mixcert::lab {

const std::string& plot_style() {
  static const std::string style =
      "svg{--paper:#fff;--ink:#1d2126;--muted:#565e68;--rule:#e3e6ea;--blue:#0072b2;--orange:#c76a00;"
      "--green:#009e73;--purple:#b3518b;--sky:#56b4e9;--vermilion:#d55e00;"
      "font:12px system-ui,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','Liberation Sans',Arial,sans-serif}"
      "@media(prefers-color-scheme:dark){svg{--paper:#16181c;--ink:#e6e8eb;--muted:#a3abb5;--rule:#31363d;"
      "--blue:#5fb0e8;--orange:#f0a040;--green:#2bc79b;--purple:#dd92ba;--sky:#7fc8f2;--vermilion:#ff8a3d}}"
      ".paper{fill:var(--paper)}text{fill:var(--ink)}.small{font-size:11px;fill:var(--muted)}"
      ".title{font-weight:600;font-size:13px}.rule{stroke:var(--rule);stroke-width:1}"
      ".frame{fill:none;stroke:var(--muted);stroke-width:1}.tick{stroke:var(--muted);stroke-width:1}"
      ".line{fill:none;stroke:currentColor;stroke-linejoin:round}.fill{fill:currentColor;stroke:none}"
      ".band{fill:currentColor;fill-opacity:.28;stroke:none}"
      ".c-ink{color:var(--ink)}.c-grey{color:var(--muted)}.c-blue{color:var(--blue)}"
      ".c-orange{color:var(--orange)}.c-green{color:var(--green)}.c-purple{color:var(--purple)}"
      ".c-sky{color:var(--sky)}.c-vermilion{color:var(--vermilion)}";
  return style;
}

std::string colour_class(Colour colour) {
  static constexpr std::array<const char*, 8> kNames = {"ink",   "grey",   "blue", "orange",
                                                        "green", "purple", "sky",  "vermilion"};
  return std::string("c-") + kNames[static_cast<std::size_t>(colour)];
}

std::string heat_colour(double share) {
  using Rgb = std::array<double, 3>;
  static constexpr Rgb kWhite = {247, 247, 247};
  static constexpr Rgb kBlue = {0, 90, 156};
  static constexpr Rgb kVermilion = {190, 70, 0};
  const double t = std::isnan(share) ? 0.0 : std::clamp(share, -1.0, 1.0);
  const Rgb& end = t < 0.0 ? kVermilion : kBlue;
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    mixed[i] = static_cast<int>(std::lround(kWhite[i] + std::abs(t) * (end[i] - kWhite[i])));
  }
  return fmt::format("rgb({},{},{})", mixed[0], mixed[1], mixed[2]);
}

}  // namespace mixcert::lab

// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// From the document to HTML.
#include <fmt/format.h>

#include <cmath>

#include "report/pages/html_writer.h"
#include "report/pages/page_document.h"

namespace mixcert::page {
namespace {

/// Bytes of text that are kept on one line.
constexpr std::size_t kShortWord = 28;
/// Bytes of text that get a wide column.
constexpr std::size_t kLongText = 40;

std::string tone_class(Tone tone) {
  switch (tone) {
    case Tone::Certified:
      return "certified";
    case Tone::Simulated:
      return "simulated";
    case Tone::Estimate:
      return "estimate";
    case Tone::Plain:
      break;
  }
  return "plain";
}

std::string mark_class(LegendEntry::Mark mark) {
  switch (mark) {
    case LegendEntry::Mark::Bound:
      return "bound";
    case LegendEntry::Mark::BoundSoft:
      return "bound-soft";
    case LegendEntry::Mark::Estimate:
      return "estimate";
    case LegendEntry::Mark::Mixture:
      return "mixture";
    case LegendEntry::Mark::Gaussian:
      return "gaussian";
    case LegendEntry::Mark::MixtureSoft:
      break;
  }
  return "mixture-soft";
}

std::string column_class(const Column& column) {
  if (column.kind == Column::Kind::Image) return "picture";
  if (column.kind == Column::Kind::Text) return "word";
  return column.tone == Tone::Plain ? "number" : "number " + tone_class(column.tone);
}

std::string word_class(const std::string& text) {
  if (text.size() <= kShortWord) return "word short";
  return text.size() > kLongText ? "word long" : "word";
}

class PageWriter {
 public:
  std::string write(const Page& page) {
    html_.open("html", {{"lang", "en"}});
    head(page);
    html_.open("body");
    header(page);
    html_.open("main");
    warnings(page);
    for (const Section& section : page.sections) write_section(section);
    html_.close();
    footer(page);
    html_.asset("script", script);
    html_.close();
    html_.close();
    html_.line_break();
    return html_.take();
  }

  void operator()(const Paragraph& paragraph) { html_.element("p", paragraph.text); }

  void operator()(const FactList& list) {
    html_.open("dl");
    for (const Fact& fact : list.facts) {
      html_.open("div");
      html_.element("dt", fact.name);
      html_.open("dd");
      html_.foreign_element(fact.code ? "code" : "span", fact.value);
      html_.close();
      html_.close();
    }
    html_.close();
  }

  void operator()(const Table& table) {
    html_.open("div",
               {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.caption}});
    html_.open("table");
    html_.element("caption", table.caption);
    html_.open("thead");
    html_.open("tr");
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      header_cell(table, table.columns[i], static_cast<int>(i) == table.sorted_by);
    }
    html_.close();
    html_.close();
    html_.open("tbody");
    for (const auto& row : table.rows) {
      html_.open("tr");
      for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) cell(row[i], table.columns[i]);
      html_.close();
      html_.line_break();
    }
    html_.close();
    html_.close();
    html_.close();
  }

  void operator()(const FigureRow& row) {
    const char* several = row.large ? "figures large" : "figures";
    html_.open("div", {{"class", row.figures.size() > 1 ? several : "figure"}});
    for (const Figure& figure : row.figures) write_figure(figure);
    html_.close();
  }

  void operator()(const Folded& folded) {
    html_.open("details");
    html_.element("summary", folded.title);
    for (const Table& table : folded.tables) (*this)(table);
    html_.close();
  }

  void operator()(const FileLinks& links) {
    html_.open("p", {{"class", "files"}});
    for (const FileLink& link : links.files) {
      html_.element("a", link.label, {{"href", "./" + link.file}});
      html_.text(" ");
    }
    html_.close();
  }

 private:
  void head(const Page& page) {
    html_.open("head");
    html_.empty_element("meta", {{"charset", "utf-8"}});
    html_.empty_element(
        "meta", {{"http-equiv", "Content-Security-Policy"},
                 {"content", fmt::format("default-src 'none'; img-src data:; style-src {}; script-src {}; "
                                         "base-uri 'none'; form-action 'none'",
                                         policy_hash(style), policy_hash(script))}});
    html_.empty_element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    html_.empty_element("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    html_.empty_element("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
    html_.element("title", page.kind + ": " + page.title);
    html_.line_break();
    html_.asset("style", style);
    html_.close();
    html_.line_break();
  }

  void header(const Page& page) {
    html_.open("header");
    html_.element("button", "Dark", {{"id", "theme"}, {"type", "button"}});
    html_.element("p", page.kind, {{"class", "kind"}});
    html_.foreign_element("h1", page.title);
    html_.element("p", page.summary, {{"class", "summary"}});
    if (!page.headlines.empty()) {
      html_.open("dl", {{"class", "headlines"}});
      for (const Headline& headline : page.headlines) {
        html_.open("div", {{"class", tone_class(headline.tone)}});
        html_.element("dt", headline.label);
        html_.element("dd", headline.value, {{"class", "value"}});
        if (!headline.note.empty()) html_.element("dd", headline.note, {{"class", "note"}});
        html_.close();
      }
      html_.close();
    }
    html_.close();
    html_.line_break();
  }

  void warnings(const Page& page) {
    if (page.warnings.empty()) return;
    html_.open("section", {{"class", "warnings"}, {"aria-labelledby", "warnings"}});
    html_.element("h2", "To keep in mind", {{"id", "warnings"}});
    html_.open("ul");
    for (const std::string& warning : page.warnings) html_.foreign_element("li", warning);
    html_.close();
    html_.close();
    html_.line_break();
  }

  void write_section(const Section& section) {
    const std::string id = fmt::format("section-{}", ++section_count_);
    html_.open("section", {{"aria-labelledby", id}});
    html_.element("h2", section.title, {{"id", id}});
    for (const Block& block : section.blocks) std::visit(*this, block);
    html_.close();
    html_.line_break();
  }

  void header_cell(const Table& table, const Column& column, bool sorted) {
    const std::string classes = column_class(column);
    if (sorted) {
      html_.open("th", {{"scope", "col"}, {"class", classes}, {"aria-sort", "descending"}});
    } else {
      html_.open("th", {{"scope", "col"}, {"class", classes}});
    }
    if (table.sortable && column.kind != Column::Kind::Image) {
      html_.element("button", column.title, {{"type", "button"}});
    } else {
      html_.text(column.title);
    }
    html_.close();
  }

  void cell(const Cell& cell, const Column& column) {
    if (column.kind == Column::Kind::Image) {
      html_.open("td", {{"class", "picture"}});
      if (!cell.image.empty()) image(cell.image, cell.text);
      html_.close();
    } else if (column.kind == Column::Kind::Text) {
      // Short words stay on one line, so that columns do not fall apart on narrow screens.
      html_.foreign_element("td", cell.text, {{"class", word_class(cell.text)}});
    } else {
      // What is shown may be rounded; rows are sorted by what it stands for.
      html_.element("td", cell.text,
                    {{"data-k", std::isnan(cell.key) ? "" : fmt::format("{:.9g}", cell.key)}});
    }
  }

  void image(const std::string& png, const std::string& description) {
    html_.empty_element("img", {{"src", "data:image/png;base64," + base64(png)}, {"alt", description}});
  }

  void write_figure(const Figure& figure) {
    const std::string id = fmt::format("chart-{}", ++chart_count_);
    html_.open("figure");
    html_.open("div", {{"class", "figure-title"}});
    if (!figure.image.empty()) image(figure.image, "the input");
    html_.foreign_element("h3", figure.title);
    html_.close();
    if (!figure.legend.empty()) {
      html_.open("ul", {{"class", "legend"}});
      for (const LegendEntry& entry : figure.legend)
        html_.element("li", entry.label, {{"class", mark_class(entry.mark)}});
      html_.close();
    }
    html_.element(
        "div", "This chart is drawn by a script.",
        {{"class", "chart"}, {"data-spec", id}, {"role", "img"}, {"aria-label", figure.alternative}});
    html_.json(id, figure.spec);
    if (!figure.caption.empty()) html_.element("figcaption", figure.caption);
    if (!figure.numbers.columns.empty()) {
      html_.open("details");
      html_.element("summary", "Numbers");
      (*this)(figure.numbers);
      html_.close();
    }
    html_.close();
    html_.line_break();
  }

  void footer(const Page& page) {
    html_.open("footer");
    html_.element("p", fmt::format("Written by mixcert {}. This file makes no request when it is opened.",
                                   page.version));
    html_.open("details");
    html_.element("summary", "Licences of what this page carries");
    html_.element("pre", licences.text);
    html_.close();
    html_.close();
    html_.line_break();
  }

  HtmlWriter html_;
  int section_count_ = 0;
  int chart_count_ = 0;
};

}  // namespace

std::string write_page(const Page& page) { return PageWriter().write(page); }

}  // namespace mixcert::page

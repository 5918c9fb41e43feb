// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// What an HTML report consists of: plain structs without markup. All strings are text; write_page() is the
// only way from them to HTML, and it escapes every one.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace mixcert::page {

/// What a number is: certified and estimated ones never share a colour.
enum class Tone { Plain, Certified, Simulated, Estimate };

/// A number that is read first.
struct Headline {
  std::string label;
  std::string value;
  std::string note;
  Tone tone = Tone::Plain;
};

struct Fact {
  std::string name;
  std::string value;
  bool code = false;  ///< hashes and command lines
};
struct FactList {
  std::vector<Fact> facts;
};

struct Paragraph {
  std::string text;
};

struct Column {
  enum class Kind { Text, Number, Image };
  std::string title;
  Kind kind = Kind::Number;
  Tone tone = Tone::Plain;
};

struct Cell {
  std::string text;
  /// What numbers are sorted by; NaN: last.
  double key = std::numeric_limits<double>::quiet_NaN();
  /// PNG file; shown with `text` as its description.
  std::string image = {};
};

struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  bool sortable = false;
  /// Column by which the rows are sorted, largest first; -1: none.
  int sorted_by = -1;
};

/// An explanation of a mark of a chart.
struct LegendEntry {
  enum class Mark { Bound, BoundSoft, Estimate, Mixture, MixtureSoft, Gaussian };
  Mark mark = Mark::Bound;
  std::string label;
};

struct Figure {
  std::string title;
  std::string caption;
  std::string alternative;  ///< what the chart shows, for those who do not see it
  std::vector<LegendEntry> legend;
  std::string spec;   ///< Vega specification, report/charts.h
  Table numbers;      ///< the chart's data; without columns: none
  std::string image;  ///< PNG file shown beside the title; empty: none
};
/// Figures beside each other where there is room.
struct FigureRow {
  std::vector<Figure> figures;
  bool large = false;  ///< at most two beside each other
};

/// Tables behind a line that opens them.
struct Folded {
  std::string title;
  std::vector<Table> tables;
};

/// Files that lie beside the page.
struct FileLink {
  std::string file;  ///< name without folders
  std::string label;
};
struct FileLinks {
  std::vector<FileLink> files;
};

using Block = std::variant<Paragraph, FactList, Table, FigureRow, Folded, FileLinks>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Page {
  std::string kind;     ///< "Certificate"
  std::string title;    ///< what it is about
  std::string summary;  ///< one or two sentences
  std::vector<Headline> headlines;
  std::vector<std::string> warnings;
  std::vector<Section> sections;
  std::string version;  ///< of the program
};

/// One HTML file that makes no request: script and style are inside, and its content security policy allows
/// no other ones.
std::string write_page(const Page& page);

}  // namespace mixcert::page

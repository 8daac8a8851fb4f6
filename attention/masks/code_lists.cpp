#include <algorithm>

#include "attention/masks/code_rules.h"
#include "attention/masks/rows.h"

namespace headscope::attention {
namespace {

using Bond = CodeText::Bond;

/// What an array may take where the code runs, and how many of its cells the code may spell out.
constexpr Index kMaxTableCells = Index{1} << 30, kMaxSpelledOut = Index{1} << 18, kMaxNodes = 4096,
                kMaxGridCells = Index{1} << 20, kMaxRectangles = Index{1} << 16;

void limit(Index found, Index most, const std::string& what) {
  if (found > most)
    throw CodeLimit(what + " " + std::to_string(found) + ", code holds at most " + std::to_string(most));
}

std::string text(Index value) {
  return std::to_string(value);
}

/// A list's entries as one index: "[[0, 11]]"; needs at least one.
std::string marked(const std::vector<Index>& positions, const char* value) {
  return positions.empty() ? "" : "@[" + codeList(positions) + "] = " + value + "\n";
}

}  // namespace

std::string RuleCode::documentTable(const std::vector<Index>& starts) {
  limit(static_cast<Index>(starts.size()), kMaxSpelledOut, "the number of documents is");
  const std::vector<Index> later(starts.begin() + 1, starts.end());
  return tables_.define("document", "@ = " + dialect_.zeros(text(sizes_.positions()), "int64") + "\n" +
                                        marked(later, "1") + "@ = @.cumsum(0)\n");
}

std::string RuleCode::startTable(const std::vector<Index>& starts) {
  return tables_.define("start", "@ = " + dialect_.integers(codeList(starts)) + "\n");
}

CodeText RuleCode::writeText(const Rule& rule, const CodePlace& place) {
  const auto &i = place.i, &j = place.j;
  const CodeText causal{j + " <= " + i};
  switch (rule.kind) {
    case PatternKind::globals:
      return global(rule, place);
    case PatternKind::longformer:
      return codeEither({"abs(" + i + " - " + j + ") < " + text(rule.counts[0])}, global(rule, place));
    case PatternKind::packed:
    case PatternKind::sharedPrefix: {
      const std::string document = documentTable(rule.lists->positions);
      const CodeText same{document + "[" + i + "] == " + document + "[" + j + "]"};
      if (rule.kind == PatternKind::packed) return codeBoth(same, causal);
      return codeBoth(causal, codeEither(same, {document + "[" + j + "] == 0"}));
    }
    case PatternKind::image:
      return image(rule, place);
    case PatternKind::intervals:
      return intervals(rule, place);
    case PatternKind::tree:
      return tree(rule, place);
    default:
      return grid(rule, place);
  }
}

CodeText RuleCode::global(const Rule& rule, const CodePlace& place) {
  const auto& positions = rule.lists->positions;
  limit(static_cast<Index>(positions.size()), kMaxSpelledOut, "the number of global tokens is");
  const std::string table =
      tables_.define("is_global", "@ = " + dialect_.zeros(text(sizes_.positions()), "bool") + "\n" +
                                      marked(positions, "True"));
  return codeEither({table + "[" + place.i + "]", Bond::atom}, {table + "[" + place.j + "]", Bond::atom});
}

CodeText RuleCode::image(const Rule& rule, const CodePlace& place) {
  const auto& spans = rule.lists->spans;
  limit(static_cast<Index>(spans.size()), kMaxSpelledOut, "the number of images is");
  std::vector<std::string> items;
  for (const KeyRun& span : spans) items.push_back(codeTuple({span.begin, span.end}));
  const std::string fill =
      "for number, (begin, end) in enumerate(" + codeList(items) + ", 1):\n    @[begin:end] = number\n";
  const std::string table =
      tables_.define("image", "@ = " + dialect_.zeros(text(sizes_.positions()), "int64") + "\n" +
                                  (spans.empty() ? "" : fill));
  const std::string own = table + "[" + place.i + "]";
  return codeEither({place.j + " <= " + place.i},
                    codeBoth({own + " > 0"}, {own + " == " + table + "[" + place.j + "]"}));
}

CodeText RuleCode::intervals(const Rule& rule, const CodePlace& place) {
  const auto& starts = rule.lists->positions;
  const auto& spans = rule.lists->spans;
  std::vector<std::string> begins, ends;
  for (std::size_t part = 0; part < starts.size() && !spans.empty() && starts[part] < sizes_.queries;
       ++part) {
    const Index last = part + 1 < starts.size() ? starts[part + 1] : sizes_.queries;
    const KeyRun& span = spans[std::min(part, spans.size() - 1)];
    begins.push_back(codeTuple({starts[part], last, span.begin}));
    ends.push_back(codeTuple({starts[part], last, span.end}));
  }
  limit(static_cast<Index>(begins.size()), kMaxSpelledOut, "the number of parts is");
  const auto define = [&](const char* name, const std::vector<std::string>& items) {
    const std::string fill = "for top, bottom, key in " + codeList(items) + ":\n    @[top:bottom] = key\n";
    return tables_.define(
        name, "@ = " + dialect_.zeros(text(sizes_.queries), "int64") + "\n" + (items.empty() ? "" : fill));
  };
  const std::string begin = define("first_key", begins), end = define("end_key", ends);
  return codeBoth({place.j + " >= " + begin + "[q_idx]"}, {place.j + " < " + end + "[q_idx]"});
}

CodeText RuleCode::tree(const Rule& rule, const CodePlace& place) {
  const auto &i = place.i, &j = place.j;
  const std::string prefix = text(rule.counts[0]);
  const auto& parents = rule.lists->parents;
  const auto nodes = static_cast<Index>(parents.size());
  const CodeText early = codeBoth({i + " < " + prefix}, {j + " <= " + i});
  if (nodes == 0) return early;
  limit(nodes, kMaxNodes, "the number of nodes of the draft tree is");
  const std::string table =
      tables_.define("ancestor", "parents = " + codeList(parents) +
                                     "\n@ = " + dialect_.zeros(codeTuple({nodes, nodes}), "bool") +
                                     "\nfor node in range(" + text(nodes) +
                                     "):\n    path = [node]\n    while parents[path[-1]] >= 0:\n"
                                     "        path.append(parents[path[-1]])\n    @[node, path] = True\n");
  const auto node = [&](const std::string& position) {
    // Positions before the draft look up its first node, and the answer is not asked.
    return "(" + position + " - " + prefix + ").clip(0, " + text(nodes - 1) + ")";
  };
  const CodeText ancestor =
      codeBoth({j + " >= " + prefix}, {table + "[" + node(i) + ", " + node(j) + "]", Bond::atom});
  return codeEither(early, codeBoth({i + " >= " + prefix}, codeEither({j + " < " + prefix}, ancestor)));
}

CodeText RuleCode::grid(const Rule& rule, const CodePlace& place) {
  const Index height = rule.counts[0], width = rule.counts[1], kernel = rule.counts[2];
  const Index cells = height * width, positions = sizes_.positions();
  const auto within = [&](const std::string& own, const std::string& other, Index side) {
    const std::string first =
        "(" + own + " - " + text(kernel / 2) + ").clip(0, " + text(std::max<Index>(0, side - kernel)) + ")";
    return codeBoth({other + " >= " + first}, {other + " < " + first + " + " + text(kernel)});
  };
  const CodeText onGrid = codeBoth({place.i + " < " + text(cells)}, {place.j + " < " + text(cells)});
  if (rule.kind == PatternKind::neighborhood) {
    const auto y = [&](const std::string& at) { return at + " // " + text(width); };
    const auto x = [&](const std::string& at) { return at + " % " + text(width); };
    return codeBoth(codeBoth(onGrid, within(y(place.i), y(place.j), height)),
                    within(x(place.i), x(place.j), width));
  }
  limit(cells, kMaxGridCells, "the number of cells of the grid is");
  const auto define = [&](const char* name, const char* what) {
    return tables_.define(
        name,
        "order = [(y, x) for y in range(" + text(height) + ") for x in range(" + text(width) +
            ")]\n"
            "order.sort(key=lambda cell: sum(((cell[0] >> bit & 1) << 2 * bit + 1)\n"
            "                                | ((cell[1] >> bit & 1) << 2 * bit) for bit in range(21)))\n"
            "@ = " +
            dialect_.integers("([" + std::string(what) + " for y, x in order] + [0] * " + text(positions) +
                              ")[:" + text(positions) + "]") +
            "\n");
  };
  const std::string y = define("grid_y", "y"), x = define("grid_x", "x");
  const auto at = [](const std::string& table, const std::string& position) {
    return table + "[" + position + "]";
  };
  return codeBoth(codeBoth(onGrid, within(at(y, place.i), at(y, place.j), height)),
                  within(at(x, place.i), at(x, place.j), width));
}

std::string RuleCode::randomTable(const Rule& rule, const CodePlace& place) {
  const Index size = rule.counts[0], positions = sizes_.positions();
  const Index blocks = (positions + size - 1) / size;
  const std::vector<Index> whole{0};
  const auto& starts = place.starts ? *place.starts : whole;
  limit(static_cast<Index>(starts.size()), kMaxTableCells / std::max<Index>(1, blocks * blocks),
        "the number of documents with " + text(blocks) + " blocks is");
  std::vector<std::string> items;
  std::vector<Index> drawn;
  Index spelledOut = 0;
  for (std::size_t document = 0; document < starts.size(); ++document) {
    const bool last = document + 1 == starts.size();
    const Index keys = (last ? sizes_.keys : starts[document + 1]) - starts[document];
    const Index rows = (last ? positions : starts[document + 1]) - starts[document];
    for (Index row = 0; row * size < rows; ++row) {
      randomBlocks(rule, row, keys, drawn);
      limit(spelledOut += static_cast<Index>(drawn.size()), kMaxSpelledOut, "the number of random blocks is");
      if (drawn.empty()) continue;
      items.push_back("(" + (place.starts ? text(static_cast<Index>(document)) + ", " : "") + text(row) +
                      ", " + codeList(drawn) + ")");
    }
  }
  if (items.empty()) return "";
  const std::string index = place.starts ? "number, row, blocks" : "row, blocks";
  const std::string shape = place.starts ? codeTuple({static_cast<Index>(starts.size()), blocks, blocks})
                                         : codeTuple({blocks, blocks});
  const std::string fill = "for " + index + " in " + codeList(items) + ":\n    @[" + index + "] = True\n";
  return tables_.define("random_blocks", "@ = " + dialect_.zeros(shape, "bool") + "\n" + fill);
}

CodeCells RuleCode::writeCells(const Rule& rule) {
  const CellTable& table = *rule.cells;
  bool saysAll = rule.cellHead < table.heads && table.queries >= sizes_.queries;
  for (Index row = 0; row < sizes_.queries && saysAll; ++row) {
    const auto& cells = table.rows[static_cast<std::size_t>(rule.cellHead * table.queries + row)];
    Index said = 0;
    for (const KeyRuns* runs : {cells ? &cells->visible : nullptr, cells ? &cells->masked : nullptr})
      for (std::size_t k = 0; runs && k < runs->size(); ++k)
        said += std::max<Index>(0, std::min((*runs)[k].end, sizes_.keys) - (*runs)[k].begin);
    saysAll = said >= sizes_.keys;
  }
  const std::string name = tables_.define("cells", cellTable(rule, saysAll)) + "[q_idx, kv_idx]";
  if (saysAll) return {{name, Bond::atom}, {}, true};
  return {{name + " == 1"}, {name + " != 0"}, false};
}

/// Cells as rectangles: rows that say the same, one after another, are one.
std::string RuleCode::cellTable(const Rule& rule, bool saysAll) const {
  const CellTable& table = *rule.cells;
  const Index rows = rule.cellHead < table.heads ? std::min(table.queries, sizes_.queries) : 0;
  const auto rowAt = [&](Index row) {
    return table.rows[static_cast<std::size_t>(rule.cellHead * table.queries + row)].get();
  };
  const auto same = [](const CellRow* a, const CellRow* b) { return a == b || (a && b && *a == *b); };
  std::vector<std::string> items;
  for (Index row = 0, next = 0; row < rows; row = next) {
    const CellRow* cells = rowAt(row);
    for (next = row + 1; next < rows && same(cells, rowAt(next));) ++next;
    if (!cells) continue;
    const auto add = [&](const KeyRuns& runs, Index value) {
      for (const KeyRun& run : runs) {
        const Index end = std::min(run.end, sizes_.keys);
        if (run.begin < end) items.push_back(codeTuple({row, next, run.begin, end, value}));
      }
    };
    add(cells->visible, 1);
    if (!saysAll) add(cells->masked, 2);
    limit(static_cast<Index>(items.size()), kMaxRectangles,
          "the number of rectangles of painted or read cells is");
  }
  const std::string fill = "for top, bottom, left, right, value in " + codeList(items) +
                           ":\n    @[top:bottom, left:right] = value\n";
  return "@ = " + dialect_.zeros(codeTuple({sizes_.queries, sizes_.keys}), saysAll ? "bool" : "int8") + "\n" +
         (items.empty() ? "" : fill);
}

}  // namespace headscope::attention

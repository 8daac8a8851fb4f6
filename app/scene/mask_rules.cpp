#include "app/scene/mask_rules.h"

#include <cmath>

#include "attention/masks/runs.h"

namespace headscope::app {

using attention::Combine;
using attention::Layer;
using attention::MaskLayers;
using attention::PatternKind;

const Layer* plainLayer(const MaskLayers& layers, PatternKind kind) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const bool plain = !layer.isGroup() && layer.pattern.kind == kind && !layer.heads && !layer.sequences &&
                       !layer.negated && (i == 0 || layer.combine == Combine::all);
    if (plain) return &layer;
  }
  return nullptr;
}

bool hasRule(const MaskLayers& layers, PatternKind kind) {
  const Layer* layer = plainLayer(layers, kind);
  return layer && layer->on;
}

void setRule(MaskLayers& layers, PatternKind kind, bool on) {
  if (const Layer* layer = plainLayer(layers, kind))
    layers[static_cast<std::size_t>(layer - layers.data())].on = on;
  else if (on)
    layers.push_back(layerOf(kind));
}

std::string layerTitle(const Layer& layer) {
  if (!layer.name.empty()) return layer.name;
  const std::string not_ = layer.negated ? "Not " : "";
  if (layer.isGroup()) {
    std::string title;
    for (const Layer& inner : layer.group) {
      const char* word = inner.combine == Combine::all   ? " and "
                         : inner.combine == Combine::any ? " or "
                                                         : " then ";
      title += (title.empty() ? "" : word) + layerTitle(inner);
    }
    return not_ + title;
  }
  return not_ + std::string(attention::infoOf(layer.pattern.kind).title);
}

void followCross(Setup& setup) {
  if (plainLayer(setup.mask.layers, PatternKind::causal))
    setRule(setup.mask.layers.edit(), PatternKind::causal, !setup.input.cross);
}

using attention::CellRow;
using attention::CellTable;
using attention::KeyRun;
using attention::KeyRuns;

namespace {

/// Collects squares of cells, clipped to the matrix.
class Cells {
 public:
  Cells(Index queries, Index keys) : rows_(static_cast<std::size_t>(queries)), keys_(keys) {}

  void add(Index rowBegin, Index rowEnd, Index keyBegin, Index keyEnd) {
    keyBegin = std::max<Index>(keyBegin, 0);
    keyEnd = std::min(keyEnd, keys_);
    if (keyBegin >= keyEnd) return;
    for (Index row = std::max<Index>(rowBegin, 0); row < std::min<Index>(rowEnd, size()); ++row)
      rows_[static_cast<std::size_t>(row)].push_back({keyBegin, keyEnd});
  }
  void dab(Index row, Index key, Index size) {
    const Index r = row - (size - 1) / 2, k = key - (size - 1) / 2;
    add(r, r + size, k, k + size);
  }
  std::vector<KeyRuns> sorted() && {
    for (KeyRuns& runs : rows_) attention::sortRuns(runs);
    return std::move(rows_);
  }

 private:
  Index size() const { return static_cast<Index>(rows_.size()); }
  std::vector<KeyRuns> rows_;
  Index keys_;
};

/// Adds every cell on the straight line from start to end.
void addLine(Cells& cells, const Stroke& stroke) {
  const Index down = stroke.toRow - stroke.fromRow, right = stroke.toKey - stroke.fromKey;
  const Index steps = std::max<Index>({std::abs(down), std::abs(right), 1});
  for (Index step = 0; step <= steps; ++step) {
    const double t = static_cast<double>(step) / static_cast<double>(steps);
    cells.dab(stroke.fromRow + static_cast<Index>(std::lround(t * static_cast<double>(down))),
              stroke.fromKey + static_cast<Index>(std::lround(t * static_cast<double>(right))), stroke.size);
  }
}

void addStroke(Cells& cells, const Stroke& stroke, Index queries, Index keys) {
  const auto [top, bottom] = std::minmax({stroke.fromRow, stroke.toRow});
  const auto [left, right] = std::minmax({stroke.fromKey, stroke.toKey});
  const Index half = (stroke.size - 1) / 2;
  switch (stroke.tool) {
    case PaintTool::look:
      break;
    case PaintTool::brush:
    case PaintTool::line:
      addLine(cells, stroke);
      break;
    case PaintTool::rectangle:
      cells.add(top, bottom + 1, left, right + 1);
      break;
    case PaintTool::row:
      cells.add(top - half, bottom - half + stroke.size, 0, keys);
      break;
    case PaintTool::column:
      cells.add(0, queries, left - half, right - half + stroke.size);
      break;
    case PaintTool::diagonal: {
      // Every diagonal between those where the drag started and ended.
      const auto [low, high] = std::minmax({stroke.fromKey - stroke.fromRow, stroke.toKey - stroke.toRow});
      for (Index row = 0; row < queries; ++row)
        cells.add(row, row + 1, row + low - half, row + high - half + stroke.size);
      break;
    }
  }
}

Stroke mirrored(const Stroke& stroke) {
  Stroke other = stroke;
  std::swap(other.fromRow, other.fromKey);
  std::swap(other.toRow, other.toKey);
  if (stroke.tool == PaintTool::row) other.tool = PaintTool::column;
  if (stroke.tool == PaintTool::column) other.tool = PaintTool::row;
  // An even number of adjacent diagonals has one more on one side; mirrored, it is on the other side.
  if (stroke.tool == PaintTool::diagonal && stroke.size % 2 == 0) {
    --other.fromKey;
    --other.toKey;
  }
  return other;
}

void grow(CellTable& table, Index queries, Index keys) {
  table.queries = std::max(table.queries, queries);
  table.keys = std::max(table.keys, keys);
  table.rows.resize(static_cast<std::size_t>(table.heads * table.queries));
}

/// Returns the row with `cells` removed from both lists.
CellRow without(const std::shared_ptr<const CellRow>& row, const KeyRuns& cells) {
  CellRow result;
  if (!row) return result;
  attention::subtract(row->visible, cells, result.visible);
  attention::subtract(row->masked, cells, result.masked);
  return result;
}

bool isPainting(const Layer& layer) {
  return !layer.isGroup() && layer.pattern.kind == PatternKind::painted && !layer.pattern.arguments.empty() &&
         layer.pattern.arguments.front().has_value();
}

}  // namespace

std::vector<KeyRuns> strokeCells(const Stroke& stroke, Index queries, Index keys) {
  Cells cells(queries, keys);
  addStroke(cells, stroke, queries, keys);
  if (stroke.mirror) addStroke(cells, mirrored(stroke), queries, keys);
  return std::move(cells).sorted();
}

void paint(CellTable& table, const Stroke& stroke, Index queries, Index keys, bool visible) {
  grow(table, queries, keys);
  const std::vector<KeyRuns> cells = strokeCells(stroke, queries, keys);
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (cells[row].empty()) continue;
    CellRow painted = without(table.rows[row], cells[row]);
    KeyRuns& target = visible ? painted.visible : painted.masked;
    KeyRuns united;
    attention::unite(target, cells[row], united);
    target = std::move(united);
    table.rows[row] = std::make_shared<const CellRow>(std::move(painted));
  }
}

void erase(CellTable& table, const Stroke& stroke, Index queries, Index keys) {
  grow(table, queries, keys);
  const std::vector<KeyRuns> cells = strokeCells(stroke, queries, keys);
  for (std::size_t row = 0; row < cells.size(); ++row)
    if (!cells[row].empty() && table.rows[row])
      table.rows[row] = std::make_shared<const CellRow>(without(table.rows[row], cells[row]));
}

void paint(attention::Matrix& additive, const Stroke& stroke, Index queries, Index keys, float value) {
  const Index rows = std::max(additive.rows(), queries), cols = std::max(additive.cols(), keys);
  if (rows != additive.rows() || cols != additive.cols()) {
    attention::Matrix larger = attention::Matrix::Zero(rows, cols);
    larger.topLeftCorner(additive.rows(), additive.cols()) = additive;
    additive = std::move(larger);
  }
  const std::vector<KeyRuns> cells = strokeCells(stroke, queries, keys);
  for (std::size_t row = 0; row < cells.size(); ++row)
    for (const KeyRun& run : cells[row])
      additive.row(static_cast<Index>(row)).segment(run.begin, run.end - run.begin).setConstant(value);
}

std::string paintingFor(MaskSetup& mask, attention::MaskLayers& layers, Index& selected) {
  const auto nameOf = [](const Layer& layer) { return layer.pattern.arguments.front()->text; };
  if (selected >= 0 && selected < static_cast<Index>(layers.size()) &&
      isPainting(layers[static_cast<std::size_t>(selected)]))
    return nameOf(layers[static_cast<std::size_t>(selected)]);
  for (std::size_t i = layers.size(); i-- > 0;)
    if (isPainting(layers[i]) && layers[i].on && !layers[i].heads && !layers[i].sequences) {
      selected = static_cast<Index>(i);
      return nameOf(layers[i]);
    }
  std::string name;
  for (int number = 1; name.empty() || mask.paintings.contains(name); ++number)
    name = "painting " + std::to_string(number);
  mask.paintings[name] = CellTable{};
  Layer layer;
  layer.combine = attention::Combine::replace;
  layer.pattern.kind = PatternKind::painted;
  layer.pattern.arguments = {attention::Argument{{}, name}};
  layers.push_back(std::move(layer));
  selected = static_cast<Index>(layers.size()) - 1;
  return name;
}

}  // namespace headscope::app

#include "app/widgets/heatmap_layer.h"

#include "app/platform/assets.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

using attention::Index;

void EasedTextures::set(const attention::Stack& values, double now, bool ease) {
  constexpr Index kMaxEasedValues = Index{4} << 20;
  const auto sameShape = [&](const attention::Stack& other) {
    return other.count() == values.count() && other.rows() == values.rows() && other.cols() == values.cols();
  };
  const auto sameLayer = [&](Index layer) {
    return std::memcmp(copies_[current_][layer].data(), values[layer].data(),
                       static_cast<std::size_t>(values.rows() * values.cols()) * sizeof(float)) == 0;
  };
  const bool comparable = sameShape(copies_[current_]);
  bool changed = !comparable;
  for (Index layer = 0; comparable && !changed && layer < values.count(); ++layer)
    changed = !sameLayer(layer);
  if (!changed) return;
  easing_ = ease && comparable && values.size() <= kMaxEasedValues;
  if (easing_) current_ = 1 - current_;
  changedAt_ = now;
  render::HeatmapTextures& textures = textures_[current_];
  const bool keep = sameShape(copies_[current_]);
  textures.resize(static_cast<int>(values.count()), static_cast<int>(values.rows()),
                  static_cast<int>(values.cols()));
  for (Index layer = 0; layer < values.count(); ++layer) {
    if (keep && sameLayer(layer)) continue;
    textures.upload(static_cast<int>(layer), values[layer].data());
    ++uploads_;
  }
  copies_[current_] = values;
}

void EasedTextures::set(const attention::Matrix& values, double now, bool ease) {
  attention::Stack one(1, values.rows(), values.cols());
  one[0] = values;
  set(one, now, ease);
}

float EasedTextures::blend(double now) const {
  if (!easing_) return 1;
  const auto t = static_cast<float>(std::clamp((now - changedAt_) / kEaseSeconds, 0.0, 1.0));
  return t * t * (3 - 2 * t);
}

HeatmapLayer::HeatmapLayer()
    : painter_(readAssetText("shaders/heatmap.vert"), readAssetText("shaders/heatmap.frag")) {}

void HeatmapLayer::beginFrame(int width, int height, double now) {
  batches_.clear();
  moving_ = false;
  width_ = width;
  height_ = height;
  now_ = now;
}

void HeatmapLayer::draw(Canvas list, const EasedTextures& textures, const render::HeatmapStyle& style,
                        std::vector<HeatmapTile> tiles) {
  if (textures.empty() || tiles.empty()) return;
  moving_ = moving_ || textures.blend(now_) < 1;
  add(list, Batch(this, &textures, nullptr, style, std::move(tiles)));
}

void HeatmapLayer::draw(Canvas list, const render::HeatmapTextures& textures,
                        const render::HeatmapStyle& style, std::vector<HeatmapTile> tiles) {
  if (!tiles.empty()) add(list, Batch(this, nullptr, &textures, style, std::move(tiles)));
}

void HeatmapLayer::add(Canvas list, Batch batch) {
  // Clip to the list, since parts scrolled out of a panel are covered by another panel.
  const ImVec2 from = list.GetClipRectMin(), to = list.GetClipRectMax();
  for (HeatmapTile& tile : batch.tiles) {
    render::Rect& clip = tile.view.clip;
    const render::Rect& target = tile.view.target;
    notePicture(ImRect(std::max(target.x0, clip.x0), std::max(target.y0, clip.y0),
                       std::min(target.x1, clip.x1), std::min(target.y1, clip.y1)),
                batch.style.tint ? -1 : static_cast<int>(batch.style.colormap));
    clip = {std::max(clip.x0, from.x), std::max(clip.y0, from.y), std::min(clip.x1, to.x),
            std::min(clip.y1, to.y)};
  }
  std::erase_if(batch.tiles, [](const HeatmapTile& tile) {
    return tile.view.clip.x1 <= tile.view.clip.x0 || tile.view.clip.y1 <= tile.view.clip.y0;
  });
  batches_.push_back(std::move(batch));
  list.AddCallback(batches_.back());
}

void HeatmapLayer::Batch::draw(const render::PixelBox& box) {
  const float mixed = blend();
  const render::HeatmapTextures* previous = mixed < 1 ? eased->previous() : nullptr;
  for (const HeatmapTile& tile : tiles) {
    render::HeatmapView view = tile.view;
    view.clip = {std::max(view.clip.x0, static_cast<float>(box.x0)),
                 std::max(view.clip.y0, static_cast<float>(box.y0)),
                 std::min(view.clip.x1, static_cast<float>(box.x1)),
                 std::min(view.clip.y1, static_cast<float>(box.y1))};
    if (view.clip.x1 <= view.clip.x0 || view.clip.y1 <= view.clip.y0) continue;
    style.low = tile.range.low;
    style.high = tile.range.high;
    style.logarithmic = tile.range.logarithmic;
    layer->painter_.draw(current(), previous, mixed, view, style, layer->width_, layer->height_);
  }
}

namespace {

void addColor(Fingerprint& print, const render::Color& color) {
  print.addAll(color.r, color.g, color.b, color.a);
}

/// Naming every member makes a new one a compile error until it is added here.
std::uint64_t printOf(const render::HeatmapStyle& style) {
  const auto& [colormap, low, high, logarithmic, tint, background, masked, maskedHatch, deadHatch, nan, gap,
               spacing] = style;
  Fingerprint print;
  print.addAll(colormap, gap, spacing);  // the tile has the range
  (void)low, (void)high, (void)logarithmic;
  for (const render::Color& color : {background, masked, maskedHatch, deadHatch, nan}) addColor(print, color);
  if (tint)
    for (const render::Color& color : {tint->low, tint->high, tint->middle.value_or(tint->low)})
      addColor(print, color);
  print.addAll(tint.has_value(), tint && tint->middle);
  return print.value();
}

std::uint64_t printOf(const HeatmapTile& tile) {
  const auto& [target, clip, layer, firstRow, firstCol, rows, cols, litRows, fade, pooling] = tile.view;
  const auto& [low, high, logarithmic] = tile.range;
  Fingerprint print;
  for (const render::Rect& rect : {target, clip}) print.addAll(rect.x0, rect.y0, rect.x1, rect.y1);
  print.addAll(layer, firstRow, firstCol, rows, cols, litRows, fade, pooling, low, high, logarithmic);
  return print.value();
}

}  // namespace

void HeatmapLayer::Batch::describe(const std::function<void(const ImRect&, std::uint64_t)>& part) const {
  const float mixed = blend();
  const render::HeatmapTextures* previous = mixed < 1 ? eased->previous() : nullptr;
  const std::uint64_t look = printOf(style);
  for (const HeatmapTile& tile : tiles) {
    const render::Rect &target = tile.view.target, &clip = tile.view.clip;
    Fingerprint print(look);
    print.addAll(printOf(tile), current().version(tile.view.layer), mixed,
                 previous ? previous->version(tile.view.layer) : 0);
    part({std::max(target.x0, clip.x0), std::max(target.y0, clip.y0), std::min(target.x1, clip.x1),
          std::min(target.y1, clip.y1)},
         print.value());
  }
}

namespace {

/// Fades the gap out as cells shrink from 10 to 6 gaps across, like the shader.
float gapAmong(float gap, double cell) {
  return gap <= 0 ? 0 : gap * static_cast<float>(std::clamp((cell - 6.0 * gap) / (4.0 * gap), 0.0, 1.0));
}

PaintedCells cellsSeen(const HeatmapTile& tile, render::HeatmapStyle style,
                       Eigen::Map<const attention::Matrix> values) {
  const render::HeatmapView& view = tile.view;
  const render::Rect& target = view.target;
  const auto wide = static_cast<double>(target.width() / view.cols),
             high = static_cast<double>(target.height() / view.rows);
  const auto first = [](float at) { return std::max<Index>(0, static_cast<Index>(std::floor(at))); };
  const auto end = [](float at, Index count) {
    return std::min(count, static_cast<Index>(std::ceil(at - 1e-3f)));
  };
  const Index row = first(view.firstRow), col = first(view.firstCol);
  const Index rows = end(view.firstRow + view.rows, values.rows()) - row,
              cols = end(view.firstCol + view.cols, values.cols()) - col;
  style.low = tile.range.low;
  style.high = tile.range.high;
  style.logarithmic = tile.range.logarithmic;
  style.gap = gapAmong(style.gap, std::min(wide, high));
  PaintedCells painted;
  const double left = std::max(target.x0, view.clip.x0), top = std::max(target.y0, view.clip.y0);
  painted.seen = {left, top, std::min(target.x1, view.clip.x1) - left,
                  std::min(target.y1, view.clip.y1) - top};
  painted.cells = {{target.x0 + (static_cast<double>(col) - view.firstCol) * wide,
                    target.y0 + (static_cast<double>(row) - view.firstRow) * high,
                    wide * static_cast<double>(cols), high * static_cast<double>(rows)},
                   {},
                   style};
  if (rows > 0 && cols > 0) painted.cells.values = values.block(row, col, rows, cols);
  painted.fade = view.fade;
  painted.litShare = std::clamp(
      static_cast<double>(view.litRows - row) / static_cast<double>(std::max<Index>(rows, 1)), 0.0, 1.0);
  return painted;
}

}  // namespace

std::vector<PaintedCells> HeatmapLayer::painted(const void* data) const {
  std::vector<PaintedCells> all;
  const auto batch =
      std::find_if(batches_.begin(), batches_.end(), [data](const CallbackPart& b) { return &b == data; });
  if (batch == batches_.end()) return all;
  const render::HeatmapTextures* const textures = batch->textures;
  const std::vector<float> read = textures ? textures->read() : std::vector<float>();
  for (const HeatmapTile& tile : batch->tiles) {
    const float* values = nullptr;
    Index rows = 0, cols = 0;
    if (textures) {
      rows = textures->rows();
      cols = textures->cols();
      values = read.data() + tile.view.layer * rows * cols;
    } else {
      const attention::Stack& stack = batch->eased->values();
      rows = stack.rows();
      cols = stack.cols();
      values = stack[tile.view.layer].data();
    }
    all.push_back(cellsSeen(tile, batch->style, {values, rows, cols}));
  }
  return all;
}

}  // namespace headscope::app

#include "app/pages/model/model_pictures.h"

#include "app/compute/plots/plot_data.h"
#include "app/pages/model/model_state.h"
#include "attention/core/extremes.h"

namespace headscope::app::model_page {

using attention::Stack;

namespace {

/// Pools thumbnails to the size they are drawn at; otherwise cells smaller than a pixel would be skipped.
Stack pooledStack(const Stack& pictures, int factor, bool difference) {
  if (factor == 1) return pictures;
  Stack out(pictures.count(), attention::pooledSize(pictures.rows(), factor),
            attention::pooledSize(pictures.cols(), factor));
  for (Index i = 0; i < pictures.count(); ++i)
    if (difference)
      out[i] = pooledByMagnitude(pictures[i], factor);
    else
      attention::maxPool(pictures[i], factor, out[i]);
  return out;
}

const Stack& thumbnailsOf(const Pictures::Source& source) {
  return source.firstOut ? source.layer->thumbnailsFirstOut : source.layer->thumbnails;
}

/// The number of cells per side to merge into one for pictures drawn at `pixels`.
int pooledFor(const Stack& pictures, float pixels) {
  const Index longest = std::max(pictures.rows(), pictures.cols());
  return static_cast<int>(powerOfTwoStep(pixels, static_cast<double>(longest), longest));
}

/// Reduces pictures to at most `most` rows, each cell the strongest of those it replaces, with its sign.
Stack fewerRows(const Stack& picture, Index most) {
  const Index share = (picture.rows() + most - 1) / most;
  if (share <= 1) return picture;
  Stack out(picture.count(), (picture.rows() + share - 1) / share, picture.cols());
  for (Index i = 0; i < picture.count(); ++i) {
    out[i].setZero();
    for (Index row = 0; row < picture.rows(); ++row)
      for (Index col = 0; col < picture.cols(); ++col)
        out[i](row / share, col) = attention::stronger(out[i](row / share, col), picture[i](row, col));
  }
  return out;
}

}  // namespace

void Pictures::showRow(const Scene& scene, const View& view, const Layers& layers, std::size_t at,
                       bool ease) {
  const Layer& layer = layers[at];
  if (!layer) return;
  const Source wanted{layer, -1, 1, scene.cursor.model.firstOut};
  const Stack& all = thumbnailsOf(wanted);
  const int pooled = pooledFor(all, rowPixels);
  Picture& row = rows[at];
  if (row.source == Source{layer, -1, pooled, wanted.firstOut}) return;
  row.textures.set(pooledStack(all, pooled, layer->heads.front().differs >= 0), view.time, ease);
  row.factor = pooled * thumbnailFactor(longestSide(*layer));
  row.source = {layer, -1, pooled, wanted.firstOut};
}

void Pictures::showHead(const Scene& scene, const State& page, bool ease) {
  const auto& [at, cell] = page.head.previewed;
  if (!page.layer(at)) return;
  const Layer& layer = page.layers[attention::asSize(at)];
  const int factor = static_cast<int>(powerOfTwoStep(headCell, 1, longestSide(*layer)));
  const Source wanted{layer, cell.head, factor, scene.cursor.model.firstOut};
  if (wanted == head.source) return;
  const bool same = head.source.head == wanted.head && head.factor == factor;
  head.textures.set(drawModelHead(*wanted.layer, wanted.head, factor, wanted.firstOut), page.view.time,
                    ease && same);
  head.factor = factor;
  head.source = wanted;
}

/// Draws the maps of a layer's heads, or of head `one` if that isn't −1, over the picture.
void Pictures::showOverlay(const Scene& scene, const State& page, Index at, Index one, Overlay& overlay) {
  constexpr Index kMostPixels = 4096;  // per side of a texture
  const OpenPicture* picture = page.picture();
  const Layer& layer = page.layers[static_cast<std::size_t>(at)];
  if (!picture || !layer || layer->weights.rows() != page.tokens()) {
    overlay = {};
    return;
  }
  const Index heads = one < 0 ? layer->weights.count() : 1;
  const Cell& cell = one < 0 ? scene.cursor.cell : page.head.previewed.cell;
  const auto drawn = static_cast<Index>(std::lround(one < 0 ? rowPixels : largeSide));
  const Overlay::Source wanted{layer,
                               page.study->opened->picture,
                               page.study.shared(),
                               {scene.cursor.model.pictureMap, cell.query},
                               one,
                               std::clamp<Index>(drawn, std::max(picture->rows, picture->cols),
                                                 std::max<Index>(kMostPixels / heads, 8)),
                               scene.look.colormap};
  if (wanted == overlay.source) return;
  attention::RgbImage all;
  for (Index head = 0; head < heads; ++head) {
    overlay.map = pictureMap(*layer, one < 0 ? head : one, page.rolloutBelow(at), wanted.choice);
    const attention::RgbImage over = overlaidPicture(
        *picture, overlay.map, pictureMapTop(*picture, overlay.map), wanted.colormap, wanted.side);
    all.width = over.width;
    all.height += over.height;
    all.rgb.insert(all.rgb.end(), over.rgb.begin(), over.rgb.end());
  }
  overlay.texture.set(static_cast<int>(all.width), static_cast<int>(all.height), all.rgb);
  overlay.source = wanted;
}

/// Draws the heads that the magnifier needed in the last frame, at its size.
void Pictures::showMagnified(const Scene& scene, const View& view, const Layers& layers) {
  const auto asked = std::exchange(magnified.wanted, {});  // refilled every frame
  std::vector<Source> sources;
  for (const auto& [layer, one] : asked) {
    const auto at = static_cast<std::size_t>(layer);
    if (at >= layers.size() || !layers[at]) return magnified.heads.clear();
    sources.push_back({layers[at], one, 1, scene.cursor.model.firstOut});
    const Stack &first = thumbnailsOf(sources.front()), &last = thumbnailsOf(sources.back());
    if (last.rows() != first.rows() || last.cols() != first.cols())
      return magnified.heads.clear();  // a new text is arriving layer by layer
  }
  if (sources.empty()) return magnified.heads.clear();
  const Stack& first = thumbnailsOf(sources.front());
  const int pooled = pooledFor(first, magnified.pixels);
  for (Source& source : sources) source.pooled = pooled;
  if (magnified.heads == asked && sources == magnified.sources) return;
  Stack pictures(static_cast<Index>(sources.size()), first.rows(), first.cols());
  for (std::size_t i = 0; i < sources.size(); ++i)
    pictures[static_cast<Index>(i)] = thumbnailsOf(sources[i])[sources[i].head];
  magnified.textures.set(pooledStack(pictures, pooled, sources.front().layer->heads.front().differs >= 0),
                         view.time, false);
  magnified.factor = pooled * thumbnailFactor(longestSide(*sources.front().layer));
  magnified.heads = asked;
  magnified.sources = std::move(sources);
}

void Pictures::show(const Scene& scene, const State& page) {
  const bool ease = !page.view.preferences.reducedMotion;
  rows.resize(page.layers.size());
  for (std::size_t at = 0; at < rows.size(); ++at) showRow(scene, page.view, page.layers, at, ease);
  showMagnified(scene, page.view, page.layers);
  overlays.resize(page.picture() ? page.layers.size() : 0);
  for (std::size_t at = 0; at < overlays.size(); ++at)
    showOverlay(scene, page, static_cast<Index>(at), -1, overlays[at]);
  if (!page.ready()) return;
  if (const auto& [at, cell] = page.head.previewed; at < std::ssize(page.layers))
    showOverlay(scene, page, at, cell.head, large);
  showHead(scene, page, ease);
  constexpr Index kCacheRows = 24;
  if (cacheOf == page.study.shared()) return;
  cache.set(fewerRows(page.study->cache, kCacheRows), page.view.time, false);
  cacheOf = page.study.shared();
}

std::size_t Pictures::bytes() const {
  std::size_t bytes = head.textures.bytes() + cache.bytes() + magnified.textures.bytes();
  for (const Picture& row : rows) bytes += row.textures.bytes();
  for (const Overlay& overlay : overlays) bytes += overlay.texture.bytes();
  bytes += large.texture.bytes();
  return bytes;
}

}  // namespace headscope::app::model_page

// What the page of the model has on the GPU.

#include <algorithm>
#include <cmath>

#include "app/labs/model/model_lab.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Stack;

namespace {

/// Thumbnails as small as they are drawn: cells below a pixel would be left out.
Stack pooledStack(const Stack& pictures, int factor) {
  if (factor == 1) return pictures;
  const Index small = (pictures.rows() + factor - 1) / factor;
  Stack out(pictures.count(), small, small);
  for (Index i = 0; i < pictures.count(); ++i)
    render::maxPool(pictures[i].data(), static_cast<int>(pictures.rows()), static_cast<int>(pictures.cols()),
                    factor, out[i].data());
  return out;
}

/// The strongest of the rows that share one, with its sign: at most `most` rows.
Stack fewerRows(const Stack& picture, Index most) {
  const Index share = (picture.rows() + most - 1) / most;
  if (share <= 1) return picture;
  Stack out(picture.count(), (picture.rows() + share - 1) / share, picture.cols());
  for (Index i = 0; i < picture.count(); ++i) {
    out[i].setZero();
    for (Index row = 0; row < picture.rows(); ++row)
      for (Index col = 0; col < picture.cols(); ++col)
        if (const float value = picture[i](row, col); std::abs(value) > std::abs(out[i](row / share, col)))
          out[i](row / share, col) = value;
  }
  return out;
}

}  // namespace

void ModelLab::showRow(const Scene& scene, std::size_t at, bool ease) {
  const auto& layer = page_.layers[at];
  if (!layer) return;
  const Stack& pictures = scene.cursor.model.firstOut ? layer->thumbnailsFirstOut : layer->thumbnails;
  int factor = 1;
  while (page_.thumbnailPixels * static_cast<float>(factor) < static_cast<float>(pictures.rows()))
    factor *= 2;
  const ShownRow wanted{layer, factor, scene.cursor.model.firstOut};
  if (wanted == shownRows_[at]) return;
  page_.rows[at].set(pooledStack(pictures, factor), services_.view.time, ease);
  page_.rowFactor[at] = factor * thumbnailFactor(layer->weights.rows());
  shownRows_[at] = wanted;
}

void ModelLab::showPictures(const Scene& scene) {
  const bool ease = !services_.view.preferences.reducedMotion;
  page_.rows.resize(page_.layers.size());
  page_.rowFactor.resize(page_.layers.size(), 1);
  shownRows_.resize(page_.layers.size());
  for (std::size_t at = 0; at < page_.layers.size(); ++at) showRow(scene, at, ease);

  const ModelCursor& cursor = scene.cursor.model;
  const auto at = static_cast<std::size_t>(cursor.layer);
  int factor = 1;
  while (page_.headCell * static_cast<float>(factor) < 1) factor *= 2;
  if (at < page_.study->layers.size()) {
    const ShownHead wanted{page_.study->layers[at], scene.cursor.cell.head, factor, cursor.firstOut};
    if (wanted != shownHead_) {
      const bool same = shownHead_.head == wanted.head && shownHead_.factor == factor;
      page_.head.set(drawModelHead(*wanted.layer, wanted.head, factor, wanted.firstOut), services_.view.time,
                     ease && same);
      page_.headFactor = factor;
      shownHead_ = wanted;
    }
  }
  constexpr Index kCacheRows = 24;
  if (shownCache_ != page_.study) {
    page_.cache.set(fewerRows(page_.study->cache, kCacheRows), services_.view.time, false);
    shownCache_ = page_.study;
  }
}

std::size_t ModelLab::gpuBytes() const {
  std::size_t bytes = page_.head.bytes() + page_.cache.bytes();
  for (const EasedTextures& row : page_.rows) bytes += row.bytes();
  return bytes;
}

}  // namespace headscope::app

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
  Stack out(pictures.count(), (pictures.rows() + factor - 1) / factor,
            (pictures.cols() + factor - 1) / factor);
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
  const auto longest = static_cast<float>(std::max(pictures.rows(), pictures.cols()));
  int factor = 1;
  while (page_.thumbnailPixels * static_cast<float>(factor) < longest) factor *= 2;
  const ShownRow wanted{layer, factor, scene.cursor.model.firstOut};
  if (wanted == shownRows_[at]) return;
  page_.rows[at].set(pooledStack(pictures, factor), services_.view.time, ease);
  page_.rowFactor[at] = factor * thumbnailFactor(longestSide(*layer));
  shownRows_[at] = wanted;
}

void ModelLab::showHead(const Scene& scene, bool ease) {
  const ModelCursor& cursor = scene.cursor.model;
  const auto at = static_cast<std::size_t>(cursor.layer);
  int factor = 1;
  while (page_.headCell * static_cast<float>(factor) < 1) factor *= 2;
  if (at >= page_.study->layers.size()) return;
  const ShownHead wanted{page_.study->layers[at], scene.cursor.cell.head, factor, cursor.firstOut};
  if (wanted == shownHead_) return;
  const bool same = shownHead_.head == wanted.head && shownHead_.factor == factor;
  page_.head.set(drawModelHead(*wanted.layer, wanted.head, factor, wanted.firstOut), services_.view.time,
                 ease && same);
  page_.headFactor = factor;
  shownHead_ = wanted;
}

/// The heads that the magnifier asked for in the last frame, each as large as it draws them.
void ModelLab::showMagnified(const Scene& scene) {
  ShownMagnified wanted{{}, 1, scene.cursor.model.firstOut};
  const Stack* first = nullptr;
  for (const auto& [layer, head] : page_.magnifies) {
    const auto at = static_cast<std::size_t>(layer);
    if (at >= page_.layers.size() || !page_.layers[at]) return page_.magnified.clear();
    wanted.layers.push_back(page_.layers[at]);
    const Stack& pictures =
        wanted.firstOut ? page_.layers[at]->thumbnailsFirstOut : page_.layers[at]->thumbnails;
    if (first && (pictures.rows() != first->rows() || pictures.cols() != first->cols()))
      return page_.magnified.clear();  // a new text is arriving layer by layer
    first = &pictures;
  }
  if (!first) return page_.magnified.clear();
  const auto longest = static_cast<float>(std::max(first->rows(), first->cols()));
  while (page_.magnifiedPixels * static_cast<float>(wanted.factor) < longest) wanted.factor *= 2;
  if (page_.magnified == page_.magnifies && wanted == shownMagnified_) return;
  Stack pictures(static_cast<Index>(page_.magnifies.size()), first->rows(), first->cols());
  for (std::size_t i = 0; i < page_.magnifies.size(); ++i)
    pictures[static_cast<Index>(i)] =
        (wanted.firstOut ? wanted.layers[i]->thumbnailsFirstOut
                         : wanted.layers[i]->thumbnails)[page_.magnifies[i].second];
  page_.magnifiedHeads.set(pooledStack(pictures, wanted.factor), services_.view.time, false);
  page_.magnifiedFactor = wanted.factor * thumbnailFactor(longestSide(*wanted.layers.front()));
  page_.magnified = page_.magnifies;
  shownMagnified_ = std::move(wanted);
}

void ModelLab::showPictures(const Scene& scene) {
  const bool ease = !services_.view.preferences.reducedMotion;
  page_.rows.resize(page_.layers.size());
  page_.rowFactor.resize(page_.layers.size(), 1);
  shownRows_.resize(page_.layers.size());
  for (std::size_t at = 0; at < page_.layers.size(); ++at) showRow(scene, at, ease);
  showMagnified(scene);
  page_.magnifies.clear();  // it asks anew in every frame
  if (!page_.ready()) return;
  showHead(scene, ease);
  constexpr Index kCacheRows = 24;
  if (shownCache_ != page_.study) {
    page_.cache.set(fewerRows(page_.study->cache, kCacheRows), services_.view.time, false);
    shownCache_ = page_.study;
  }
}

std::size_t ModelLab::gpuBytes() const {
  std::size_t bytes = page_.head.bytes() + page_.cache.bytes() + page_.magnifiedHeads.bytes();
  for (const EasedTextures& row : page_.rows) bytes += row.bytes();
  return bytes;
}

}  // namespace headscope::app

// The part of Session that serves the mask studio.

#include <algorithm>

#include "app/compute/mask_inputs.h"
#include "app/labs/mask/studio.h"
#include "app/scene/mask_rules.h"
#include "app/session.h"
#include "app/shell/panels.h"
#include "attention/masks/code.h"

namespace headscope::app {

namespace {

/// The finest level that has no more cells than pixels, else the coarsest: 1 << it of them are one.
std::size_t levelFor(const StudiedMask& mask, float pixels) {
  const auto longer = [&](std::size_t level) {
    return static_cast<float>(std::max(mask.levels[level].rows(), mask.levels[level].cols()));
  };
  std::size_t level = 0;
  while (level + 1 < mask.levels.size() && longer(level) > pixels) ++level;
  return level;
}

}  // namespace

void Session::askAboutMasks() {
  if (scene_.cursor.page != Page::mask) return;
  const StudioCursor& studio = scene_.cursor.studio;
  MaskQuestion question{scene_.setup, scene_.cursor.sequence, scene_.cursor.cell.head, studio.blockSize};
  if (askedMasks_ != question) {
    askedMasks_ = question;
    studies_.submit(std::move(question));
  }
  if (study_ && study_->mask.formula && !study_->geometry.cross) {
    const ReachQuestion reach{study_->mask.formula, studio.allHeads ? -1 : study_->mask.variant,
                              studio.layers, studio.residual};
    if (askedReach_ != reach) {
      askedReach_ = reach;
      reaches_.submit(reach);
    }
  }
  const SequenceSnapshot* sequence = shownSequence(scene_, snapshot_.get());
  if (!sequence || studio.room == StudioRoom::mask) return;
  const HeadQuestion head{snapshot_, scene_.cursor.sequence,
                          std::min(scene_.cursor.cell.head, snapshot_->config.heads - 1)};
  if (askedHead_ == head) return;
  askedHead_ = head;
  headStudies_.submit(head);
}

void Session::showMasks() {
  if (scene_.cursor.page != Page::mask) return;
  const SequenceSnapshot* sequence = shownSequence(scene_, snapshot_.get());
  const ShownMasks wanted{study_.get(),
                          sequence,
                          headStudy_.get(),
                          reachStudy_.get(),
                          scene_.cursor.cell.head,
                          view_.studio.mapPixels,
                          scene_.cursor.studio.editsOther,
                          view_.studio.compareWeights};
  if (wanted == shownMasks_) return;
  shownMasks_ = wanted;
  const bool ease = !view_.preferences.reducedMotion;
  using Surface = HeatmapLayer::Surface;
  const auto show = [&](Surface surface, const attention::Matrix& values) {
    if (values.size() > 0) heatmaps_.surface(surface).set(values, view_.time, ease);
  };
  const StudiedMask* a = study_ && study_->mask.formula ? &study_->mask : nullptr;
  const StudiedMask* b = study_ && study_->other && study_->other->formula ? &*study_->other : nullptr;
  if (a || b) {
    // Both lie over the same tokens, so that their levels are of the same sizes.
    const std::size_t level = levelFor(a ? *a : *b, view_.studio.mapPixels);
    view_.studio.maskFactor = 1 << level;
    if (a) show(Surface::mask, a->levels[level]);
    if (b) show(Surface::otherMask, b->levels[level]);
    if (a && b && !wanted.compareWeights)
      show(Surface::difference, maskDifference(a->levels[level], b->levels[level]));
  }
  if (const StudiedMask* edited = study_ ? editedStudy(scene_, view_) : nullptr; edited && edited->formula)
    heatmaps_.surface(Surface::maskStrip).set(edited->thumbnails, view_.time, ease);
  if (reachStudy_) show(Surface::reach, reachStudy_->picture);
  if (headStudy_) {
    show(Surface::bias, headStudy_->bias.values);
    show(Surface::effect, headStudy_->effect.values);
    if (wanted.compareWeights) show(Surface::difference, headStudy_->difference.values);
  }
  if (!sequence) return;
  const Index head = std::min(scene_.cursor.cell.head, snapshot_->config.heads - 1);
  const PictureLevel& level = sequence->pictures.levelFor(view_.studio.mapPixels);
  view_.studio.weightsFactor = level.factor;
  show(Surface::weights, level.weights[head]);
  if (sequence->other)
    show(Surface::otherWeights, sequence->other->pictures.levelFor(view_.studio.mapPixels).weights[head]);
}

bool Session::performMask(Action action) {
  Cursor& cursor = scene_.cursor;
  const auto copy = [&](const std::string& text, const char* what) {
    ImGui::SetClipboardText(text.c_str());
    notice(std::string("Copied the mask as ") + what);
  };
  const auto copyCode = [&](attention::MaskCode language, const char* what) {
    const TokenBatch batch = tokenizeBatch(scene_.setup);
    if (batch.lines.empty()) return fail("There is no text, and a mask needs tokens to be laid over.");
    const Index line = std::clamp<Index>(cursor.sequence, 0, static_cast<Index>(batch.lines.size()) - 1);
    const auto sources = maskSources(scene_.setup);
    if (!sources) return fail(sources.error().message);
    const auto code = attention::maskCode(
        language, editedLayers(scene_),
        geometryOf(scene_.setup, batch.lines[static_cast<std::size_t>(line)], line), *sources);
    code.ok() ? copy(*code, what) : fail(code.error().message);
  };
  switch (action) {
    case Action::showHeads:
      cursor.page = Page::heads;
      break;
    case Action::showMask:
      cursor.page = Page::mask;
      cursor.decoding = view_.playing = false;
      break;
    case Action::showMap:
      cursor.page = Page::map;
      cursor.decoding = view_.playing = false;
      break;
    case Action::maskGallery:
      cursor.page = Page::mask;
      view_.dialog = Dialog::gallery;
      break;
    case Action::toggleCell:
      toggleCell();
      break;
    case Action::copyMaskText:
      copy(attention::maskText(editedLayers(scene_)), "an expression");
      break;
    case Action::copyMaskFormula:
      if (const StudiedMask* edited = editedStudy(scene_, view_)) copy(edited->formulaText, "a formula");
      break;
    case Action::copyMaskFlex:
      copyCode(attention::MaskCode::flexAttention, "FlexAttention code");
      break;
    case Action::copyMaskTorch:
      copyCode(attention::MaskCode::pytorch, "PyTorch code");
      break;
    case Action::copyMaskNumpy:
      copyCode(attention::MaskCode::numpy, "NumPy code");
      break;
    default:
      return performMaskFile(action);
  }
  return true;
}

void Session::toggleCell() {
  const StudiedMask* studied = editedStudy(scene_, view_);
  if (scene_.cursor.page != Page::mask || !studied || !studied->formula) return;
  const attention::MaskFormula& mask = *studied->formula;
  const Index query = view_.hover.query >= 0 ? view_.hover.query : scene_.cursor.cell.query;
  const Index key = view_.hover.key >= 0 ? view_.hover.key : scene_.cursor.cell.key;
  if (query >= mask.queries() || key >= mask.keys()) return;
  const bool visible = mask.visible(studied->variant, query, key);
  MaskSetup& setup = scene_.setup.mask;
  history_.record(scene_);
  const std::string name = paintingFor(setup, editedLayers(scene_), scene_.cursor.studio.selected);
  paint(setup.paintings[name].edit(), {PaintTool::brush, query, key, query, key, 1, false}, mask.queries(),
        mask.keys(), !visible);
  history_.record(scene_);
}

bool Session::performMaskFile(Action action) {
  const bool opens = action == Action::openMask, saves = action == Action::saveMask;
  const std::string path = opens || saves ? std::exchange(view_.requestedPath, {}) : "";
  switch (action) {
    case Action::openMask:
      if (path.empty())
        view_.dialog = Dialog::openMask;
      else
        requestFile({FileRequest::Kind::inspectMask, path});
      break;
    case Action::addMaskFile: {
      FileRequest request{FileRequest::Kind::mask, view_.studio.pending.path};
      request.convention = view_.studio.pending.chosen;
      requestFile(std::move(request));
      break;
    }
    case Action::saveMask: {
      if (path.empty()) {
        view_.dialog = Dialog::saveMask;
        break;
      }
      if (!study_ || !study_->mask.formula) {
        fail("There is no mask to save: it has no text to be laid over.");
        break;
      }
      FileRequest request{FileRequest::Kind::saveMask, path};
      if (request.path.extension().empty()) request.path += ".npy";
      request.convention = static_cast<attention::MaskConvention>(view_.studio.saveConvention);
      const bool other = scene_.cursor.studio.editsOther && study_->other && study_->other->formula;
      request.formula = other ? study_->other->formula : study_->mask.formula;
      request.head = scene_.cursor.cell.head;
      requestFile(std::move(request));
      break;
    }
    default:
      return false;
  }
  return true;
}

void Session::addMaskFile(const attention::MaskFile& file, const FileRequest& request) {
  scene_.cursor.page = Page::mask;
  const auto& rows = file.cells->rows;
  const bool masks =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row && !row->masked.empty(); });
  // A file of finite numbers alone is a bias and masks nothing.
  if (masks || file.additive.empty()) {
    attention::Layer layer;
    layer.pattern.kind = attention::PatternKind::file;
    layer.pattern.arguments = {attention::Argument{{}, std::filesystem::absolute(request.path).string()},
                               attention::Argument{{}, attention::conventionName(request.convention)}};
    attention::MaskLayers& layers = editedLayers(scene_);
    layers.push_back(std::move(layer));
    scene_.cursor.studio.selected = static_cast<Index>(layers.size()) - 1;
  }
  if (file.additive.empty()) return;
  // Finite numbers are a bias. A file with one matrix for each head gives that of the head in sight.
  const Index head = std::min(scene_.cursor.cell.head, file.additive.count() - 1);
  scene_.setup.mask.additive = attention::Table{{}, file.additive[head]};
}

}  // namespace headscope::app

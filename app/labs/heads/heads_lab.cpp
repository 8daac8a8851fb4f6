#include "app/labs/heads/heads_lab.h"

#include <algorithm>
#include <chrono>

#include "app/compute/cache_picture.h"
#include "app/labs/common/layer_status.h"
#include "app/labs/heads/table_editor.h"

namespace headscope::app {

namespace {
constexpr double kPlayInterval = 0.7;  // seconds a decode step stays before the next
}

bool HeadsLab::take(const Scene& scene) {
  page_.catchingUp = !services_.layer.upToDate(scene.setup);
  page_.busySeconds = services_.layer.busySeconds();
  if (page_.snapshot == services_.layer.snapshot()) return false;
  page_.snapshot = services_.layer.snapshot();
  return true;
}

void HeadsLab::prepare(Scene& scene) {
  advancePlay(scene);
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return;
  fit_.apply(scene.cursor, *page_.snapshot);
  const Snapshot& snapshot = *page_.snapshot;
  if (!page_.catchingUp && !snapshot.causal) scene.cursor.decoding = page_.playing = false;
  fitHover(services_.view.hover, scene, snapshot);
  showPictures(scene);
}

void HeadsLab::draw(Scene& scene, const Layout& layout) {
  const auto sizes = std::pair(page_.gridPixels, page_.focusCell);
  sidePanel(scene, page_, layout);
  headsPanel(scene, page_, layout);
  cachePanel(scene, page_, layout);
  receiptPanel(scene, page_, layout);
  if (sizes != std::pair(page_.gridPixels, page_.focusCell)) services_.view.redraw(2);
}

void HeadsLab::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
}

void HeadsLab::leave() {
  page_.playing = false;
  shown_ = {};  // a picture that nobody sees holds no snapshot
}

void HeadsLab::reset() {
  page_.camera = {};
  page_.playing = false;
  fit_.reset();
}

void HeadsLab::showPictures(const Scene& scene) {
  const SequenceSnapshot& sequence = *shownSequence(scene, page_.snapshot.get());
  View& view = services_.view;
  const bool ease = !view.preferences.reducedMotion;
  const PictureLevel& level = sequence.pictures.levelFor(page_.gridPixels);
  int focusFactor = 1;
  while (page_.focusCell * static_cast<float>(focusFactor) < 1) focusFactor *= 2;
  page_.gridFactor = level.factor;
  page_.focusFactor = focusFactor;
  const Quantity quantity = scene.look.quantity;
  const Index focus = scene.cursor.focus;
  Shown wanted{page_.snapshot, scene.cursor.sequence, quantity, focus, level.factor, focusFactor};
  if (wanted == shown_) return;
  const auto start = std::chrono::steady_clock::now();
  page_.grid.set(level.of(quantity), view.time, ease);
  page_.cache.set(cachePicture(sequence.attention), view.time, ease);
  if (focus >= 0)
    page_.focus.set(drawHead(sequence.attention, focus, quantity, focusFactor), view.time,
                    ease && shown_.focus == focus);
  shown_ = std::move(wanted);
  uploadSeconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void HeadsLab::advancePlay(Scene& scene) {
  const double now = services_.view.time;
  if (!page_.playing || now - page_.playedAt < kPlayInterval) return;
  decode(scene, Decode::forward);
  page_.playing = true;
  page_.playedAt = now;
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence || scene.cursor.step >= sequence->queryLength) page_.playing = false;
}

void HeadsLab::decode(Scene& scene, Decode what) {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  Cursor& cursor = scene.cursor;
  if (!sequence || !page_.snapshot->causal) return;
  cursor.page = "heads";  // where the cache is seen
  const Index last = sequence->queryLength, prefill = std::min(scene.setup.prefill, last);
  const bool wasDecoding = cursor.decoding, wasPlaying = page_.playing;
  page_.playing = what == Decode::play && !wasPlaying;
  page_.playedAt = services_.view.time;
  cursor.decoding = what != Decode::toggle || !wasDecoding;
  switch (what) {
    case Decode::toggle:
      cursor.step = prefill;
      break;
    case Decode::play:
      if (page_.playing && (!wasDecoding || cursor.step >= last)) cursor.step = prefill;
      break;
    case Decode::forward:
      cursor.step = wasDecoding ? std::min(cursor.step + 1, last) : prefill;
      break;
    case Decode::back:
      cursor.step = wasDecoding ? std::max<Index>(cursor.step - 1, prefill) : last;
      break;
  }
  if (cursor.decoding) cursor.cell.query = cursor.step - 1;
}

bool HeadsLab::showsStrip(const Scene& scene) const {
  return !services_.view.present || scene.cursor.decoding;
}

LabStatus HeadsLab::status(const Scene& scene) const {
  return layerStatus(services_, scene);
}

std::optional<std::string> HeadsLab::error(const Scene&) const {
  return layerError(page_.snapshot.get());
}

double HeadsLab::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.playing) next = page_.playedAt + kPlayInterval - services_.view.time;
  if (page_.busySeconds > 0) next = std::min(next, 0.2);  // the progress past half a second has to appear
  return next;
}

std::size_t HeadsLab::gpuBytes() const {
  return page_.grid.bytes() + page_.focus.bytes() + page_.cache.bytes();
}

std::vector<Action> HeadsLab::actions() {
  const auto decodes = [this](Decode what) { return [this, what](Scene& scene) { decode(scene, what); }; };
  const auto key = [](char at) { return KeyPress{static_cast<Key>(at), {}}; };
  std::vector<Action> actions = fileActions();
  actions.push_back({"decode.toggle", "Start or leave the decode", "Decode", key('D'), false, false,
                     decodes(Decode::toggle)});
  actions.push_back(
      {"decode.play", "Play or pause the decode", "Decode", key(' '), false, false, decodes(Decode::play)});
  actions.push_back(
      {"decode.forward", "Decode one token", "Decode", key('.'), false, true, decodes(Decode::forward)});
  actions.push_back(
      {"decode.back", "Take one token back", "Decode", key(','), false, true, decodes(Decode::back)});
  return actions;
}

}  // namespace headscope::app

#include "app/pages/heads/heads_page.h"

#include <fmt/core.h>

#include "app/compute/figures/picture_file.h"
#include "app/compute/plots/plot_data.h"
#include "app/pages/common/model_facts.h"

namespace headscope::app::heads_page {

namespace {
constexpr double kPlayInterval = 0.7;  // seconds between decode steps

/// One head, `factor` × `factor` cells pooled into one; from a picture level if one has that factor.
attention::Matrix focusPicture(const SequenceSnapshot& sequence, Quantity quantity, Index head, int factor) {
  const auto level = std::ranges::find(sequence.pictures.levels, factor, &PictureLevel::factor);
  if (level != sequence.pictures.levels.end()) return level->of(quantity)[head];
  return drawHead(sequence.attention, sequence.values(quantity), head, factor);
}
}  // namespace

Page::Page(PageServices& services) : services_(services), page_(services) {
  services_.layer.prepareWith([bands = bands_](Snapshot& snapshot, std::stop_token stop) {
    const Index at = bands->sequence, dims = bands->dims, tokens = bands->tokens;
    if (at < 0 || at >= std::ssize(snapshot.sequences)) return;
    SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(at)];
    sequence.cacheBands =
        cachePicture(sequence.attention, {dims, tokens}, attention::NumberFormat::fp32, std::move(stop));
    sequence.bandDims = dims;
    sequence.bandTokens = tokens;
  });
}

bool Page::take(const Scene& scene) {
  page_.catchingUp = !services_.layer.upToDate(scene.setup);
  page_.busySeconds = services_.layer.busySeconds();
  const bool any = page_.shown.take();
  const std::shared_ptr<const Snapshot> now = services_.layer.snapshot();
  if (page_.snapshot == now) return any;
  if (page_.snapshot && now) noteWeight(scene, *now);
  page_.snapshot = now;
  return true;
}

/// Keeps what the selected cell's weight was if `now` changes it.
void Page::noteWeight(const Scene& scene, const Snapshot& now) {
  constexpr double kPause = 1;  // seconds that separate two changes
  const auto place = weightPlace(scene, now);
  if (!place || weightPlace(scene, *page_.snapshot) != place) return;
  const auto weight = [&](const Snapshot& snapshot) {
    const Cell& cell = std::get<Cell>(*place);
    return shownSequence(scene, &snapshot)->probabilities().at(cell.head, cell.query, cell.key);
  };
  const float former = weight(*page_.snapshot), newest = weight(now);
  if (former == newest) return;
  std::optional<WeightBefore>& before = page_.before;
  // A change that was undone is none.
  if (before && before->place == place && before->weight == newest) return before.reset();
  if (!before || before->place != place || services_.view.time - before->changedAt > kPause)
    before = {*place, former, 0};
  before->changedAt = services_.view.time;
}

void Page::prepare(Scene& scene) {
  advancePlay(scene);
  walk(scene);
  if (const auto document = services_.working(); document != page_.word.document.lock()) {
    closeWord(page_);
    page_.word.document = document;
  }
  if (services_.view.dialog) page_.menu.token = -1;  // what is chosen in a dialog wasn't chosen in a menu
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return;
  fit_.apply(scene.cursor, *page_.snapshot, true);
  const Snapshot& snapshot = *page_.snapshot;
  if (page_.before && weightPlace(scene, snapshot) != page_.before->place) page_.before.reset();
  const bool upToDate = services_.layer.upToDate(scene.setup);  // the scene may be newer than take()
  if (upToDate && !snapshot.causal) scene.cursor.decoding = page_.play.on = false;
  fitHover(services_.view.hover, scene, snapshot);
  showPictures(scene);
}

void Page::draw(Scene& scene, const Layout& layout) {
  const auto sizes =
      std::tuple(page_.pictures.gridPixels, page_.pictures.focusCell, page_.pictures.cacheGrain);
  page_.keysTurn = layout.showLeft;
  sidePanel(scene, page_, layout);
  headsPanel(scene, page_, layout);
  cachePanel(scene, page_, layout);
  receiptPanel(scene, page_, layout);
  if (sizes != std::tuple(page_.pictures.gridPixels, page_.pictures.focusCell, page_.pictures.cacheGrain))
    services_.view.redraw(2);
}

void Page::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
  askWord(scene, page_);
}

void Page::leave() {
  page_.play.on = false;
  drawn_ = {};  // a hidden page must not keep a snapshot alive
  closeWord(page_);
}

void Page::reset() {
  page_.camera = {};
  page_.play.on = false;
  closeWord(page_);
  fit_.reset();
}

void Page::showPictures(const Scene& scene) {
  const SequenceSnapshot& sequence = *shownSequence(scene, page_.snapshot.get());
  const View& view = services_.view;
  Pictures& pictures = page_.pictures;
  const bool ease = !view.preferences.reducedMotion;
  const PictureLevel& level = sequence.pictures.levelFor(pictures.gridPixels);
  const Index longest = std::max(std::ssize(sequence.queries), std::ssize(sequence.keys));
  pictures.gridFactor = level.factor;
  pictures.focusFactor = static_cast<int>(powerOfTwoStep(pictures.focusCell, 1, longest));
  const Quantity quantity = scene.look.quantity;
  const Index focus = scene.cursor.focus;
  const CacheGrain grain = pictures.cacheGrain;
  Drawn wanted{page_.snapshot, scene.cursor.sequence, quantity, focus,
               level.factor,   pictures.focusFactor,  grain};
  if (wanted == drawn_) return;
  const bool sameHead = std::get<3>(std::exchange(drawn_, std::move(wanted))) == focus;
  const auto start = std::chrono::steady_clock::now();
  pictures.grid.set(level.of(quantity), view.time, ease);
  pictures.drawnCacheGrain = grain;
  const bool prepared = grain == CacheGrain{sequence.bandDims, sequence.bandTokens};
  pictures.cache.set(prepared ? sequence.cacheBands : cachePicture(sequence.attention, grain), view.time,
                     ease);
  bands_->sequence = scene.cursor.sequence;
  bands_->dims = grain.dims;
  bands_->tokens = grain.tokens;
  if (focus >= 0)
    pictures.focus.set(focusPicture(sequence, quantity, focus, pictures.focusFactor), view.time,
                       ease && sameHead);
  uploadSeconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Page::advancePlay(Scene& scene) {
  const double now = services_.view.time;
  if (!page_.play.on || now - page_.play.since < kPlayInterval) return;
  decode(scene, Decode::forward);
  page_.play.on = true;
  page_.play.since = now;
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence || scene.cursor.step >= sequence->queryLength) page_.play.on = false;
}

void Page::decode(Scene& scene, Decode what) {
  Cursor& cursor = scene.cursor;
  if (cursor.page == "cache") {  // which steps through the same decode itself
    static constexpr const char* kActions[] = {"cache.first", "cache.play", "cache.forward", "cache.back"};
    return services_.view.request(kActions[static_cast<std::size_t>(what)]);
  }
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence || !page_.snapshot->causal) return;
  cursor.page = "heads";  // the page that shows the cache
  const Index last = sequence->queryLength, prefill = std::min(scene.setup.prefill, last);
  const bool wasDecoding = cursor.decoding;
  page_.play = {what == Decode::play && !page_.play.on, services_.view.time};
  cursor.decoding = what != Decode::toggle || !wasDecoding;
  const bool starts = !wasDecoding || cursor.step >= last;
  if (what == Decode::toggle || (what == Decode::play && page_.play.on && starts)) cursor.step = prefill;
  if (what == Decode::forward) cursor.step = wasDecoding ? std::min(cursor.step + 1, last) : prefill;
  if (what == Decode::back) cursor.step = std::max<Index>(wasDecoding ? cursor.step - 1 : last - 1, prefill);
  if (cursor.decoding) cursor.cell.query = cursor.step - 1;
}

/// While presenting, arrow keys or a clicker step through the decode, if any, else through the heads.
void Page::walk(Scene& scene) {
  View& view = services_.view;
  if (!view.present) return;
  const bool forward = view.pressed(Key::right) || view.pressed(Key::down);
  const bool back = view.pressed(Key::left) || view.pressed(Key::up);
  if (forward == back) return;
  if (scene.cursor.decoding)
    decode(scene, forward ? Decode::forward : Decode::back);
  else
    view.request(forward ? "look.next_head" : "look.previous_head");
}

/// One enlarged head takes the strip's space, except during a decode, and so does a word's card on stage.
bool Page::showsStrip(const Scene& scene) const {
  return (scene.cursor.focus < 0 && !(services_.view.present && scene.cursor.wordCard)) ||
         (scene.cursor.decoding && !services_.view.present);
}

bool Page::showsSide(const Scene& scene) const {
  return !services_.view.present || scene.cursor.focus >= 0;
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return {};
  const View& view = services_.view;
  return page_.showsWiring ? wiringSentence(*page_.snapshot, *sequence, view)
                           : captionOf(scene, *page_.snapshot, *sequence, *view.theme);
}

FigureLegend Page::legend(const Scene& scene) const {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  return sequence ? headsLegend(scene.look, *sequence, scene.cursor.focus) : FigureLegend();
}

PageStatus Page::status(const Scene& scene) const {
  PageStatus status = layerStatus(services_, scene);
  const WordStudy* study = page_.word.study.newest();
  if (scene.cursor.wordCard && study)
    status.hint = std::string(study->fixed.empty() ? "Drag a bar or the dot of the word  ·  " : "") +
                  "click another word for its card  ·  Esc closes it";
  else if (scene.cursor.focus >= 0)
    status.hint = "Click a cell to select it  ·  wheel zooms  ·  drag to move  ·  Esc shows all heads";
  return status;
}

std::optional<std::string> Page::error(const Scene&) const {
  return layerError(page_.snapshot.get());
}

/// Copies the quantity shown for the selected head, with its tokens, to the clipboard.
void Page::copyNumbers(const Scene& scene) {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return services_.view.messages.fail("No head to copy. Type a sentence first.");
  const Index head = std::clamp<Index>(scene.cursor.focus >= 0 ? scene.cursor.focus : scene.cursor.cell.head,
                                       0, page_.snapshot->config.heads - 1);
  const attention::MatrixView values = sequence->values(scene.look.quantity)[head];
  ImGui::SetClipboardText(matrixCsv(values, sequence->queries, sequence->keys).c_str());
  View& view = services_.view;
  view.tell(fmt::format("Copied head {}: {} × {} numbers as CSV", head, values.rows(), values.cols()),
            view.pressedAt);
}

/// Selects the next head that has a name, wrapping around; enlarges it on the heads page.
void Page::nextNamed(Scene& scene) {
  const SequenceSnapshot* sequence = shownSequence(scene, page_.snapshot.get());
  if (!sequence) return services_.view.messages.fail("No head to show. Type a sentence first.");
  const Index heads = page_.snapshot->config.heads;
  for (Index i = 1; i <= heads; ++i) {
    const Index head = (scene.cursor.cell.head + i) % heads;
    if (!sequence->label(head, scene.look.labelThreshold).detector) continue;
    scene.cursor.cell.head = head;
    if (scene.cursor.page == "heads") scene.cursor.focus = head;
    return;
  }
  services_.view.say("No head has a named behaviour.");
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.play.on) next = page_.play.since + kPlayInterval - services_.view.time;
  if (page_.busySeconds > 0) next = std::min(next, 0.2);  // the progress must appear after half a second
  return next;
}

std::size_t Page::gpuBytes() const {
  return page_.pictures.grid.bytes() + page_.pictures.focus.bytes() + page_.pictures.cache.bytes();
}

std::vector<Action> Page::decodeActions() {
  const auto action = [this](const char* id, const char* name, Key key, Decode what, bool repeats) {
    return Action{.id = id,
                  .name = name,
                  .section = "Decode",
                  .shortcut = {key},
                  .everywhere = true,
                  .repeats = repeats,
                  .run = [this, what](Scene& scene) { decode(scene, what); }};
  };
  return {action("decode.toggle", "Start or stop decoding", static_cast<Key>('D'), Decode::toggle, false),
          action("decode.play", "Play or pause decoding", Key::space, Decode::play, false),
          action("decode.forward", "Decode one token", Key::period, Decode::forward, true),
          action("decode.back", "Undo one token", Key::comma, Decode::back, true)};
}

std::vector<Action> Page::ownActions() {
  const auto enlarge = [this](Scene& scene) {
    scene.cursor.page = "heads";
    scene.cursor.focus = scene.cursor.cell.head;
    page_.camera = {};
  };
  const auto sample = [](Scene& scene) {
    scene.setup.input.source = EmbeddingSource::text;
    scene.setup.input.text = openingScene().setup.input.text;
  };
  const auto context = [](Scene& scene) {
    scene.setup.input.cross = true;
    scene.setup.input.contextText = kSampleContext;
  };
  const auto wiring = [this](Scene& scene) {
    if (!scene.cursor.wiring && page_.snapshot && page_.snapshot->config.latentDim > 0)
      return services_.view.messages.fail(
          "All heads of this layer read one latent, so there are no kv heads to wire.");
    scene.cursor.wiring = !scene.cursor.wiring || scene.cursor.page != "heads";
    scene.cursor.page = "heads";
  };
  return {{.id = "heads.wiring",
           .name = "Show or hide the wiring of heads and kv heads",
           .section = "View",
           .words = "gqa mqa mha groups share kv wiring",
           .run = wiring},
          {.id = "look.focus",
           .name = "Enlarge this head",
           .section = "View",
           .shortcut = {Key::enter},
           .words = "zoom in enlarge",
           .run = enlarge},
          {.id = "head.next_named",
           .name = "Next head with a clear behaviour",
           .section = "View",
           .shortcut = {static_cast<Key>('J')},
           .everywhere = true,
           .words = "behaviour jump",
           .run = [this](Scene& scene) { nextNamed(scene); }},
          {.id = "head.copy",
           .name = "Copy the head's numbers as CSV",
           .section = "View",
           .whileTyping = true,
           .words = "export clipboard spreadsheet",
           .run = [this](Scene& scene) { copyNumbers(scene); }},
          {.id = "word.edit",
           .name = "Edit the vector of the selected word",
           .section = "Scene",
           .words = "embedding vector edit word change meaning",
           .run =
               [](Scene& scene) {
                 scene.cursor.page = "heads";
                 scene.cursor.wordCard = true;
               }},
          {.id = "input.sample",
           .name = "Start with the opening sentence",
           .section = "Scene",
           .words = "reset example text",
           .run = sample},
          {.id = "input.sample_context",
           .name = "Try cross-attention with a sample context",
           .section = "Scene",
           .run = context}};
}

namespace {
/// Everyday words for what a detector finds.
std::string_view wordsFor(std::string_view detector) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"previous", "previous word, word before, reads the word before"},
      {"next", "next word, word after"},
      {"same_token", "same word, repeated word"},
      {"first_token", "first word, attention sink"},
      {"sinks", "first words, attention sink"},
      {"uniform", "all words equally, average"},
      {"self", "own word, itself"},
      {"induction", "what followed last time, copies a pattern"}};
  for (const auto& [name, words] : kWords)
    if (name == detector) return words;
  return {};
}
}  // namespace

/// The heads that do something with a name, so that Search finds "previous word".
std::vector<Action> Page::places() {
  std::vector<Action> places;
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return places;
  const SequenceSnapshot& sequence = page_.snapshot->sequences.front();
  for (Index head = 0; head < std::ssize(sequence.profiles); ++head) {
    const attention::HeadLabel label = sequence.label(head);
    if (!label.detector) continue;
    places.push_back({.id = fmt::format("heads.show.{}.{}", head, attention::describe(label)),
                      .name = fmt::format("Head {}: {}", head, attention::describe(label)),
                      .section = "heads",
                      .words = std::string(wordsFor(label.detector->name)),
                      .run =
                          [head](Scene& scene) {
                            scene.cursor.page = "heads";
                            scene.cursor.focus = scene.cursor.cell.head = head;
                          },
                      .about = std::string(label.detector->help)});
  }
  return places;
}

std::vector<Action> Page::actions() {
  std::vector<Action> actions;
  for (auto more :
       {fileActions(), decodeActions(), ownActions(), tokenActions(), kindActions(services_.view)})
    actions.insert(actions.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return actions;
}

}  // namespace headscope::app::heads_page

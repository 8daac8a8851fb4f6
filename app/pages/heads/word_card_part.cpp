// The card of the selected word, whose vector is edited while the heads below answer.

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "app/kit/word_card.h"
#include "app/pages/heads/heads_page.h"
#include "app/scene/text/number_text.h"

namespace headscope::app::heads_page {

namespace {

bool isTyped(const Scene& scene) {
  return scene.setup.input.source == EmbeddingSource::table;
}

EmbeddingQuestion questionOf(const Scene& scene, const WordPart& word) {
  const std::shared_ptr<const WordStudy>& opened = word.before.opened;
  return embeddingQuestion(scene.setup, scene.cursor.sequence, {},
                           opened && isTyped(scene) ? opened->plane : nullptr);
}

/// The vectors as they are now: the scene's typed ones, if the study is of as many, else the study's.
const attention::Table& tableNow(const Scene& scene, const WordStudy& study) {
  const attention::Table& typed = *scene.setup.input.table;
  const bool same = isTyped(scene) && study.fixed.empty() &&
                    typed.values.rows() == study.table.values.rows() &&
                    typed.values.cols() == study.table.values.cols();
  return same ? typed : study.table;
}

/// Notes what the selected word's vector is when its card is opened, for comparison and for Back.
void follow(const Scene& scene, State& page, const WordStudy& study) {
  WordPart::Before& before = page.word.before;
  const attention::Table& table = tableNow(scene, study);
  const Index at = scene.cursor.cell.query;
  const std::string& name = study.table.names[static_cast<std::size_t>(at)];
  const auto row = table.values.row(at);
  const bool same = before.word == at && before.name == name && before.vector.size() == row.size();
  const bool own = same && row == before.vector;
  if (!same || (!own && !isTyped(scene))) {
    before = {at, name, row, scene.setup.input, page.word.study.shared(), nullptr, 0};
    page.word.card.drag = {};
    page.word.card.typing = {};
    page.word.card.mix = {};
    page.word.card.problem.clear();
  }
  // While the vector is as it was, the heads are those before, whatever else changed them.
  if ((own || !same) && !page.catchingUp && before.snapshot != page.snapshot) {
    before.snapshot = page.snapshot;
    before.sequence = scene.cursor.sequence;
  }
}

/// Sets the selected word's vector and keeps all else: words, other vectors and planted heads.
void setVector(Scene& scene, State& page, const WordStudy& study, const WordCardEdit& edit) {
  attention::Table table = tableNow(scene, study);
  const Index at = page.word.before.word;
  if (table.values.cols() != scene.setup.model.modelDim || edit.vector->size() != table.values.cols() ||
      table.values.row(at) == *edit.vector || !edit.vector->allFinite())
    return;
  if (!isTyped(scene) && page.snapshot->sequences.size() > 1)
    page.view.say("The heads show this line alone; the text keeps the others.");
  table.values.row(at) = *edit.vector;
  table.names.resize(static_cast<std::size_t>(table.values.rows()));
  takeOwnTable(scene, std::move(table));
  if (!edit.drag.empty()) page.view.controls.continuousEdit = edit.drag;
}

/// Restores the vector, and the text as its source if nothing else was edited.
void putBack(Scene& scene, State& page, const WordStudy& study) {
  const WordPart::Before& before = page.word.before;
  WordCardEdit edit;
  edit.vector = before.vector;
  setVector(scene, page, study, edit);
  const bool same =
      before.opened && isTyped(scene) && scene.setup.input.table->values == before.opened->table.values;
  if (!same || before.input.source == EmbeddingSource::table) return;
  scene.setup.input.source = before.input.source;
  scene.setup.input.table = before.input.table;
}

/// What the selected head reads at the word; gathered again only if that may have changed.
const WordReading& readingOf(const Scene& scene, State& page, Index word) {
  WordReading& reading = page.word.reading;
  reading.busy = page.word.aimed.has_value();
  const Index head = scene.cursor.cell.head;
  std::tuple at(page.snapshot, scene.cursor.sequence, head, word);
  if (page.word.readAt == at) return reading;
  page.word.readAt = std::move(at);
  reading = {head, {}, {}, 0, reading.busy};
  const SequenceSnapshot* sequence = shownSequence(scene, page.snapshot.get());
  if (!sequence || isCross(scene.setup) || word >= sequence->queryLength) return reading;
  const Index most = strongestKey(sequence->probabilities()[head].row(word), sequence->keyLength);
  for (Index key = 0; key < sequence->keyLength; ++key) {
    if (!visible(sequence->mask, head, word, key)) continue;
    if (key == most) reading.chosen = static_cast<int>(reading.keys.size());
    reading.keys.push_back(key);
    reading.choices.push_back({fmt::format("{} {}", key, sequence->keys[static_cast<std::size_t>(key)].text),
                               "", std::to_string(key)});
  }
  return reading;
}

/// Takes the vector with which a head reads the chosen word, or says why there is none.
void takeAim(Scene& scene, State& page, const WordStudy& study) {
  WordPart& word = page.word;
  if (!word.aimed || !word.aim.answers(*word.aimed)) return;
  const AimQuestion question = *std::exchange(word.aimed, std::nullopt);
  if (question.snapshot != page.snapshot || question.query != word.before.word) return;
  const WordAim* aim = word.aim.of(question);
  if (!aim) return void(word.card.problem = word.aim.problem(question));
  WordCardEdit edit;
  edit.vector = tableNow(scene, study).values.row(question.query) + aim->change;
  setVector(scene, page, study, edit);
}

/// Applies what was done on the card.
void apply(Scene& scene, State& page, const WordStudy& study, bool current, const WordCardEdit& edit) {
  View& view = page.view;
  if (edit.hovered && *edit.hovered < study.queries) {
    view.nextHover.query = *edit.hovered;
    if (study.queries == study.table.values.rows()) view.nextHover.key = *edit.hovered;
  }
  if (edit.close) scene.cursor.wordCard = false;
  if (edit.all) view.request("table.edit");
  if (edit.chosen) scene.cursor.cell.query = *edit.chosen;
  if (!current) return;
  if (edit.aimed)
    page.word.aimed = {page.snapshot, scene.cursor.sequence, scene.cursor.cell.head, scene.cursor.cell.query,
                       *edit.aimed,   study.wordAt,          study.wordCount};
  if (edit.vector)
    setVector(scene, page, study, edit);
  else if (edit.back)
    putBack(scene, page, study);
}

void drawCard(Scene& scene, State& page, const ImRect& area) {
  WordPart& word = page.word;
  const WordStudy* study = word.study.newest();
  const Index at = scene.cursor.cell.query;
  if (!study || at < 0 || at >= study->queries) {
    const std::string why = word.study.problem();
    if (emptyWordCard(page.view, why, area).close) scene.cursor.wordCard = false;
    return;
  }
  follow(scene, page, *study);
  takeAim(scene, page, *study);
  const std::shared_ptr<const WordStudy> kept = word.study.shared();
  const attention::Table& table = tableNow(scene, *study);
  const bool typed = &table != &study->table;
  // An earlier study is good enough to look at while the newest is computed.
  const bool current = typed || (!isTyped(scene) && word.study.of(questionOf(scene, word)));
  float x = -1;
  const SentenceWords& words = page.sentence.layout.queries;
  if (page.showsSentence && !page.showsWiring)
    if (const LinePiece* piece = pieceOf(words.pieces, at)) x = words.left + piece->middle();
  const WordCardSubject subject{*study,
                                table.values,
                                study->table.names,
                                typed ? std::shared_ptr<const void>(scene.setup.input.table.pointer()) : kept,
                                at,
                                word.before.vector,
                                readingOf(scene, page, at),
                                x};
  apply(scene, page, *study, current, wordCard(page.view, word.card, subject, area));
}

/// Whether the open card's vector differs from what it was.
bool isEdited(const Scene& scene, const WordPart& word) {
  const attention::Matrix& values = scene.setup.input.table->values;
  const WordPart::Before& before = word.before;
  return scene.cursor.wordCard && isTyped(scene) && before.word >= 0 && before.word < values.rows() &&
         values.cols() == before.vector.size() && values.row(before.word) != before.vector;
}

/// Whether nothing but the vectors differs between two setups.
bool sameButVectors(const Setup& before, const Setup& now) {
  Setup as = before;
  as.input = now.input;
  return as == now;
}

}  // namespace

void wordCardPart(Board& board, Scene& scene, State& page, const SequenceSnapshot&) {
  if (!scene.cursor.wordCard || page.view.figure) return;
  board.area("", {wordCardHeight(page.view, board.height())},
             [&scene, &page](const ImRect& area) { drawCard(scene, page, area); });
}

void askWord(const Scene& scene, State& page) {
  WordPart& word = page.word;
  word.compares = false;
  if (!scene.cursor.wordCard) return closeWord(page);
  word.study.ask(questionOf(scene, word), Lane::front);
  if (word.aimed) word.aim.ask(*word.aimed, Lane::front);
  const WordPart::Before& before = word.before;
  word.compares = before.snapshot && page.snapshot && isEdited(scene, word) &&
                  sameButVectors(before.snapshot->setup, page.snapshot->setup);
  if (word.compares && before.snapshot != page.snapshot)
    word.changes.ask({before.snapshot, page.snapshot, before.sequence, scene.cursor.sequence}, Lane::front);
}

void closeWord(State& page) {
  WordPart& word = page.word;
  if (word.before.word < 0 && !word.study) return;
  word.before = {};
  word.card = {};
  word.compares = false;
  word.study.forget();
  word.changes.forget();
  word.aim.forget();
  word.aimed.reset();
  word.readAt = {};
}

std::optional<Index> changedCells(const State& page, Index head) {
  const WordPart& word = page.word;
  if (page.view.figure || !word.compares || !word.changes ||
      word.changes.request().before != word.before.snapshot || head >= std::ssize(word.changes->cells))
    return std::nullopt;
  return word.changes->cells[static_cast<std::size_t>(head)];
}

std::vector<std::string> changeNotes(const State& page, Index head) {
  const std::optional<Index> changed = changedCells(page, head);
  if (!changed) return {};
  if (*changed == 0) return {"unchanged", ""};
  return {countedText(*changed, "cell") + " changed", fmt::format("{} changed", *changed),
          std::to_string(*changed), ""};
}

namespace {

/// Draws ▲ for a weight that grew, or a hollow ▽ for one that fell, with a rim that shows on every colour.
void paintArrow(const View& view, Canvas list, ImVec2 at, float size, bool grew) {
  const float up = grew ? -size : size;
  const auto corners = [&](float by) {
    const float wide = size + by, high = up + (grew ? -by : by);
    return std::array{at + ImVec2(-wide, -high * 0.8f), at + ImVec2(wide, -high * 0.8f),
                      at + ImVec2(0, high)};
  };
  const auto fill = [&](float by, std::uint32_t color) {
    const auto [a, b, c] = corners(by);
    list.AddTriangleFilled(a, b, c, color);
  };
  fill(view.px(1.5f), view.theme->background);
  fill(0, view.theme->text);
  if (!grew) fill(-size * 0.5f, view.theme->background);
}

}  // namespace

void paintChanges(const State& page, const SequenceSnapshot& sequence, Canvas list, const HeatTile& tile) {
  const View& view = page.view;
  const std::optional<Index> changed = changedCells(page, tile.head);
  if (changed == 0) list.AddRectFilled(tile.area.Min, tile.area.Max, faded(view.theme->background, 0.5f));
  const float cell = std::min(tile.cellWidth(), tile.cellHeight());
  const WordPart::Before& before = page.word.before;
  if (changed.value_or(0) == 0 || cell < view.px(7) ||
      before.sequence >= std::ssize(before.snapshot->sequences))
    return;
  const attention::Stack &was = before.snapshot->sequences[static_cast<std::size_t>(before.sequence)]
                                    .probabilities(),
                         &now = sequence.probabilities();
  if (was.count() != now.count() || was.rows() != now.rows() || was.cols() != now.cols()) return;
  const float size = std::clamp(cell * 0.2f, view.px(2), view.px(4));
  const bool corner = cell > view.px(24);  // beside the number
  for (Index row = 0; row < now.rows(); ++row)
    for (Index col = 0; col < now.cols(); ++col) {
      const float by = now.at(tile.head, row, col) - was.at(tile.head, row, col);
      if (!(std::abs(by) > kChangedWeight)) continue;
      const auto x = static_cast<float>(col), y = static_cast<float>(row);
      const ImVec2 at = corner ? ImVec2(tile.x(x + 1) - 2 * size, tile.y(y) + 2 * size)
                               : ImVec2(tile.x(x + 0.5f), tile.y(y + 0.5f));
      if (tile.area.Contains(at)) paintArrow(view, list, at, size, by > 0);
    }
}

}  // namespace headscope::app::heads_page


#include "app/pages/model/model_page.h"
#include "app/pages/model/overview/overview_parts.h"
#include "app/widgets/controls.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

// What the page asks for: first the study of the text, then slower answers about the selection.

void Page::forgetModel() {
  page_.shown.forget();
  page_.layers.clear();
  page_.run = {};
  page_.model.words.clear();
  page_.model.layersRead = 0;
  page_.model.headRead = false;
  page_.head.forecasts.clear();
  page_.tying = -1;
  page_.zoom = {};
  page_.writing.on = false;
  page_.writing.edit = {};
  page_.pictures = {};
  texts_.forget();
}

/// Shows the heads of B or B − A in place of A's if requested.
void Page::takeCompared(const Scene& scene) {
  const Layers* compared = shownCompared(scene, page_);
  if (compared)
    page_.layers = *compared;
  else if (compares_ && page_.study)
    page_.layers = page_.study->layers;
  compares_ = compared != nullptr;
}

void showStack(State& page, const Setup& setup) {
  page.model.opened = page.study ? page.study->opened : nullptr;
  page.model.config = page.model.opened ? &page.model.opened->config() : &page.model.awaited;
  if (page.model.opened) return;
  page.model.awaited = {};
  page.model.awaited.causal = false;
  page.model.awaited.heads = setup.model.heads;
  page.model.awaited.kvHeads = setup.model.kvHeads;
  page.model.awaited.headDim = setup.model.headDim;
  page.model.awaited.modelDim = setup.model.modelDim;
  page.model.awaited.layers.resize(static_cast<std::size_t>(setup.model.layers));
}

void Page::ask(const Scene& scene) {
  if (scene.setup.subject.opened || isStack(scene.setup)) {
    opener_.lookAgain();  // the files may have changed by the next time
    return askShown(scene);
  }
  opener_.look();
  if (scene.setup.subject.model.empty()) bundled_.read();
  if (bundled_.isShown(scene)) askShown(bundled_.shownScene(scene));
}

void Page::askShown(const Scene& scene) {
  const bool stack = isStack(scene.setup);
  const ModelQuestion question = modelQuestion(scene.setup, scene.cursor.sequence);
  if (page_.run.stopped && *page_.run.stopped != question) page_.run.stopped.reset();
  if (page_.run.stopped) return;
  page_.study.ask(question, Lane::front);
  const bool current = page_.ready() && page_.study->question == question;
  if (!stack) {
    if (!scene.setup.subject.opened->model) return askAboutRecorded(scene);
    if (changesModel(scene.setup))
      page_.unchanged.ask(unchangedQuestion(scene.setup), Lane::back);
    else
      page_.unchanged.cancel();
    texts_.ask(scene);
    askAboutPair(scene, page_, current);
    if (current) askPredictions(scene, page_);
  }
  if (current) askAboutHead(scene, page_);
}

/// Recorded attention can only be compared with another recording, and its weights traced to q and k.
void Page::askAboutRecorded(const Scene& scene) {
  if (!page_.ready()) return;
  opener_.readOther(scene.compare.recorded);
  if (page_.other.opened)
    askCompared(scene, page_, page_.other.opened);
  else
    page_.pairs.cancel();
  const RecordedQuestion question{page_.study.shared(), scene.cursor.model.layer, scene.cursor.cell.head};
  const LayerSummary& layer = *question.study->layers[static_cast<std::size_t>(question.layer)];
  if (layer.q.size() > 0 && layer.k.size() > 0) page_.recorded.ask(question, Lane::back);
}

// Text generation: appending tokens one at a time, and replacing a generated word.

bool writeOn(Scene& scene, const ModelStudy& study) {
  const GenerationSetup& setup = scene.generation;
  if (study.lastLogits.size() == 0) return false;
  const attention::ModelConfig& config = study.opened->config();
  if (study.tokens() >= config.positionLimit().value_or(kMaxTokens) || study.tokens() >= kMaxTokens)
    return false;
  const auto ends = [&](Index id) {
    return std::find(config.endTokens.begin(), config.endTokens.end(), id) != config.endTokens.end();
  };
  if (study.tokens() > study.text.typed && ends(study.text.ids.back())) return false;
  Eigen::RowVectorXf logits = study.lastLogits.row(0);
  applyRules(config.generation, {study.text.ids, study.text.given, config.endTokens}, logits);
  const auto id =
      attention::chooseToken(logits, {setup.temperature, setup.topK, setup.topP, setup.seed}, study.tokens());
  if (!id) return false;
  scene.setup.subject.written.push_back(*id);
  return true;
}

void advanceWriting(Scene& scene, State& page) {
  View& view = page.view;
  if (!page.writing.on) return;
  view.controls.continuousEdit = "writing";  // one run of generation is one undo step
  if (view.time - page.writing.wroteAt < kWriteInterval || !page.study || !page.study.problem().empty() ||
      !page.study.answers(modelQuestion(scene.setup)))
    return;
  page.writing.on = page.writing.followsLast = writeOn(scene, *page.study);
  page.writing.wroteAt = view.time;
  page.writing.stripFrom = -1;
}

void changeToken(Scene& scene, State& page) {
  EditedToken& edit = page.writing.edit;
  if (!std::exchange(edit.entered, false) || !page.ready() || edit.token < page.study->text.typed ||
      edit.token >= page.tokens())
    return;
  const auto ids =
      idsInPlace(*scene.setup.subject.opened->tokenizer, page.study->text.ids, edit.token, edit.text);
  if (!ids) {
    edit.problem = ids.error().message;
    edit.justOpened = true;
    return;
  }
  auto& written = scene.setup.subject.written;
  written.resize(static_cast<std::size_t>(edit.token - page.study->text.typed));
  written.insert(written.end(), ids->begin(), ids->end());
  page.writing.on = edit.wasWriting;
  page.writing.wroteAt = page.view.time;
  page.writing.followsLast = true;
  page.writing.stripFrom = -1;
  edit = {};
}

// Replacing a generated word, after which generation continues from there.

std::string cannotChange(const State& page, Index token) {
  if (!page.ready()) return "Reading the text…";
  if (token < page.study->text.typed)
    return "This word was typed. Edit it in the text; only generated words can be changed here";
  return "";
}

void openTokenEdit(State& page, Index token) {
  if (!cannotChange(page, token).empty()) return;
  page.writing.edit = {token, page.token(token), page.token(token), true, page.writing.on, false, ""};
  page.writing.on = false;
  page.writing.stripFrom = page.writing.stripFrom < 0 ? -1 : std::min(page.writing.stripFrom, token);
  page.view.redraw();
}

void tokenEditBox(View& view, Writing& writing, const ImRect& word) {
  EditedToken& edit = writing.edit;
  const bool opened = std::exchange(edit.justOpened, false);
  ImGui::SetCursorScreenPos(ImVec2(word.Min.x, word.GetCenter().y - view.px(14)));
  const bool entered =
      lineBox(view, "strip.edit", edit.text, std::max(word.GetWidth(), view.px(110)), opened, "");
  const bool left = !opened && ImGui::IsItemDeactivated();
  const bool escaped =
      std::any_of(view.input.events.begin(), view.input.events.end(), [](const InputEvent& event) {
        return event.kind == InputEvent::Kind::key && event.down && event.key == Key::escape;
      });
  const bool changed = edit.text != edit.before && !escaped;
  if ((entered || left) && !changed) {
    writing.on = edit.wasWriting;
    writing.edit = {};
    return;
  }
  edit.entered = entered || left;
  if (!edit.problem.empty()) {
    ImGui::SetCursorScreenPos(ImVec2(word.Min.x, word.Max.y + view.px(6)));
    problem(view, edit.problem);
  }
}

}  // namespace headscope::app::model_page

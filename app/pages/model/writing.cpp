// Text generation: appending tokens one at a time, and replacing a generated word.

#include <algorithm>
#include <utility>

#include "app/compute/layer/model_pass.h"
#include "app/pages/model/model_parts.h"
#include "app/scene/models/open_model.h"
#include "attention/models/sampling.h"

namespace headscope::app::model_page {

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

void advanceWriting(Scene& scene, State& page, const StudyRun& run) {
  View& view = page.view;
  if (!page.writing.on) return;
  view.controls.continuousEdit = "writing";  // one run of generation is one undo step
  if (view.time - page.writing.wroteAt < kWriteInterval || !page.study || !page.run.problem.empty() ||
      !run.upToDate(modelQuestion(scene.setup)))
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

}  // namespace headscope::app::model_page

// Left panel: the text that the model reads and, for a decoder, what its encoder reads.

#include <fmt/core.h>

#include "app/pages/common/token_chips.h"
#include "app/pages/common/unknown_words.h"
#include "app/pages/model/model_state.h"
#include "app/scene/models/open_model.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

namespace {

/// The keys of cross heads: the text that the encoder reads, or the frames of its given output.
void encoderSection(Scene& scene, State& page) {
  View& view = page.view;
  const bool typed = scene.setup.subject.opened->model->source() != nullptr;
  const std::vector<attention::Token>* const source =
      page.study && !page.study->text.source.empty() ? &page.study->text.source : nullptr;
  sectionTitle(view, typed ? "ENCODER'S TEXT" : "ENCODER'S OUTPUT",
               !source ? ""
               : typed ? tokenCountText(std::ssize(*source))
                       : countedText(std::ssize(*source), "frame"));
  if (typed) textBox(view, "text", scene.setup.input.text, 3, "Type a sentence for the encoder to read.");
  if (source) {
    gap(view, 2);
    tokenChips(view, "source", *source, {std::ssize(*source), false, !page.study->otherKeys.empty()},
               scene.cursor);
  }
  gap(view, 10);
}

}  // namespace

void textSection(Scene& scene, State& page) {
  View& view = page.view;
  const auto& opened = scene.setup.subject.opened;
  const bool decodes = opened && opened->sources;
  if (decodes) encoderSection(scene, page);
  std::string count;
  if (page.study) {
    const Index typed = page.study->text.typed, written = page.tokens() - typed;
    count = tokenCountText(typed);
    if (written > 0) count = fmt::format("{} {} + {} generated", typed, decodes ? "given" : "typed", written);
  }
  sectionTitle(view, decodes ? "DECODER'S TEXT" : "TEXT", count);
  if (decodes)
    textBox(view, "decoder_text", scene.setup.input.contextText, 2,
            "How the decoder's text begins. Empty: its own answer.");
  else
    textBox(view, "text", scene.setup.input.text, 3,
            page.model.isSynthetic() ? "Type a sentence. Each line is a sequence."
                                     : "Type a sentence for the model to read.");
  if (!page.run.problem.empty()) problem(view, page.run.problem);
  unknownWords(scene, view);
  if (!page.ready()) return;
  gap(view, 2);
  const bool own = page.study->otherKeys.empty();
  tokenChips(view, "token", page.study->text.tokens, {page.tokens(), true, own, page.study->text.typed},
             scene.cursor);
  const Cell& cell = scene.cursor.cell;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  float x = at.x;
  const auto say = [&](const char* what, const std::string& word, Index id, std::uint32_t color) {
    const float y = at.y + view.px(8);
    x += paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, what);
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), color,
                   fitted(view.fonts->monoSmall, word, view.px(80)));
    x += paintText(list, view.fonts->monoSmall, ImVec2(x, y), view.theme->secondary,
                   id < 0 ? "   " : fmt::format(" id {}   ", id));
  };
  const auto& ids = page.study->text.ids;
  say("query ", page.token(cell.query), ids[attention::asSize(cell.query)], view.theme->query);
  say("key ", page.keyToken(cell.key), own ? ids[attention::asSize(cell.key)] : -1, view.theme->key);
  ImGui::Dummy(ImVec2(1, view.px(18)));
}

}  // namespace headscope::app::model_page

#include "app/compute/layer/mask_inputs.h"
#include "app/pages/mask/mask_state.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::mask_page {

namespace {

/// Draws the lines that point at the error, in a monospaced font.
void caretLines(const View& view, const std::string& text) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = lineHeight(view.fonts->monoSmall) * 1.25f;
  float y = at.y + line / 2;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    paintText(list, view.fonts->monoSmall, ImVec2(at.x, y), view.theme->error, text.substr(from, to - from));
    y += line;
    from = to + 1;
  }
  ImGui::Dummy(ImVec2(1, y - line / 2 - at.y));
}

/// The part of a text around `offset` that fits on one line of the panel.
std::string caretFor(const View& view, const std::string& text, std::size_t offset) {
  const auto fits =
      static_cast<std::size_t>(ImGui::GetContentRegionAvail().x / textWidth(view.fonts->monoSmall, "0"));
  const std::size_t from = offset + 8 > fits ? offset + 8 - fits : 0;
  return attention::caretText(text.substr(from, fits), offset - from);
}

/// Applies the typed expression once typing pauses: a half-typed one is often valid, but not what was meant.
void takeOver(Scene& scene, State& page) {
  View& view = page.view;
  TypedExpression& typed = page.expression;
  const bool rests = !ImGui::IsItemActive() || view.time - typed.typedAt > kTypingRests;
  if (typed.typedAt < 0 || !rests) return;
  typed.typedAt = -1;
  attention::ParsedMask parsed = attention::parseMask(typed.text);
  if (parsed.error) return;
  if (const auto refusal = refusalOf(scene.setup, parsed.layers)) {
    typed.error = *refusal;
    typed.caret = std::string::npos;
    return;
  }
  editedLayers(scene) = std::move(parsed.layers);
  typed.of = shownLayers(scene);
  scene.cursor.studio.selected = -1;
}

}  // namespace

void expressionBox(Scene& scene, State& page) {
  View& view = page.view;
  TypedExpression& typed = page.expression;
  // Keep the text as typed while it means the same mask; replace it if the mask is another one.
  if (const SharedLayers& shown = shownLayers(scene); typed.of != shown) {
    std::string canonical = attention::maskText(shown);
    if (canonical != attention::maskText(typed.of)) {
      typed.text = std::move(canonical);
      typed.error.clear();
    }
    typed.of = shown;
  }
  sectionTitle(view, "AS AN EXPRESSION");
  if (textBox(view, "expression", typed.text, 3, "causal & (window(128) | sinks(4))")) {
    const attention::ParsedMask parsed = attention::parseMask(typed.text);
    typed.error = parsed.error ? parsed.error->message : "";
    typed.caret = parsed.error ? parsed.error->offset : 0;
    typed.typedAt = view.time;
  }
  takeOver(scene, page);
  if (!typed.error.empty()) {
    problem(view, typed.error);
    if (typed.caret != std::string::npos)
      caretLines(view, caretFor(view, typed.text, std::min(typed.caret, typed.text.size())));
  }
  if (const StudiedMask* study = editedStudy(scene, page); study && study->error)
    problem(view, *study->error);
}

}  // namespace headscope::app::mask_page

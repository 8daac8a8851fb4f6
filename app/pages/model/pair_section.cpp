// At the left of the page: the second text, and pairs to begin with.

#include <algorithm>

#include "app/pages/common/token_chips.h"
#include "app/pages/model/answer_views.h"
#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

/// Tokens as a line of words, those that differ underlined.
void comparedTokens(const View& view, const RecordedText& text, const RecordedText& other,
                    const std::vector<Index>& rows) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = view.px(20);
  ImVec2 at = start;
  ImFont* const font = view.fonts->monoSmall;
  constexpr Index kMost = 120;
  for (Index i = 0; i < std::min(text.tokens(), kMost); ++i) {
    const std::string word = fitted(font, text.text.tokens[attention::asSize(i)].text, width);
    const float wide = textWidth(font, word);
    if (at.x > start.x && at.x + wide > start.x + width) at = ImVec2(start.x, at.y + line);
    const Index with = rows[attention::asSize(i)];
    const bool differs =
        with < 0 || other.text.ids[attention::asSize(with)] != text.text.ids[attention::asSize(i)];
    paintText(list, font, ImVec2(at.x, at.y + line / 2), differs ? view.theme->text : view.theme->secondary,
              word);
    if (differs)
      list.AddRectFilled(ImVec2(at.x, at.y + line - view.px(3)),
                         ImVec2(at.x + wide, at.y + line - view.px(1)), view.theme->text);
    at.x += wide + view.px(7);
  }
  ImGui::Dummy(ImVec2(width, at.y + line - start.y));
}

void pairButtons(const ModelState& page) {
  View& view = page.view;
  for (const LearnedSkill& skill : page.opened->learned.skills) {
    if (skill.other.empty()) continue;
    if (button(view, "pair." + skill.name, skill.title, "", true)) view.request("model.pair." + skill.name);
  }
}

}  // namespace

void pairSection(Scene& scene, ModelState& page) {
  View& view = page.view;
  if (!page.saysTokens()) return;
  const bool two = !scene.compare.other.empty();
  if (!two)
    sectionTitle(view, "TEXT B");
  else if (sectionTitle(view, "TEXT B", "text.swap", "Swap A and B"))
    view.request("model.swap_texts");
  textBox(view, "text_b", scene.compare.other, 2, "A second text, to compare with the first.");
  if (!two) {
    hint(view, "Pairs to begin with:");
    pairButtons(page);
    return;
  }
  const auto& pair = page.pair.pair;
  if (!page.pair.problem.empty()) problem(view, page.pair.problem);
  if (pair && pair->b && pair->question.other == scene.compare.other) {
    comparedTokens(view, *pair->b, pair->a, *pair->aOfB);
    if (pair->a.tokens() != pair->b->tokens())
      hint(view, "The texts have different numbers of tokens; equal ones go together.");
  }
  if (button(view, "text_b.clear", "Remove text B", "", true)) scene.compare = {};
}

}  // namespace headscope::app

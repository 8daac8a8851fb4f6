// Left panel: text B, its alignment with text A, and example pairs.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/pages/common/token_chips.h"
#include "app/pages/model/answer_views.h"
#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

namespace {

/// Draws tokens as lines of words, underlining those that differ from their partners and highlighting
/// `chosen`. Returns the one that was clicked. Tests know them as NAME.INDEX.
std::optional<Index> tokenLines(View& view, const char* name, const std::vector<attention::Token>& tokens,
                                const std::function<bool(Index)>& differs, Index chosen,
                                const std::function<std::string(Index)>& help) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = view.px(20);
  ImVec2 at = start;
  ImFont* const font = view.fonts->monoSmall;
  std::optional<Index> clicked;
  constexpr Index kMax = 120;
  for (Index i = 0; i < std::min<Index>(std::ssize(tokens), kMax); ++i) {
    const std::string word = fitted(font, tokens[attention::asSize(i)].text, width);
    const float wide = textWidth(font, word);
    if (at.x > start.x && at.x + wide > start.x + width) at = ImVec2(start.x, at.y + line);
    const std::string item = fmt::format("{}.{}", name, i);
    if (hitArea(item, at, ImVec2(wide, line))) clicked = i;
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) tooltip(view, help(i));
    if (hovered || i == chosen)
      list.AddRectFilled(ImVec2(at.x - view.px(2), at.y), ImVec2(at.x + wide + view.px(2), at.y + line),
                         view.theme->raised, view.px(3));
    paintText(list, font, ImVec2(at.x, at.y + line / 2),
              differs(i) || i == chosen ? view.theme->text : view.theme->secondary, word);
    if (differs(i))
      list.AddRectFilled(ImVec2(at.x, at.y + line - view.px(3)),
                         ImVec2(at.x + wide, at.y + line - view.px(1)), view.theme->text);
    at.x += wide + view.px(7);
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, at.y + line - start.y));
  return clicked;
}

/// Aligns the token of B that is being tied with token `a` of A, or with none if `a` is −1.
void tie(Scene& scene, PairState& pairs, Index a) {
  auto& ties = scene.compare.alignment;
  const Index b = std::exchange(pairs.tying, -1);
  std::erase_if(ties, [&](const attention::TokenTie& one) { return one.b == b || (a >= 0 && one.a == a); });
  ties.push_back({a, b});
}

/// Draws B's tokens. A click on one asks for its partner in A.
void alignedTokens(Scene& scene, View& view, PairState& pairs, const PairStudy& pair) {
  const auto word = [&](const RecordedText& text, Index at) {
    return "“" + pair.keyTokens(text)[attention::asSize(at)].text + "”";
  };
  const auto with = [&](Index b) { return pair.keyAofB()[attention::asSize(b)]; };
  const auto differs = [&](Index b) {
    return with(b) < 0 ||
           pair.keyIds(pair.a)[attention::asSize(with(b))] != pair.keyIds(*pair.b)[attention::asSize(b)];
  };
  const auto help = [&](Index b) {
    const std::string now =
        with(b) < 0 ? "has no partner in A"
                    : fmt::format("aligned with {}, token {} of A", word(pair.a, with(b)), with(b));
    return fmt::format("{}, token {}: {}\nClick to choose another", word(*pair.b, b), b, now);
  };
  if (pairs.tying >= std::ssize(pair.keyTokens(*pair.b))) pairs.tying = -1;
  if (const auto chosen = tokenLines(view, "text_b", pair.keyTokens(*pair.b), differs, pairs.tying, help))
    pairs.tying = pairs.tying == *chosen ? -1 : *chosen;
  if (pairs.tying >= 0) {
    hint(view, fmt::format("Which token of A aligns with {}?", word(*pair.b, pairs.tying)));
    const auto same = [](Index) { return false; };
    const auto place = [&](Index a) { return fmt::format("{}, token {} of A", word(pair.a, a), a); };
    if (const auto chosen =
            tokenLines(view, "text_b.with", pair.keyTokens(pair.a), same, with(pairs.tying), place))
      return tie(scene, pairs, *chosen);
    if (button(view, "text_b.with_none", "None")) return tie(scene, pairs, -1);
    ImGui::SameLine(0, view.px(8));
    if (button(view, "text_b.keep", "Cancel", "", true)) pairs.tying = -1;
  }
  if (!scene.compare.alignment.empty() && button(view, "text_b.align", "Align equal tokens again", "", true))
    scene.compare.alignment.clear();
}

void pairButtons(View& view, const ShownModel& model) {
  bool any = false;
  for (const LearnedSkill& skill : model.opened->learned.skills) {
    if (skill.other.empty()) continue;
    if (!std::exchange(any, true)) hint(view, "Pairs to begin with:");
    if (button(view, "pair." + skill.name, skill.title, "", true)) view.request("model.pair." + skill.name);
  }
}

}  // namespace

void pairSection(Scene& scene, View& view, const ShownModel& model, PairState& pairs) {
  if (!model.predictsTokens()) return;
  const bool two = !scene.compare.other.empty();
  if (!two)
    sectionTitle(view, "TEXT B");
  else if (sectionTitle(view, "TEXT B", "text.swap", "Swap A and B"))
    view.request("model.swap_texts");
  textBox(view, "text_b", scene.compare.other, 2, "A second text, to compare with the first.");
  if (!two) {
    pairButtons(view, model);
    return;
  }
  if (model.opened->model->source()) hint(view, "B goes to the encoder. The decoder's text is A's.");
  const auto& pair = pairs.pair;
  if (!pairs.problem.empty()) problem(view, pairs.problem);
  if (pair && pair->b && pair->question.other == scene.compare.other) {
    alignedTokens(scene, view, pairs, *pair);
    if (pair->a.tokens() != pair->b->tokens())
      hint(view, "The texts have different numbers of tokens; equal tokens are aligned.");
  }
  if (button(view, "text_b.clear", "Remove text B", "", true)) scene.compare = withoutOther(scene.compare);
}

}  // namespace headscope::app::model_page

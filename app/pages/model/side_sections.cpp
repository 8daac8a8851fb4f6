#include <fmt/core.h>

#include "app/pages/common/token_chips.h"
#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

namespace {

/// Draws actions as buttons that wrap at `width`. Returns the bottom y.
using Ways = std::initializer_list<std::pair<const char*, const char*>>;
float waysIn(View& view, ImVec2 at, float width, Ways ways) {
  const float start = at.x, height = view.px(28), space = view.px(10);
  for (const auto& [action, label] : ways) {
    const float wide = textWidth(view.fonts->text, label) + view.px(22);
    if (at.x > start && at.x + wide > start + width) at = ImVec2(start, at.y + height + space);
    ImGui::SetCursorScreenPos(at);
    if (button(view, std::string("empty.") + action, label)) view.request(action);
    at.x += wide + space;
  }
  return at.y + height;
}

/// Models on this machine that can be opened.
void modelsHere(View& view, Opening& opening) {
  if (opening.cached.empty()) return;
  sectionTitle(view, "ON THIS COMPUTER");
  for (std::size_t i = 0; i < opening.cached.size(); ++i)
    if (button(view, "cached." + std::to_string(i), opening.cached[i].name, "", true))
      opening.wanted = opening.cached[i].folder.string();
}

/// Recently opened models. One that no longer exists says so, and can be removed from the list.
void recentModels(View& view, Opening& opening) {
  if (opening.recent.empty()) return;
  sectionTitle(view, "RECENT");
  std::optional<std::size_t> forgotten;
  for (std::size_t i = 0; i < opening.recent.size(); ++i) {
    const Opening::Recent& one = opening.recent[i];
    const std::string name = "recent." + std::to_string(i);
    if (button(view, name, one.name, one.there ? "" : one.path + " no longer exists", true))
      opening.wanted = one.path;
    if (one.there && ImGui::IsItemHovered()) tooltip(view, one.path);
    if (one.there) continue;
    const float y = (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2;
    const float x = ImGui::GetItemRectMax().x + view.px(10);
    const float wide = paintText(*ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(x, y),
                                 view.theme->faint, "no longer exists");
    ImGui::SameLine(0, wide + view.px(18));
    if (button(view, "forget." + std::to_string(i), "×", "", true)) forgotten = i;
  }
  if (forgotten) opening.forgotten = opening.recent[*forgotten].path;
  gap(view, 14);
}

}  // namespace

void exampleSection(View& view, Opening& opening) {
  hint(view,
       "No model is open: this is the bundled one. The other pages keep their layer until you change "
       "something here.");
  gap(view, 4);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float end = waysIn(
      view, at, width, {{"model.learned", "Use it on all pages"}, {"model.recorded", "Import attention…"}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, end - at.y));
  gap(view, 10);
  recentModels(view, opening);
  modelsHere(view, opening);
}

void openingPanel(Scene&, View& view, Opening& opening, const ImRect& area) {
  if (beginPanel(view, "overview", area, 0, 0, 0)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float width = std::min(area.GetWidth() - view.px(60), view.px(620));
    const float x = area.GetCenter().x - width / 2;
    float y = area.Min.y + std::max(view.px(40), area.GetHeight() * 0.22f);
    paintText(list, view.fonts->hero, ImVec2(x, y), view.theme->text,
              opening.name.empty() ? "Open a model" : "Opening " + opening.name + "…");
    y += view.px(26);
    y += paintParagraph(
        list, view.fonts->text, ImVec2(x, y), width, view.theme->secondary,
        "Choose a GGUF file or a Hugging Face model folder (config.json, model.safetensors, tokenizer.json), "
        "or drop it on the window. Weights are memory-mapped; nothing is copied or sent.");
    y = waysIn(view, ImVec2(x, y + view.px(18)), width,
               {{"model.learned", "Open the bundled model"},
                {"model.open", "Open a folder or file…"},
                {"model.recorded", "Import attention…"}});
    if (!opening.recent.empty() || !opening.cached.empty()) {
      ImGui::SetCursorScreenPos(ImVec2(x, y + view.px(24)));
      ImGui::BeginChild("cached", ImVec2(width, area.Max.y - y - view.px(44)), false,
                        ImGuiWindowFlags_NoBackground);
      recentModels(view, opening);
      modelsHere(view, opening);
      compat::endChild();
    }
  }
  endPanel();
}

// Left panel: the text that the model reads and, for a decoder, what its encoder reads.

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

// Left panel: text B, its alignment with text A, and example pairs.

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

#include <fmt/core.h>

#include "app/pages/common/token_chips.h"
#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

namespace {

/// Models on this machine that can be opened.
void modelsHere(Rows& rows, Opening& opening) {
  if (opening.cached.empty()) return;
  rows.section("ON THIS COMPUTER");
  for (std::size_t i = 0; i < opening.cached.size(); ++i)
    if (button(rows.view(), "cached." + std::to_string(i), opening.cached[i].name, "", true))
      opening.wanted = opening.cached[i].folder.string();
}

/// Recently opened models. One that no longer exists says so, and can be removed from the list.
void recentModels(Rows& rows, Opening& opening) {
  if (opening.recent.empty()) return;
  View& view = rows.view();
  rows.section("RECENT");
  std::optional<std::size_t> forgotten;
  for (std::size_t i = 0; i < opening.recent.size(); ++i) {
    const Opening::Recent& one = opening.recent[i];
    const std::string number = std::to_string(i);
    if (button(view, "recent." + number, one.name, one.there ? "" : one.path + " no longer exists", true))
      opening.wanted = one.path;
    if (one.there && ImGui::IsItemHovered()) tooltip(view, one.path);
    if (one.there) continue;
    ImGui::SameLine();
    if (button(view, "forget." + number, "×", "", true)) forgotten = i;
    ImGui::SameLine();
    rows.line(Type::text, {{"no longer exists", rows.theme().faint, view.fonts->small}});
  }
  if (forgotten) opening.forgotten = opening.recent[*forgotten].path;
}

}  // namespace

void exampleSection(Rows& rows, Opening& opening) {
  rows.hint(
      "No model is open: this is the bundled one. It opens on the other pages once you change "
      "something here.");
  rows.actions({{"empty.model.learned", "Use it on all pages", "model.learned"},
                {"empty.model.recorded", "Import attention…", "model.recorded"}});
  recentModels(rows, opening);
  modelsHere(rows, opening);
}

void openingPanel(View& view, Opening& opening, const ImRect& area) {
  const float width = std::min(area.GetWidth() / view.unit - 60, 620.0f);
  if (beginPanel(view, "overview", area, (area.GetWidth() / view.unit - width) / 2,
                 std::max(24.0f, area.GetHeight() / view.unit * 0.22f - 16), 0)) {
    Rows rows(view);
    rows.line(Type::hero, {{opening.name.empty() ? "Open a model" : "Opening " + opening.name + "…"}});
    rows.paragraph(
        view.fonts->text,
        "Choose a GGUF file or a Hugging Face model folder (config.json, model.safetensors, tokenizer.json), "
        "or drop it on the window. Weights are memory-mapped; nothing is copied or sent.",
        "", view.theme->secondary);
    rows.space(8);
    rows.actions({{"empty.model.learned", "Open the bundled model", "model.learned"},
                  {"empty.model.open", "Open a folder or file…", "model.open"},
                  {"empty.model.recorded", "Import attention…", "model.recorded"}});
    recentModels(rows, opening);
    modelsHere(rows, opening);
  }
  endPanel();
}

// Left panel: the text that the model reads and, for a decoder, what its encoder reads.

namespace {

/// The keys of cross heads: the text that the encoder reads, or the frames of its given output.
void encoderSection(Rows& rows, Scene& scene, const State& page) {
  const bool typed = scene.setup.subject.opened->model->source() != nullptr;
  const std::vector<attention::Token>* const source =
      page.study && !page.study->text.source.empty() ? &page.study->text.source : nullptr;
  rows.section(typed ? "ENCODER'S TEXT" : "ENCODER'S OUTPUT",
               !source ? ""
               : typed ? tokenCountText(std::ssize(*source))
                       : countedText(std::ssize(*source), "frame"));
  if (typed)
    textBox(rows.view(), "text", scene.setup.input.text, 3, "Type a sentence for the encoder to read.");
  if (source)
    tokenChips(rows.view(), "source", *source, {std::ssize(*source), false, !page.study->otherKeys.empty()},
               scene.cursor);
}

}  // namespace

void textSection(Rows& rows, Scene& scene, State& page) {
  View& view = rows.view();
  const auto& opened = scene.setup.subject.opened;
  const bool decodes = opened && opened->sources;
  if (decodes) encoderSection(rows, scene, page);
  std::string count;
  if (page.study) {
    const Index typed = page.study->text.typed, written = page.tokens() - typed;
    count = tokenCountText(typed);
    if (written > 0) count = fmt::format("{} {} + {} generated", typed, decodes ? "given" : "typed", written);
  }
  rows.section(decodes ? "DECODER'S TEXT" : "TEXT", count);
  if (decodes)
    textBox(view, "decoder_text", scene.setup.input.contextText, 2,
            "How the decoder's text begins. Empty: its own answer.");
  else
    textBox(view, "text", scene.setup.input.text, 3,
            page.model.isSynthetic() ? "Type a sentence. Each line is a sequence."
                                     : "Type a sentence for the model to read.");
  rows.problem(page.study.problem());
  unknownWords(scene, view);
  if (!page.ready()) return;
  const bool own = page.study->otherKeys.empty();
  tokenChips(view, "token", page.study->text.tokens, {page.tokens(), true, own, page.study->text.typed},
             scene.cursor);
  const Cell& cell = scene.cursor.cell;
  const Theme& theme = rows.theme();
  ImFont* const mono = view.fonts->monoSmall;
  const auto& ids = page.study->text.ids;
  const auto id = [&](bool known, Index at) {
    return known ? fmt::format(" id {}   ", ids[attention::asSize(at)]) : "   ";
  };
  rows.line(Type::small,
            {{"query ", theme.faint},
             {page.token(cell.query), theme.query, mono},
             {id(ids[attention::asSize(cell.query)] >= 0, cell.query), theme.secondary, mono},
             {"key ", theme.faint},
             {page.keyToken(cell.key), theme.key, mono},
             {id(own && ids[attention::asSize(cell.key)] >= 0, cell.key), theme.secondary, mono}});
}

// Left panel: text B, its alignment with text A, and example pairs.

namespace {

/// Draws tokens as lines of words, underlining those that differ from their partners and highlighting
/// `chosen`. Returns the one that was clicked. Tests know them as NAME.INDEX.
std::optional<Index> tokenLines(Rows& rows, const char* name, const std::vector<attention::Token>& tokens,
                                const std::function<bool(Index)>& differs, Index chosen,
                                const std::function<std::string(Index)>& help) {
  constexpr Index kMax = 120;
  std::vector<Word> words;
  for (Index i = 0; i < std::min<Index>(std::ssize(tokens), kMax); ++i) {
    const bool other = differs(i), lit = i == chosen;
    words.push_back(
        {tokens[attention::asSize(i)].text, other || lit ? 0 : rows.theme().secondary, 0, lit, other});
  }
  const WordsHit hit = rows.words(name, words, rows.width());
  if (hit.hovered) tooltip(rows.view(), help(*hit.hovered));
  return hit.clicked;
}

/// Aligns the token of B that is being tied with token `a` of A, or with none if `a` is −1.
void tie(Scene& scene, State& page, Index a) {
  auto& ties = scene.compare.alignment;
  const Index b = std::exchange(page.tying, -1);
  std::erase_if(ties, [&](const attention::TokenTie& one) { return one.b == b || (a >= 0 && one.a == a); });
  ties.push_back({a, b});
}

/// Draws B's tokens. A click on one asks for its partner in A.
void alignedTokens(Rows& rows, Scene& scene, State& page) {
  View& view = rows.view();
  const PairStudy& pair = *page.pair;
  const auto word = [&](const RecordedText& text, Index at) {
    return "“" + pair.keyTokens(text)[attention::asSize(at)].text + "”";
  };
  const auto with = [&](Index b) { return pair.keyAofB()[attention::asSize(b)]; };
  const auto other = [&](Index b) { return differs(pair, true, b); };
  const auto help = [&](Index b) {
    const std::string now =
        with(b) < 0 ? "has no partner in A"
                    : fmt::format("aligned with {}, token {} of A", word(pair.a, with(b)), with(b));
    return fmt::format("{}, token {}: {}\nClick to choose another", word(*pair.b, b), b, now);
  };
  if (page.tying >= std::ssize(pair.keyTokens(*pair.b))) page.tying = -1;
  if (const auto chosen = tokenLines(rows, "text_b", pair.keyTokens(*pair.b), other, page.tying, help))
    page.tying = page.tying == *chosen ? -1 : *chosen;
  if (page.tying >= 0) {
    rows.hint(fmt::format("Which token of A aligns with {}?", word(*pair.b, page.tying)));
    const auto same = [](Index) { return false; };
    const auto place = [&](Index a) { return fmt::format("{}, token {} of A", word(pair.a, a), a); };
    if (const auto chosen =
            tokenLines(rows, "text_b.with", pair.keyTokens(pair.a), same, with(page.tying), place))
      return tie(scene, page, *chosen);
    if (button(view, "text_b.with_none", "None")) return tie(scene, page, -1);
    ImGui::SameLine(0, view.px(8));
    if (button(view, "text_b.keep", "Cancel", "", true)) page.tying = -1;
  }
  if (!scene.compare.alignment.empty() && button(view, "text_b.align", "Align equal tokens again", "", true))
    scene.compare.alignment.clear();
}

void pairButtons(Rows& rows, const OpenModel& opened) {
  bool any = false;
  View& view = rows.view();
  for (const LearnedSkill& skill : opened.learned.skills) {
    if (skill.other.empty()) continue;
    if (!std::exchange(any, true)) rows.hint("Pairs to begin with:");
    if (button(view, "pair." + skill.name, skill.title, "", true)) view.request("model.pair." + skill.name);
  }
}

}  // namespace

void pairSection(Rows& rows, Scene& scene, State& page) {
  if (!page.model.predictsTokens()) return;
  const bool two = !scene.compare.other.empty();
  const OpenModel& opened = *page.model.opened;
  if (two)
    rows.section("TEXT B", {"text.swap", "Swap A and B", "model.swap_texts"});
  else
    rows.section("TEXT B");
  textBox(rows.view(), "text_b", scene.compare.other, 2, "A second text, to compare with the first.");
  if (!two) return pairButtons(rows, opened);
  if (opened.model->source()) rows.hint("B goes to the encoder. The decoder's text is A's.");
  rows.problem(page.pair.problem());
  if (page.pair && page.pair->b && page.pair->question.other == scene.compare.other) {
    alignedTokens(rows, scene, page);
    if (page.pair->a.tokens() != page.pair->b->tokens())
      rows.hint("The texts have different numbers of tokens; equal tokens are aligned.");
  }
  if (button(rows.view(), "text_b.clear", "Remove text B", "", true))
    scene.compare = withoutOther(scene.compare);
}

}  // namespace headscope::app::model_page

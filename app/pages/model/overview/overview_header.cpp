#include <fmt/core.h>

#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

// The header above the thumbnails: a headline, filters by behaviour, the order of heads, and the colours.

std::string numberWord(Index number) {
  constexpr std::array kWords{"no",    "one",   "two",  "three", "four",   "five",  "six",
                              "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  return number < std::ssize(kWords) ? kWords[static_cast<std::size_t>(number)] : std::to_string(number);
}

namespace {

/// The end of a sentence about what one head, or several, do.
struct Doing {
  std::string_view detector, one, several;
};
constexpr Doing kDoings[] = {
    {"previous", "attends to the previous token", "attend to the previous token"},
    {"next", "attends to the next token", "attend to the next token"},
    {"self", "attends to its own token", "attend to their own token"},
    {"first_token", "attends to the first token", "attend to the first token"},
    {"same_token", "finds the same token", "find the same token"},
    {"induction", "finds what followed", "find what followed"},
    {"separator", "attends to punctuation", "attend to punctuation"},
    {"local_band", "attends to nearby tokens", "attend to nearby tokens"},
    {"uniform", "attends uniformly", "attend uniformly"},
    {"offset", "attends further back", "attend further back"},
    {"sinks", "attends to the first four tokens", "attend to the first four tokens"},
    {"segment", "stays in its segment", "stay in their segment"},
    {"stripe", "attends to one token", "attend to one token"},
};

std::string clauseOf(const Behaviour& behaviour, bool first) {
  const auto found = std::find_if(std::begin(kDoings), std::end(kDoings), [&](const Doing& doing) {
    return doing.detector == behaviour.detector->name;
  });
  if (found == std::end(kDoings)) return "";
  const bool one = behaviour.heads == 1;
  return numberWord(behaviour.heads) + (first ? one ? " head " : " heads " : " ") +
         std::string(one ? found->one : found->several);
}

/// Whether the text repeats itself and the model predicts it: over pairs of adjacent tokens that occurred
/// before, the second token has a mean probability of at least one half.
bool writesFromMemory(const State& page) {
  const std::vector<StripPrediction>* foreseen = page.foreseen();
  if (!page.model.config->causal || !foreseen) return false;
  const std::vector<Index>& ids = page.study->text.ids;
  const auto seenBefore = [&](std::size_t at) {
    for (std::size_t earlier = 0; earlier < at; ++earlier)
      if (ids[earlier] == ids[at] && ids[earlier + 1] == ids[at + 1]) return true;
    return false;
  };
  constexpr std::size_t kMin = 2, kMax = 256;  // only the first kMax tokens count
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t at = 1; at + 1 < std::min(ids.size(), kMax); ++at)
    if (seenBefore(at)) {
      sum += (*foreseen)[at].real;
      ++count;
    }
  return count >= kMin && sum >= 0.5 * static_cast<double>(count);
}

/// What the text shows, if known, as the start of a headline about the heads.
std::string headlineStart(const Scene& scene, const State& page, const std::vector<Behaviour>& found) {
  const bool induction = std::any_of(found.begin(), found.end(), [](const Behaviour& behaviour) {
    return behaviour.detector && behaviour.detector->name == "induction";
  });
  if (induction && writesFromMemory(page)) return "Recalled after one occurrence: ";
  for (const LearnedSkill& skill : page.model.opened->learned.skills)
    if (skill.text == *scene.setup.input.text) return skill.title + ": ";
  return "";
}

/// The headline, with as many clauses as fit.
void headline(ControlLine& bar, const Scene& scene, State& page) {
  const View& view = page.view;
  const std::vector<Behaviour> found = behavioursOf(page.layers, scene.look.labelThreshold);
  const std::string start = headlineStart(scene, page, found);
  std::string says;
  const float room = bar.room() - textWidth(view.fonts->hero, start);
  for (const Behaviour& behaviour : found) {
    if (!behaviour.detector || (!behaviour.deliberate && !says.empty())) continue;
    const std::string clause = clauseOf(behaviour, says.empty());
    if (clause.empty()) continue;
    const std::string more = (says.empty() ? "" : says + ", ") + clause;
    if (textWidth(view.fonts->hero, more) > room) break;
    says = more;
    if (behaviour.deliberate && behaviour.heads == 1) page.named.push_back(behaviour.detector);
  }
  if (says.empty())
    says = page.model.opened && page.model.opened->isCrossAttention
               ? "no head differs much between these texts"
               : "no head stands out on this text";
  if (start.empty()) says = capitalized(says);
  bar.words(start, view.theme->text, view.fonts->hero);
  bar.words(says, view.theme->secondary, view.fonts->hero, "model.headline");
}

/// A filter with its number of heads, over the window's width. Returns whether it was clicked.
bool filterChip(View& view, const std::string& name, const std::string& number, bool chosen, int key) {
  const bool clicked = hitArea("filter." + name, ImVec2(ImGui::GetWindowWidth(), view.px(28)));
  if (ImGui::IsItemHovered() && key <= 9)
    hoverHelp(view, "filter." + name, fmt::format("Shift+{}", key).c_str());
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect place(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  if (chosen || ImGui::IsItemHovered())
    list.AddRectFilled(place.Min, place.Max, view.theme->raised, view.px(6));
  const std::uint32_t color = chosen ? view.theme->text : view.theme->secondary;
  ImVec2 at(place.Min.x + view.px(10), place.GetCenter().y);
  at.x += paintText(list, chosen ? view.fonts->bold : view.fonts->text, at, color, name) + view.px(6);
  paintText(list, view.fonts->mono, at, color, number);
  return clicked;
}

/// The number of heads, the filters that fit, the order and the colours.
void filters(ControlLine& bar, Scene& scene, State& page) {
  View& view = page.view;
  ModelCursor& cursor = scene.cursor.model;
  const Index all = page.model.config->heads * page.model.config->layerCount();
  bar.words(countedText(all, page.model.opened && page.model.opened->isCrossAttention ? "cross-attention head"
                                                                                      : "head"),
            view.theme->text, view.fonts->title);
  bar.space(12);
  const bool difference = showsDifference(scene, page);
  constexpr float kBar = 110;
  bar.part(
      "model.colours", kBar,
      [&] {
        paintColourBar(view, shownColours(scene, page), shownLabels(scene, page),
                       ImGui::GetCursorScreenPos() + ImVec2(view.px(kBar), view.px(14)), view.px(kBar));
      },
      true);
  const std::string none =
      cursor.detector.empty() && !difference ? "Choose a behaviour on the left first" : "";
  const std::vector<Choice> orders{{"by layer", "", "layer"},
                                   {difference ? "by change" : "by score", none, "score"}};
  int order = cursor.byScore && none.empty() ? 1 : 0;
  const auto chooseOrder = [&] {
    if (dropdown(view, "model.order", orders, order, 0,
                 "Order heads within each layer by number or by score for the chosen behaviour."))
      cursor.byScore = order == 1;
  };
  bar.part("model.order.box", 114, chooseOrder, true);
  int key = 0;
  const auto chip = [&](const std::string& name, Index count, const std::string& detector) {
    const bool chosen = cursor.detector == detector;
    const std::string number = countText(static_cast<std::uint64_t>(count));
    const float wide = textWidth(view.fonts->text, name) + textWidth(view.fonts->mono, number);
    bool clicked = false;
    const bool fits = bar.part("chip." + name, wide / view.unit + 26,
                               [&] { clicked = filterChip(view, name, number, chosen, key); });
    ++key;
    if (clicked) cursor.detector = chosen ? "" : detector;
    return fits;
  };
  if (!chip("all", all, "")) return;  // small windows offer the filters only in the list of commands
  for (const Behaviour& one : behavioursOf(page.layers, scene.look.labelThreshold))
    if (!chip(one.name, one.heads, one.name)) break;
}

}  // namespace

std::string lossText(State& page) {
  const HeadLosses* losses = page.currentLosses();
  if (!losses) return "";
  switch (losses->of) {
    case LossOf::written:
      return "loss added to the generated words without this head";
    case LossOf::standing:
      return "loss added to these words without this head";
    case LossOf::next:
      return "loss added to “" + page.word(losses->next) + "”, the top prediction, without this head";
  }
  return "";
}

std::string changeText(float change) {
  return std::isfinite(change) ? signedText(change, 2) : numberText(change);
}

std::vector<Behaviour> behavioursOf(const Layers& layers, float threshold) {
  const auto detectors = attention::allDetectors();
  std::vector<Behaviour> all;
  for (const attention::Detector* detector : detectors) {
    attention::HeadLabel label;
    label.detector = detector;
    all.push_back({detector, std::string(detector->title), 0, isDeliberate(label)});
  }
  all.push_back({nullptr, "mixed", 0, false});
  for (const auto& layer : layers) {
    if (!layer) continue;
    for (const HeadSummary& head : layer->heads) {
      const auto at = std::find(detectors.begin(), detectors.end(), head.label(threshold).detector);
      ++all[static_cast<std::size_t>(at - detectors.begin())].heads;
    }
  }
  std::erase_if(all, [](const Behaviour& behaviour) { return behaviour.heads == 0; });
  std::stable_partition(all.begin(), all.end(),
                        [](const Behaviour& behaviour) { return behaviour.deliberate; });
  return all;
}

void overviewHeader(Board& board, Scene& scene, State& page, bool headed) {
  page.named.clear();
  if (headed) board.controls([&scene, &page](ControlLine& bar) { headline(bar, scene, page); }, 0);
  if (!page.picture())
    board
        .words(
            {"Each square is one head reading the text: in a word’s row, the bright columns are the words it "
             "looks at.",
             "Each square is one head: in a word’s row, bright columns are the words it looks at."})
        .inWindow()
        .apart(6);
  board.controls([&scene, &page](ControlLine& bar) { filters(bar, scene, page); }, 2);
}

// A large model's thumbnails are tiny, so those around the pointer are shown enlarged next to it.

namespace {

constexpr Index kReach = 2;  // heads to each side

struct MagnifierBox {
  ImVec2 from, to;
  float cell, gap, pad, words;
  ImRect tile(Index row, Index column) const {
    const float x = from.x + pad + static_cast<float>(column) * (cell + gap),
                y = from.y + pad + static_cast<float>(row) * (cell + gap);
    return {x, y, x + cell, y + cell};
  }
};

/// Places the box next to the pointer, without covering it or leaving the window.
MagnifierBox boxBeside(const View& view, float words) {
  MagnifierBox box{{}, {}, view.px(54), view.px(3), view.px(9), words};
  const auto side = static_cast<float>(2 * kReach + 1);
  const float width = side * box.cell + (side - 1) * box.gap + 2 * box.pad;
  const ImVec2 mouse = ImGui::GetIO().MousePos, screen = ImGui::GetIO().DisplaySize;
  const float height = width + words, away = view.px(26);
  box.from = ImVec2(mouse.x + away, mouse.y + away);
  if (box.from.x + width > screen.x) box.from.x = mouse.x - away - width;
  if (box.from.y + height > screen.y) box.from.y = std::max(0.0f, screen.y - height - view.px(4));
  box.to = ImVec2(box.from.x + width, box.from.y + height);
  return box;
}

}  // namespace

void magnifier(const Scene& scene, State& page, const OverviewPlan& plan, Index layer, Index column,
               const std::string& says) {
  View& view = page.view;
  Canvas list = *ImGui::GetForegroundDrawList();
  const float line = lineHeight(view.fonts->small) * 1.25f;
  const auto lines = static_cast<float>(1 + std::count(says.begin(), says.end(), '\n'));
  const MagnifierBox box = boxBeside(view, line * (lines + 1) + view.px(4));
  list.AddRectFilled(box.from, box.to, view.theme->raised, view.px(6));
  compat::rectOutline(list, box.from, box.to, view.theme->line, view.px(6), 1);
  page.pictures.magnified.pixels = box.cell;
  page.pictures.magnified.wanted.clear();
  std::vector<HeatmapTile> tiles;
  struct Label {
    ImRect tile;
    attention::HeadLabel does;
    bool chosen;
  };
  std::vector<Label> labels;
  for (Index row = 0; row <= 2 * kReach; ++row) {
    const Index at = layer + row - kReach;
    if (!page.layer(at)) continue;
    const std::vector<Index> order = headOrder(scene, page, at);
    for (Index col = 0; col <= 2 * kReach; ++col) {
      const Index place = column + col - kReach;
      if (place < 0 || place >= plan.heads) continue;
      const Index head = order[static_cast<std::size_t>(place)];
      const ImRect area = box.tile(row, col);
      HeatmapTile picture = pictureOf(tileOf(*page.layer(at), area, head), page.pictures.magnified.factor,
                                      shownRange(scene, page));
      page.pictures.magnified.wanted.push_back({at, head});
      const auto there = std::find(page.pictures.magnified.heads.begin(), page.pictures.magnified.heads.end(),
                                   page.pictures.magnified.wanted.back());
      picture.view.layer = static_cast<int>(there - page.pictures.magnified.heads.begin());
      if (there != page.pictures.magnified.heads.end()) tiles.push_back(picture);
      labels.push_back({area, page.summary(at, head)->label(scene.look.labelThreshold),
                        at == scene.cursor.model.layer && head == scene.cursor.cell.head});
    }
  }
  render::HeatmapStyle style = styleFor(view, shownColours(scene, page));
  style.gap = 0;
  view.heatmaps->draw(list, page.pictures.magnified.textures, style, std::move(tiles));
  if (page.pictures.magnified.wanted != page.pictures.magnified.heads)
    view.redraw(2);  // the missing ones are drawn in the next frame
  paintGhost(view, list, "hovered head", box.tile(kReach, kReach), view.theme->text);
  for (const Label& label : labels) {
    const bool bold = isDeliberate(label.does);
    ImFont* font = bold ? view.fonts->smallBold : view.fonts->small;
    // Drawn in the masked triangle, or not at all.
    if (label.does.detector && page.model.config->causal &&
        textWidth(font, headWord(label.does)) < label.tile.GetWidth() * 0.66f)
      paintText(list, font, ImVec2(label.tile.Max.x - view.px(3), label.tile.Min.y + view.px(9)),
                bold ? view.theme->text : view.theme->secondary, headWord(label.does), Align::right);
    if (label.chosen)
      paintMark(view, list, "chosen head", label.tile, view.theme->text, std::max(2.0f, view.px(2)));
  }
  float y = box.to.y - box.words + line / 2;
  const auto say = [&](const std::string& text, std::uint32_t color) {
    paintText(list, view.fonts->small, ImVec2(box.from.x + box.pad, y), color,
              fitted(view.fonts->small, text, box.to.x - box.from.x - 2 * box.pad));
    y += line;
  };
  for (std::size_t from = 0; from <= says.size();) {
    const std::size_t end = std::min(says.find('\n', from), says.size());
    say(says.substr(from, end - from), view.theme->text);
    from = end + 1;
  }
  say(plan.pitch < plan.largest ? "scroll to enlarge" : "drag to move, scroll to zoom out",
      view.theme->faint);
  track("model.magnifier", box.from, box.to);
}

}  // namespace headscope::app::model_page

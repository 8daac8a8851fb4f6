#include <fmt/core.h>

#include <tuple>

#include "app/labs/lab/head_lab.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

/// The inner tabs, and at their right what is shown. Returns where the line ends below.
float HeadLab::tabs(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  const Theme& theme = *view.theme;
  const ImRect& center = layout.center;
  const float high = view.px(layout.narrow ? 40 : 48), y = center.Min.y + high / 2;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(center.Min.x, center.Min.y + high), ImVec2(center.Max.x, center.Min.y + high),
               theme.line);
  float x = center.Min.x + view.px(24);
  for (const auto& [name, label, tab] : {std::tuple("pipeline", "Pipeline", LabTab::pipeline),
                                         std::tuple("weights", "Weights", LabTab::weights),
                                         std::tuple("wrong", "What goes wrong", LabTab::wrong)}) {
    const float wide = textWidth(view.fonts->bold, label);
    ImGui::SetCursorScreenPos(ImVec2(x - view.px(6), center.Min.y));
    if (ImGui::InvisibleButton(name, ImVec2(wide + view.px(12), high))) page_.tab = tab;
    trackItem(std::string("lab.tab.") + name);
    const bool lit = page_.tab == tab;
    paintText(list, lit ? view.fonts->bold : view.fonts->text, ImVec2(x, y),
              lit || ImGui::IsItemHovered() ? theme.text : theme.secondary, label);
    if (lit)
      list.AddRectFilled(ImVec2(x, center.Min.y + high - view.px(2)), ImVec2(x + wide, center.Min.y + high),
                         theme.text);
    x += wide + view.px(28);
  }
  const ImRect line(center.Min.x, center.Min.y, center.Max.x - view.px(24), center.Min.y + high);
  if (page_.tab == LabTab::wrong)
    subjectChoice(line);
  else if (page_.head)
    headChips(scene, line, x);
  return center.Min.y + high + 1;
}

/// What the head does, the head, its kv head, the query and the key, as far as there is room.
void HeadLab::headChips(Scene& scene, const ImRect& line, float left) {
  View& view = services_.view;
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float y = line.GetCenter().y;
  float x = line.Max.x;
  const SequenceSnapshot& sequence = page_.layer->sequence();
  const Cell cell = labCell(scene, page_);
  const attention::AttentionConfig& config = page_.layer->config();
  std::vector<Choice> heads;
  for (Index h = 0; h < config.heads; ++h)
    heads.push_back({fmt::format("Head {} of {}", h, config.heads), "", std::to_string(h)});
  int chosen = static_cast<int>(cell.head);
  const std::string kv = fmt::format("KV {}", config.kvHeadOf(cell.head));
  const float head = textWidth(view.fonts->text, heads[static_cast<std::size_t>(chosen)].label) + view.px(24);
  const float badge = textWidth(view.fonts->small, kv) + view.px(12);
  const auto chip = [&](const char* word, const std::vector<attention::Token>& tokens, Index at,
                        std::uint32_t color) {
    const std::string index = std::to_string(at);
    const std::string text =
        fitted(view.fonts->mono, tokens[static_cast<std::size_t>(at)].text, view.px(120));
    const float wide =
        textWidth(view.fonts->monoSmall, index) + textWidth(view.fonts->mono, text) + view.px(20);
    const float all = wide + textWidth(view.fonts->text, word) + view.px(30);
    if (x - all - head - badge - view.px(30) < left) return;
    const ImVec2 from(x - wide, y - view.px(14)), to(x, y + view.px(14));
    list.AddRectFilled(from, to, mixed(theme.background, color, 0.16f), view.px(4));
    const float offset =
        paintText(list, view.fonts->monoSmall, ImVec2(from.x + view.px(7), y), theme.secondary, index);
    paintText(list, view.fonts->mono, ImVec2(from.x + view.px(13) + offset, y),
              theme.light ? mixed(color, theme.text, 0.45f) : color, text);
    track(std::string("lab.") + word, from, to);
    paintText(list, view.fonts->text, ImVec2(from.x - view.px(10), y), theme.secondary, word, Align::right);
    x -= all;
  };
  chip("key", sequence.keys, cell.key, theme.key);
  chip("query", sequence.queries, cell.query, theme.query);
  if (x - head - badge - view.px(8) < left) return;
  x -= badge;
  paintBadge(view, list, ImVec2(x, y), groupColor(theme, config.kvHeadOf(cell.head)), kv);
  x -= head + view.px(8);
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
  if (dropdown(view, "lab.head", heads, chosen, 0, "Which head is taken apart (PgUp and PgDn)."))
    scene.cursor.cell.head = chosen;
  const auto at = static_cast<std::size_t>(cell.head);
  if (at >= sequence.labels.size()) return;
  const attention::HeadLabel& label = sequence.labels[at];
  std::string words = attention::describe(label);
  if (label.detector) words += fmt::format(" {:.2f}", sequence.profiles[at][label.detector->name].raw);
  if (x - view.px(20) - textWidth(view.fonts->text, words) > left)
    paintText(list, view.fonts->text, ImVec2(x - view.px(20), y), theme.secondary, words, Align::right);
}

/// What mistakes are made on; in narrow windows the list of mistakes too.
void HeadLab::subjectChoice(const ImRect& line) {
  View& view = services_.view;
  const Choice subjects[] = {
      {"on a random layer", "", "random"},
      {"on this layer",
       page_.snapshot && !page_.snapshot->sequences.empty() ? "" : "This layer has no numbers yet.", "own"}};
  int chosen = page_.ownLayer ? 1 : 0;
  float x = line.Max.x - textWidth(view.fonts->text, subjects[chosen].label) - view.px(24);
  ImGui::SetCursorScreenPos(ImVec2(x, line.GetCenter().y - view.px(13)));
  if (dropdown(view, "wrong.subject", subjects, chosen, 0, "Which queries and keys the mistake is made on."))
    page_.ownLayer = chosen == 1;
  if (!listFolds_) return;
  std::vector<Choice> names;
  for (const attention::MistakeInfo& info : attention::mistakes())
    names.push_back({std::string(info.title), "", std::string(info.key)});
  int at = static_cast<int>(page_.mistake);
  x -= textWidth(view.fonts->text, names[static_cast<std::size_t>(at)].label) + view.px(40);
  ImGui::SetCursorScreenPos(ImVec2(x, line.GetCenter().y - view.px(13)));
  if (dropdown(view, "wrong.mistake", names, at, 0, "The mistake (← and →)."))
    page_.mistake = static_cast<attention::Mistake>(at);
}

}  // namespace headscope::app

// The heads of other layers that the chosen head reads and that read it, computed from weights alone.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

constexpr const char* kCompositionHelp =
    "‖W1·W2‖ / (‖W1‖·‖W2‖) of an earlier head's W_V·W_O and a later head's input weights for queries, keys "
    "or values, minus the 1/√(model dim) of random heads (Elhage et al. 2021). Independent of the text.";

/// "Q +0.120, K −0.004", without undefined amounts.
std::string amounts(const attention::Composition& with) {
  std::string text;
  for (const auto& [kind, amount] : {std::pair("Q", with.q), {"K", with.k}, {"V", with.v}})
    if (!std::isnan(amount))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, signedText(amount, 3));
  return text;
}

/// The strongest heads of one side, as many as fit on a line. A click chooses one.
void partners(Scene& scene, View& view, const ShownModel& model, Opening& opening, const char* name,
              const char* label, const std::vector<ComposedHead>& heads, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y = at.y + view.px(13), right = at.x + width;
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->small, ImVec2(at.x, y), view.theme->secondary, label);
  float x = at.x + view.px(62);
  constexpr std::size_t kMax = 5;
  bool any = false;
  for (std::size_t i = 0; i < std::min(kMax, heads.size()); ++i) {
    const auto [kind, amount] = heads[i].strongest();
    if (amount < 0.005) break;
    const bool other = heads[i].group != model.config->group;
    const std::string words =
        fmt::format("{}{}.{} {} +{}", other ? std::string(groupName(heads[i].group)) + " " : "",
                    heads[i].layer, heads[i].head, kind, fixedText(amount, 2));
    const float wide = textWidth(view.fonts->text, words) + view.px(22);
    if (x + wide > right) break;
    any = true;
    ImGui::SetCursorScreenPos(ImVec2(x, at.y));
    const attention::Composition& with = heads[i].with;
    if (button(view, fmt::format("{}.{}", name, i), words, "", true)) {
      scene.cursor.model.layer = heads[i].layer;
      scene.cursor.cell.head = heads[i].head;
      if (other) wantGroup(scene, opening, groupName(heads[i].group));
    }
    if (ImGui::IsItemHovered())
      tooltip(view, fmt::format("{} above random heads\nClick to choose the head", amounts(with)));
    x += wide + view.px(4);
  }
  if (!any)
    paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint,
              heads.empty() ? "no heads there" : "none above random heads");
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(28)));
  ImGui::Dummy(ImVec2(1, 1));
}

/// A note on compositions that are undefined between an encoder–decoder's streams; null with one stream.
const char* undefinedNote(const attention::ModelConfig& config) {
  switch (config.group) {
    case attention::HeadGroup::cross:
      return "Queries read the decoder's heads; keys and values read the encoder's.";
    case attention::HeadGroup::decoder:
      return "Cross heads read these as queries only; nothing here reads the encoder's heads.";
    case attention::HeadGroup::encoder:
      return "Which cross heads read these is shown under cross heads.";
    case attention::HeadGroup::only:
      break;
  }
  return nullptr;
}

}  // namespace

void compositionSection(Scene& scene, State& page, float width) {
  View& view = page.view;
  gap(view, 8);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  sectionTitle(view, "COMPOSITION", "from weights only");
  const ImVec2 to(at.x + width, ImGui::GetCursorScreenPos().y);
  track("model.composition", at, to);
  if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, to))
    hoverHelp(view, "model.composition", kCompositionHelp);
  if (const attention::Status maps = page.model.config->checkHeadMaps(); !maps)
    return hint(view, maps.error().message);
  const auto found = page.head.compositions.find({scene.cursor.model.layer, scene.cursor.cell.head});
  if (found == page.head.compositions.end()) return hint(view, "…");
  if (const char* const note = undefinedNote(*page.model.config)) hint(view, note);
  partners(scene, page.view, page.model, page.opening, "composes.earlier", "reads", found->second.earlier,
           width);
  partners(scene, page.view, page.model, page.opening, "composes.later", "is read by", found->second.later,
           width);
}

}  // namespace headscope::app::model_page

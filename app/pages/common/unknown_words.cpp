#include "app/pages/common/unknown_words.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/platform/track.h"
#include "app/scene/models/open_model.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

/// Joins words: "zebra and quantum", "zebra, quantum, qubit and 3 more".
std::string someOf(const std::vector<std::string>& words) {
  constexpr std::size_t kMax = 4;
  const std::size_t shown = words.size() > kMax ? kMax - 1 : words.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

/// Appends a word to the text, separated by a space.
void append(Scene& scene, const std::string& word) {
  std::string text = scene.setup.input.text;
  if (!text.empty() && text.back() != ' ' && text.back() != '\n') text += ' ';
  scene.setup.input.text = text + word;
}

}  // namespace

void unknownWords(const Scene& scene, View& view) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened || scene.setup.input.source != EmbeddingSource::text) return;
  const std::vector<std::string> unknown = wordsOutside(opened->learned.words, *scene.setup.input.text);
  if (unknown.empty()) return;
  gap(view, 2);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float high =
      paintParagraph(*ImGui::GetWindowDrawList(), view.fonts->small, at, width, view.theme->warning,
                     fmt::format("Outside {}'s vocabulary of {} words, so split into pieces: {}",
                                 opened->name, opened->learned.words.size(), someOf(unknown)));
  ImGui::Dummy(ImVec2(width, high + view.px(4)));
  track("words.unknown", at, ImVec2(at.x + width, at.y + high));
  if (scene.setup.subject.model != kLearned) return;  // the actions belong to that model
  if (button(view, "words.list", "Vocabulary…")) view.request("model.words");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "words.examples", "Example texts…"))
    for (const LearnedSkill& skill : opened->learned.skills) view.menu.push_back(exampleAction(skill));
}

std::string exampleAction(const LearnedSkill& skill) {
  return "model.example." + skill.name;
}

void WordList::draw(Scene& scene, View& view, bool) {
  if (beginDialog(view, "words", fmt::format("{} words in Miniature's vocabulary", learned_->words.size()),
                  720, 560)) {
    hint(view,
         "Other words split into pieces that the model hardly knows. Click a word to add it to the text.");
    gap(view, 4);
    ImGui::BeginChild("words.all", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    ImFont* font = view.fonts->mono;
    const float column = view.px(112), high = view.px(25);
    const auto columns = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::max(0.0f, ImGui::GetContentRegionAvail().x) / column));
    const std::size_t rows = (learned_->words.size() + columns - 1) / columns;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    Canvas list = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < learned_->words.size(); ++i) {
      const std::string& word = learned_->words[i];
      const ImVec2 at(from.x + column * static_cast<float>(i / rows),
                      from.y + high * static_cast<float>(i % rows));
      if (hitArea("word." + word, at, ImVec2(column - view.px(4), high))) append(scene, word);
      if (ImGui::IsItemHovered())
        list.AddRectFilled(at, ImVec2(at.x + column - view.px(4), at.y + high), view.theme->line, view.px(4));
      paintText(list, font, ImVec2(at.x + view.px(6), at.y + high / 2), view.theme->text, word);
    }
    ImGui::SetCursorScreenPos(ImVec2(from.x, from.y + high * static_cast<float>(rows)));
    ImGui::Dummy(ImVec2(1, 1));
    compat::endChild();
  }
  endDialog();
}

}  // namespace headscope::app

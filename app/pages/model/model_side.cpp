// The left panel: the model, its text, the active edits and the heads that are switched off.

#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::model_page {

using attention::Layer;
using attention::PatternKind;

void wantGroup(const Scene& scene, Opening& opening, std::string_view group) {
  opening.wanted =
      attention::groupedPath(modelFolder(scene.setup.subject.model)).path.string() + "#" + std::string(group);
}

namespace {

/// "decoder to the encoder (cross)" for "cross".
Choice kindChoice(std::string_view group) {
  const std::string name(group);
  return {group == "cross" ? "decoder to the encoder (cross)" : name, "", name};
}

/// The choice of an encoder–decoder's group of heads, if its checkpoint has several.
void headGroupChoice(const Scene& scene, View& view, Opening& opening) {
  const attention::ModelConfig& config = scene.setup.subject.opened->config();
  if (config.groups.size() < 2) return;
  sectionTitle(view, "ATTENTION KIND");
  std::vector<Choice> choices;
  for (const attention::HeadGroup group : config.groups) choices.push_back(kindChoice(groupName(group)));
  int chosen = static_cast<int>(std::ranges::find(config.groups, config.group) - config.groups.begin());
  if (dropdown(view, "model.group", choices, chosen, ImGui::GetContentRegionAvail().x,
               "An encoder–decoder has three kinds of heads. Your edits apply to the kind shown."))
    wantGroup(scene, opening, choices[static_cast<std::size_t>(chosen)].name);
  gap(view, 8);
}

/// The setup of the synthetic layers.
void stackSection(Scene& scene, View& view) {
  sectionTitle(view, "SYNTHETIC LAYERS");
  fieldToggle(view, scene, "model.norm");
  const ModelSetup& model = scene.setup.model;
  hint(view,
       fmt::format("x + Attn({}), {} over {} of size {}, model dim {}; no MLP.", model.norm ? "RMS x" : "x",
                   countedText(model.heads, "head"), model.kvHeads, model.headDim, model.modelDim));
  if (button(view, "model.sizes", "Edit on Heads")) view.request("page.heads");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "model.open", "Open a model…", "", true)) view.request("model.open");
}

/// The choice between the kinds of attention in a file that has several.
void groupChoice(const Scene& scene, View& view, Opening& opening) {
  const attention::RecordedAttention& file = *scene.setup.subject.opened->recorded;
  if (file.groups().size() < 2) return;
  sectionTitle(view, "ATTENTION KIND");
  std::vector<Choice> choices;
  for (const std::string& group : file.groups()) choices.push_back(kindChoice(group));
  int chosen = static_cast<int>(std::ranges::find(file.groups(), file.group()) - file.groups().begin());
  if (dropdown(view, "recorded.group", choices, chosen, ImGui::GetContentRegionAvail().x,
               "The file contains several kinds of attention."))
    opening.wanted = file.path().string() + "#" + file.groups()[static_cast<std::size_t>(chosen)];
  gap(view, 8);
}

/// The choice of what to compare the recording with: another file, or another group of the same file.
void otherRecording(Scene& scene, State& page) {
  View& view = page.view;
  const attention::RecordedAttention& file = *scene.setup.subject.opened->recorded;
  std::string& other = scene.compare.recorded;
  sectionTitle(view, "COMPARE WITH");
  std::vector<Choice> choices{{"nothing", "", "nothing"}};
  std::vector<std::string> names{""};
  const auto offer = [&](const std::string& name, const std::string& label, const std::string& tracked) {
    if (std::ranges::find(names, name) != names.end()) return;
    names.push_back(name);
    choices.push_back({label, "", tracked});
  };
  for (const std::string& group : file.groups())
    if (group != file.group()) offer(file.path().string() + "#" + group, group, group);
  if (!other.empty()) offer(other, modelName(other), "other");
  int chosen = static_cast<int>(std::ranges::find(names, other) - names.begin());
  if (names.size() > 1 && dropdown(view, "recorded.b", choices, chosen, ImGui::GetContentRegionAvail().x,
                                   "Heads are shown as A, B, or B − A.")) {
    other = names[static_cast<std::size_t>(chosen)];
    scene.cursor.model.shown = other.empty() ? ShownText::a : ShownText::difference;
  }
  if (button(view, "recorded.b.open", "Choose a file…", "", true)) view.request("model.recorded_b");
  if (!page.other.problem.empty()) problem(view, page.other.problem);
  if (!page.pair.comparedProblem.empty()) problem(view, page.pair.comparedProblem);
}

/// What the colour of NaN means in the heads.
void noWeightLegend(View& view) {
  const ImRect line = Rows(view).area("recorded.no_weight", 24);
  const float side = view.px(12), y = line.GetCenter().y;
  Canvas list = *ImGui::GetWindowDrawList();
  paintCells(view, list, ImRect(line.Min.x, y - side / 2, line.Min.x + side, y + side / 2),
             attention::Matrix::Constant(1, 1, std::numeric_limits<float>::quiet_NaN()), {});
  paintFitted(view, list, view.fonts->small, ImVec2(line.Min.x + side + view.px(8), y),
              line.GetWidth() - side - view.px(8), view.theme->secondary,
              "no weight: NaN, infinite or above 1");
}

/// The tokens of recorded attention, which can't be edited.
void recordedSection(Scene& scene, State& page) {
  View& view = page.view;
  const bool other = page.study && !page.study->otherQueries.empty();
  groupChoice(scene, page.view, page.opening);
  sectionTitle(view, other ? "KEYS" : "TOKENS", countText(static_cast<std::uint64_t>(page.tokens())));
  if (!page.run.problem.empty()) problem(view, page.run.problem);
  const attention::RecordedAttention& file = *scene.setup.subject.opened->recorded;
  if (const Index side = file.patchSide(); side > 0)
    hint(view,
         fmt::format("No token text in the file; assuming {} × {} image patches{}, named by row and column.",
                     side, side, side * side == file.keys() ? "" : " plus a class token") +
             (page.picture() ? "" : " Drop the picture (PNG or JPEG) to see weights on it."));
  else if (!file.hasTokens())
    hint(view, file.unfitTokens().empty()
                   ? "No token text in the file; showing positions."
                   : "No token text fits; showing positions. Not used: " + file.unfitTokens() + ".");
  for (const std::string& note : file.notes()) hint(view, note);
  if (page.study && page.study->unweighed) noWeightLegend(view);
  if (page.ready())
    tokenChips(view, "token", page.study->text.tokens, {page.tokens(), !other, true}, scene.cursor);
  if (page.ready() && other) {
    gap(view, 8);
    sectionTitle(view, "QUERIES", countText(static_cast<std::uint64_t>(page.queries())));
    tokenChips(view, "query", page.study->otherQueries, {page.queries(), true, false}, scene.cursor);
  }
  gap(view, 8);
  otherRecording(scene, page);
  gap(view, 8);
  bool showFirst = !scene.cursor.model.firstOut;
  if (toggle(view, "model.first", "Show the first token", showFirst))
    scene.cursor.model.firstOut = !showFirst;
}

/// The scene's masks and sharpness, which apply on top of the model's own mask.
void actingSection(Scene& scene, State& page) {
  View& view = page.view;
  SharedLayers& layers = scene.setup.mask.layers;
  sectionTitle(view, page.model.isSynthetic() ? "EDITS ON ALL LAYERS" : "ACTIVE EDITS");
  const ImVec2 after = ImGui::GetCursorScreenPos();
  const float wide = textWidth(view.fonts->text, "on layer 10 only") + view.px(24);
  if (!page.model.isSynthetic()) {
    ImGui::SetCursorScreenPos(
        ImVec2(after.x + ImGui::GetContentRegionAvail().x - wide, after.y - view.px(26)));
    scopeChoice(scene, view);
    ImGui::SetCursorScreenPos(after);
  }
  if (page.model.config->cross()) {
    hint(view, "Cross heads see the encoder's whole text.");
  } else if (page.model.config->causal) {
    bool causal = true;
    toggle(view, "model.causal", "Causal (built into the model)", causal,
           "The model was trained with a causal mask: no token sees a later one.");
  } else {
    ruleSwitch(layers, PatternKind::causal, "causal", "Causal", {}, view);
  }
  MaskedText text;
  text.longest = std::max<Index>(2, page.tokens());
  struct Rule {
    PatternKind kind;
    const char *name, *label;
  };
  for (const Rule& rule : {Rule{PatternKind::window, "window", "Sliding window"},
                           Rule{PatternKind::streaming, "streaming", "Sinks + window"}}) {
    ruleSwitch(layers, rule.kind, rule.name, rule.label, text, view);
  }
  const auto others = std::count_if(layers.begin(), layers.end(), [&](const Layer& layer) {
    return &layer != plainLayer(layers, PatternKind::window) &&
           &layer != plainLayer(layers, PatternKind::streaming) &&
           &layer != plainLayer(layers, PatternKind::causal);
  });
  if (others > 0) hint(view, fmt::format("and {} from the mask studio", countedText(others, "more layer")));
  fieldSlider(view, scene, "model.sharpness");
  bool showFirst = !scene.cursor.model.firstOut;
  if (toggle(view, "model.first", "Show the first token", showFirst, "",
             "Many heads put surplus weight on the first token. Hiding it renormalises the other columns. "
             "Only the pictures change."))
    scene.cursor.model.firstOut = !showFirst;
  if (scene.cursor.model.firstOut) hint(view, "First token hidden; the other columns are renormalised.");
}

/// The sampling settings for generated tokens.
void writingSection(Scene& scene, View& view) {
  GenerationSetup& generation = scene.generation;
  sectionTitle(view, "GENERATION");
  const auto number = [&](const char* name, const char* label, const char* help, const Range& range,
                          Track track, double& value) {
    SliderSpec spec;
    spec.name = name;
    spec.label = label;
    spec.help = help;
    auto single = static_cast<float>(value);
    if (slider(view, spec, range, track, single)) value = single;
  };
  number("temperature", "Temperature",
         "Tokens are sampled from softmax(logits / temperature). 0 takes the most likely one.", {0, 100},
         {0, 2}, generation.temperature);
  if (generation.temperature == 0) return hint(view, "0 always takes the most likely token (greedy).");
  number("top_p", "Top-p", "Sample only from the most likely tokens that together reach this probability.",
         {0, 1}, {0, 1}, generation.topP);
  const Index stops[] = {0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  SliderSpec spec;
  spec.name = "top_k";
  spec.label = "Top-k";
  spec.help = "Sample only from this many most likely tokens; 0 means all.";
  spec.shown = generation.topK == 0 ? "all" : "";
  slider(view, spec, stops, generation.topK, [](Index wanted) {
    return wanted >= 0 ? std::string() : "top-k is " + std::to_string(wanted) + ", expected 0 or more";
  });
  if (button(view, "model.seed", fmt::format("Change the seed, {}", generation.seed), "", true))
    ++generation.seed;
}

/// The model's measured skills. A click on one opens its example text.
void skillSection(Scene& scene, View& view, Writing& writing) {
  const auto& skills = scene.setup.subject.opened->learned.skills;
  if (skills.empty()) return;
  gap(view, 12);
  sectionTitle(view, "WHAT IT LEARNED", "click for a text");
  Rows rows(view);
  for (std::size_t i = 0; i < skills.size(); ++i) {
    const LearnedSkill& skill = skills[i];
    const std::string figure = skill.of > 0 ? fmt::format("{} of {}", skill.right, skill.of)
                               : skill.head ? fixedText(skill.head->score, 2)
                                            : "";
    std::string help = skill.text;
    if (skill.head)
      help += fmt::format("\nlayer {} head {} puts {} of its weight there", skill.head->layer,
                          skill.head->head, fixedText(skill.head->score, 2));
    if (skill.of > 0)
      help += fmt::format("\nright on {} of {} sentences outside the training set", skill.right, skill.of);
    if (rows.option(fmt::format("skill.{}", i), skill.title, figure, *scene.setup.input.text == skill.text,
                    help))
      showSkill(scene, writing, skill);
  }
}

void offSection(Scene& scene, View& view) {
  auto& off = scene.setup.subject.switchedOff;
  if (off.empty()) return;
  gap(view, 12);
  if (sectionTitle(view, "SWITCHED OFF", "model.restore", "Restore all")) view.request("model.restore");
  constexpr std::size_t kMax = 24;
  std::optional<std::size_t> removed;
  for (std::size_t i = 0; i < std::min(off.size(), kMax); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(at.x, at.y + view.px(13)),
              view.theme->text, fmt::format("layer {} head {}", off[i].layer, off[i].head));
    ImGui::SetCursorScreenPos(ImVec2(at.x + view.px(118), at.y));
    const Choice choices[] = {{"by zero", "", "zero"}, {"by its mean", "", "mean"}};
    int chosen = off[i].by == HeadOff::mean;
    if (dropdown(view, fmt::format("off.{}", i), choices, chosen, 0,
                 "What ablation replaces the head's output with: zero or its mean over all tokens."))
      off[i].by = chosen ? HeadOff::mean : HeadOff::zero;
    ImGui::SetCursorScreenPos(ImVec2(at.x + width - view.px(28), at.y));
    if (button(view, fmt::format("on.{}", i), "×", "", true)) removed = i;
    ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + view.px(28)));
    ImGui::Dummy(ImVec2(1, 1));
  }
  if (off.size() > kMax) hint(view, fmt::format("and {} more", off.size() - kMax));
  if (removed) off.erase(off.begin() + static_cast<std::ptrdiff_t>(*removed));
}

}  // namespace

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  View& view = page.view;
  if (!layout.showLeft) return;
  fillSide(view, layout.left);
  if (beginPanel(view, "model.controls", layout.left, 20, 14, 0)) {
    if (scene.setup.subject.opened && scene.setup.subject.opened->recorded) {
      modelFacts(scene, view);
      gap(view, 12);
      if (page.picture()) {
        pictureSection(scene, page);
        gap(view, 12);
      }
      recordedSection(scene, page);
    } else if (scene.setup.subject.opened) {
      if (page.model.example) exampleSection(page.view, page.opening);
      modelFacts(scene, view,
                 bytesRead(*scene.setup.subject.opened->model, page.model.layersRead, page.model.headRead,
                           page.tokens()));
      gap(view, 12);
      if (page.model.readsPictures()) {
        pictureSection(scene, page);
      } else {
        headGroupChoice(scene, page.view, page.opening);
        textSection(scene, page);
        expertSection(scene, page);
        gap(view, 12);
        pairSection(scene, page.view, page.model, page.pair);
      }
      gap(view, 12);
      actingSection(scene, page);
      offSection(scene, page.view);
      skillSection(scene, page.view, page.writing);
      if (!page.model.readsPictures()) {
        gap(view, 12);
        writingSection(scene, view);
      }
    } else if (page.model.isSynthetic()) {
      stackSection(scene, view);
      gap(view, 12);
      textSection(scene, page);
      gap(view, 12);
      actingSection(scene, page);
      offSection(scene, page.view);
    } else if (!scene.setup.subject.model.empty()) {
      modelFacts(scene, view);
    } else {
      sectionTitle(view, "MODEL");
      hint(view, "No model is open. The other pages show a synthetic layer.");
    }
    if (!page.opening.problem.empty()) {
      gap(view, 8);
      problem(view, page.opening.problem);
    }
    gap(view, 16);
    scrollEdge(view, layout.left);
  }
  endPanel();
}

}  // namespace headscope::app::model_page

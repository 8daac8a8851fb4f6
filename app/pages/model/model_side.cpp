// The left panel: the model, its text, the active edits and the heads that are switched off.

#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/pages/common/model_facts.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/scene/mask_rules.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

using attention::Layer;
using attention::PatternKind;

void wantGroup(const Scene& scene, Opening& opening, std::string_view group) {
  opening.wanted =
      attention::groupedPath(modelFolder(scene.setup.subject.model)).path.string() + "#" + std::string(group);
}

namespace {

/// The choice of one of several kinds of heads, by name. Returns one if it was chosen.
std::optional<std::string> kindOfHeads(Rows& rows, const char* name, const std::vector<std::string>& kinds,
                                       std::string_view now, const char* help) {
  if (kinds.size() < 2) return std::nullopt;
  rows.section("ATTENTION KIND");
  std::vector<Choice> choices;
  for (const std::string& kind : kinds)
    choices.push_back({kind == "cross" ? "decoder to the encoder (cross)" : kind, "", kind});
  int chosen = static_cast<int>(std::ranges::find(kinds, now) - kinds.begin());
  if (!rows.list(name, choices, chosen, help)) return std::nullopt;
  return kinds[static_cast<std::size_t>(chosen)];
}

/// The choice of an encoder–decoder's group of heads, if its checkpoint has several.
void headGroupChoice(Rows& rows, const Scene& scene, Opening& opening) {
  const attention::ModelConfig& config = scene.setup.subject.opened->config();
  std::vector<std::string> groups;
  for (const attention::HeadGroup group : config.groups) groups.emplace_back(groupName(group));
  if (const auto group =
          kindOfHeads(rows, "model.group", groups, groupName(config.group),
                      "An encoder–decoder has three kinds of heads. Your edits apply to the kind shown."))
    wantGroup(scene, opening, *group);
}

/// The setup of the synthetic layers.
void stackSection(Rows& rows, Scene& scene) {
  rows.section("SYNTHETIC LAYERS");
  rows.toggle(scene, "model.norm");
  const ModelSetup& model = scene.setup.model;
  rows.hint(fmt::format("x + Attn({}), {} over {} of size {}, model dim {}; no MLP.",
                        model.norm ? "RMS x" : "x", countedText(model.heads, "head"), model.kvHeads,
                        model.headDim, model.modelDim));
  rows.actions(
      {{"model.sizes", "Edit on Heads", "page.heads"}, {"model.open", "Open a model…", "model.open", true}});
}

/// The choice of what to compare the recording with: another file, or another group of the same file.
void otherRecording(Rows& rows, Scene& scene, const State& page) {
  const attention::RecordedAttention& file = *scene.setup.subject.opened->recorded;
  std::string& other = scene.compare.recorded;
  rows.section("COMPARE WITH");
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
  if (names.size() > 1 && rows.list("recorded.b", choices, chosen, "Heads are shown as A, B, or B − A.")) {
    other = names[static_cast<std::size_t>(chosen)];
    scene.cursor.model.shown = other.empty() ? ShownText::a : ShownText::difference;
  }
  rows.actions({{"recorded.b.open", "Choose a file…", "model.recorded_b", true}});
  rows.problem(page.other.problem);
  if (!other.empty() && scene.cursor.model.shown != ShownText::a) rows.problem(page.comparedProblem());
}

/// Whether the pictures show the first token.
void firstTokenToggle(Rows& rows, Scene& scene, const char* help) {
  bool shown = !scene.cursor.model.firstOut;
  if (toggle(rows.view(), "model.first", "Show the first token", shown, "", help))
    scene.cursor.model.firstOut = !shown;
}

/// What the colour of NaN means in the heads.
void noWeightLegend(Rows& rows) {
  const ImRect line = rows.area("recorded.no_weight", 24);
  const float side = rows.view().px(12), y = line.GetCenter().y;
  paintCells(rows.view(), *ImGui::GetWindowDrawList(),
             ImRect(line.Min.x, y - side / 2, line.Min.x + side, y + side / 2),
             attention::Matrix::Constant(1, 1, std::numeric_limits<float>::quiet_NaN()), {});
  rows.column(20);
  rows.line(Type::text,
            {{"no weight: NaN, infinite or above 1", rows.theme().secondary, rows.view().fonts->small}});
}

/// The tokens of recorded attention, which can't be edited.
void recordedSection(Rows& rows, Scene& scene, State& page) {
  View& view = rows.view();
  const attention::RecordedAttention& file = *scene.setup.subject.opened->recorded;
  if (const auto group = kindOfHeads(rows, "recorded.group", file.groups(), file.group(),
                                     "The file contains several kinds of attention."))
    page.opening.wanted = file.path().string() + "#" + *group;
  const bool other = page.study && !page.study->otherQueries.empty();
  rows.section(other ? "KEYS" : "TOKENS", countText(static_cast<std::uint64_t>(page.tokens())));
  rows.problem(page.study.problem());
  if (const Index side = file.patchSide(); side > 0)
    rows.hint(
        fmt::format("No token text in the file; assuming {} × {} image patches{}, named by row and column.",
                    side, side, side * side == file.keys() ? "" : " plus a class token") +
        (page.picture() ? "" : " Drop the picture (PNG or JPEG) to see weights on it."));
  else if (!file.hasTokens())
    rows.hint(file.unfitTokens().empty()
                  ? "No token text in the file; showing positions."
                  : "No token text fits; showing positions. Not used: " + file.unfitTokens() + ".");
  for (const std::string& note : file.notes()) rows.hint(note);
  if (page.study && page.study->unweighed) noWeightLegend(rows);
  if (page.ready())
    tokenChips(view, "token", page.study->text.tokens, {page.tokens(), !other, true}, scene.cursor);
  if (page.ready() && other) {
    rows.section("QUERIES", countText(static_cast<std::uint64_t>(page.queries())));
    tokenChips(view, "query", page.study->otherQueries, {page.queries(), true, false}, scene.cursor);
  }
  otherRecording(rows, scene, page);
  rows.space(8);
  firstTokenToggle(rows, scene, "");
}

/// The scene's masks and sharpness, which apply on top of the model's own mask.
void actingSection(Rows& rows, Scene& scene, State& page) {
  View& view = rows.view();
  SharedLayers& layers = scene.setup.mask.layers;
  rows.section(page.model.isSynthetic() ? "EDITS ON ALL LAYERS" : "ACTIVE EDITS");
  if (!page.model.isSynthetic()) {
    rows.column(-140);
    scopeChoice(scene, view);
  }
  if (page.model.config->cross()) {
    rows.hint("Cross heads see the encoder's whole text.");
  } else if (page.model.config->causal) {
    bool causal = true;
    toggle(view, "model.causal", "Causal (built into the model)", causal,
           "The model was trained with a causal mask: no token sees a later one.");
  } else {
    ruleSwitch(layers, PatternKind::causal, "causal", "Causal", {}, view);
  }
  MaskedText text;
  text.longest = std::max<Index>(2, page.tokens());
  ruleSwitch(layers, PatternKind::window, "window", "Sliding window", text, view);
  ruleSwitch(layers, PatternKind::streaming, "streaming", "Sinks + window", text, view);
  const auto others = std::count_if(layers.begin(), layers.end(), [&](const Layer& layer) {
    return &layer != plainLayer(layers, PatternKind::window) &&
           &layer != plainLayer(layers, PatternKind::streaming) &&
           &layer != plainLayer(layers, PatternKind::causal);
  });
  if (others > 0) rows.hint(fmt::format("and {} from the mask studio", countedText(others, "more layer")));
  rows.slider(scene, "model.sharpness");
  firstTokenToggle(rows, scene,
                   "Many heads put surplus weight on the first token. Hiding it renormalises the other "
                   "columns. Only the pictures change.");
  if (scene.cursor.model.firstOut) rows.hint("First token hidden; the other columns are renormalised.");
}

/// The sampling settings for generated tokens.
void writingSection(Rows& rows, Scene& scene) {
  GenerationSetup& generation = scene.generation;
  rows.section("GENERATION");
  SliderSpec spec;
  const auto number = [&](const char* name, const char* label, const char* help, const Range& range,
                          Track track, double& value) {
    spec.name = name;
    spec.label = label;
    spec.help = help;
    auto single = static_cast<float>(value);
    if (slider(rows.view(), spec, range, track, single)) value = single;
  };
  number("temperature", "Temperature",
         "Tokens are sampled from softmax(logits / temperature). 0 takes the most likely one.", {0, 100},
         {0, 2}, generation.temperature);
  if (generation.temperature == 0) return rows.hint("0 always takes the most likely token (greedy).");
  number("top_p", "Top-p", "Sample only from the most likely tokens that together reach this probability.",
         {0, 1}, {0, 1}, generation.topP);
  const Index stops[] = {0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000};
  spec.name = "top_k";
  spec.label = "Top-k";
  spec.help = "Sample only from this many most likely tokens; 0 means all.";
  spec.shown = generation.topK == 0 ? "all" : "";
  slider(rows.view(), spec, stops, generation.topK, [](Index wanted) {
    return wanted >= 0 ? std::string() : "top-k is " + std::to_string(wanted) + ", expected 0 or more";
  });
  if (button(rows.view(), "model.seed", fmt::format("Change the seed, {}", generation.seed), "", true))
    ++generation.seed;
}

/// The model's measured skills. A click on one opens its example text.
void skillSection(Rows& rows, Scene& scene, Writing& writing) {
  const auto& skills = scene.setup.subject.opened->learned.skills;
  if (skills.empty()) return;
  rows.section("WHAT IT LEARNED", "click for a text");
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

void offSection(Rows& rows, Scene& scene) {
  auto& off = scene.setup.subject.switchedOff;
  if (off.empty()) return;
  rows.section("SWITCHED OFF", {"model.restore", "Restore all", "model.restore"});
  constexpr std::size_t kMax = 24;
  std::optional<std::size_t> removed;
  for (std::size_t i = 0; i < std::min(off.size(), kMax); ++i) {
    rows.line(Type::text, {{fmt::format("layer {} head {}", off[i].layer, off[i].head)}});
    const Choice choices[] = {{"by zero", "", "zero"}, {"by its mean", "", "mean"}};
    int chosen = off[i].by == HeadOff::mean;
    rows.column(118);
    if (dropdown(rows.view(), fmt::format("off.{}", i), choices, chosen, 0,
                 "What ablation replaces the head's output with: zero or its mean over all tokens."))
      off[i].by = chosen ? HeadOff::mean : HeadOff::zero;
    rows.column(-28);
    if (button(rows.view(), fmt::format("on.{}", i), "×", "", true)) removed = i;
  }
  if (off.size() > kMax) rows.hint(fmt::format("and {} more", off.size() - kMax));
  if (removed) off.erase(off.begin() + static_cast<std::ptrdiff_t>(*removed));
}

/// The sections of an opened model or recording.
void openedSections(Rows& rows, Scene& scene, State& page) {
  const OpenModel& opened = *scene.setup.subject.opened;
  const auto facts = [&](std::optional<std::uint64_t> read = {}) { modelFacts(scene, rows, read); };
  if (opened.recorded) {
    facts();
    if (page.picture()) pictureSection(rows, scene, page);
    return recordedSection(rows, scene, page);
  }
  if (page.model.readsPictures()) {
    pictureSection(rows, scene, page);
  } else {
    headGroupChoice(rows, scene, page.opening);
    textSection(rows, scene, page);
    expertSection(rows, scene, page);
    pairSection(rows, scene, page);
  }
  facts(bytesRead(*opened.model, page.model.layersRead, page.model.headRead, page.tokens()));
  if (page.model.example) exampleSection(rows, page.opening);
  actingSection(rows, scene, page);
  offSection(rows, scene);
  skillSection(rows, scene, page.writing);
  if (!page.model.readsPictures()) writingSection(rows, scene);
}

}  // namespace

void sidePanel(Scene& scene, State& page, const Layout& layout) {
  leftPanel(page.view, layout, "model.controls", [&](Rows& rows) {
    if (scene.setup.subject.opened) {
      openedSections(rows, scene, page);
    } else if (page.model.isSynthetic()) {
      stackSection(rows, scene);
      textSection(rows, scene, page);
      actingSection(rows, scene, page);
      offSection(rows, scene);
    } else if (!scene.setup.subject.model.empty()) {
      modelFacts(scene, rows);
    } else {
      rows.section("MODEL");
      rows.hint("No model is open. The other pages show a synthetic layer.");
    }
    rows.problem(page.opening.problem);
  });
}

}  // namespace headscope::app::model_page

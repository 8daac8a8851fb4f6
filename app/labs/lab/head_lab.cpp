#include "app/labs/lab/head_lab.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "app/labs/common/layer_status.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {
constexpr double kPlayInterval = 1.5;  // seconds a step stays before the next
}

HeadLab::HeadLab(LabServices& services)
    : services_(services),
      page_(services.view),
      layer_(services.workers,
             [this](const PartsQuestion& question, std::stop_token stop) {
               return layerParts(question, services_.resources, stop);
             }),
      head_(services.workers,
            [this](const HeadPartsQuestion& question, std::stop_token stop) {
              return headParts(question, services_.resources, stop);
            }),
      weights_(services.workers,
               [](const std::shared_ptr<const HeadParts>& head, std::stop_token stop) {
                 return attention::Result<std::shared_ptr<const WeightStudy>>(
                     std::make_shared<const WeightStudy>(studyWeights(head, stop)));
               }),
      mistake_(services.workers,
               [](const MistakeQuestion& question, std::stop_token) {
                 return attention::Result<std::shared_ptr<const MistakeStudy>>(
                     std::make_shared<const MistakeStudy>(studyMistake(question)));
               }),
      curve_(services.workers, [](const attention::Mistake& mistake, std::stop_token) {
        using Points = std::vector<attention::SaturationPoint>;
        return attention::Result<std::shared_ptr<const Points>>(std::make_shared<const Points>(
            attention::saturation(mistake, kSaturationDims, 12, kSaturationLayers)));
      }) {}

bool HeadLab::take(const Scene& scene) {
  page_.catchingUp = !services_.layer.upToDate(scene.setup);
  bool any = page_.snapshot != services_.layer.snapshot();
  page_.snapshot = services_.layer.snapshot();
  // A head is drawn with the layer that it is a part of.
  const auto head = head_.current();
  if (head && head->value && *head->value != page_.head) {
    page_.head = *head->value;
    page_.layer = page_.head->question.layer;
    any = true;
  }
  if (const auto study = mistake_.current(); study && study->value && *study->value != page_.study) {
    page_.study = *study->value;
    any = true;
  }
  if (const auto study = weights_.current(); study && study->value && *study->value != page_.weights) {
    page_.weights = *study->value;
    any = true;
  }
  const auto curve = curve_.current();
  const auto points = curve && curve->value && curve->request == page_.mistake ? *curve->value : nullptr;
  any = any || points != page_.curve;
  page_.curve = points;
  std::string problem;
  if (const auto layer = layer_.current(); layer && !layer->value) problem = layer->value.error().message;
  if (head && !head->value) problem = head->value.error().message;
  any = any || problem != page_.problem;
  page_.problem = std::move(problem);
  return any;
}

void HeadLab::prepare(Scene& scene) {
  scene.cursor.decoding = false;
  advancePlay();
  if (!page_.snapshot || page_.snapshot->sequences.empty()) return;
  fit_.apply(scene.cursor, *page_.snapshot);
  fitHover(services_.view.hover, scene, *page_.snapshot);
}

void HeadLab::advancePlay() {
  const double now = services_.view.time;
  if (!page_.playing || now - page_.playedAt < kPlayInterval) return;
  moveStep(page_, 1);
  page_.playedAt = now;
  page_.playing = page_.step != stepsOf(page_).back();
}

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

void HeadLab::controls(const ImRect& area) {
  View& view = services_.view;
  const std::vector<Step> steps = stepsOf(page_);
  const auto at = std::find(steps.begin(), steps.end(), page_.step) - steps.begin();
  const auto last = static_cast<std::ptrdiff_t>(steps.size()) - 1;
  const auto label = [&](std::ptrdiff_t i) {
    return fmt::format("{}  {}", i + 1, stepTitle(page_, steps[static_cast<std::size_t>(i)]));
  };
  ImGui::SetCursorScreenPos(area.Min);
  if (button(view, "lab.previous", at > 0 ? "←  " + label(at - 1) : "←",
             at > 0 ? "" : "This is the first step."))
    view.request("lab.previous");
  ImGui::SameLine(0, view.px(12));
  if (button(view, "lab.play", page_.playing ? "Pause" : "Play")) view.request("lab.play");
  ImGui::SameLine(0, view.px(12));
  if (button(view, "lab.next", at < last ? label(at + 1) + "  →" : "→",
             at < last ? "" : "This is the last step."))
    view.request("lab.next");
  const float used = ImGui::GetItemRectMax().x;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (const char* keys :
       {"← → step     ↑ ↓ query     Shift ← → key     PgUp PgDn head", "← → step   ↑ ↓ query", ""})
    if (textWidth(view.fonts->small, keys) < area.Max.x - used - view.px(24)) {
      paintText(list, view.fonts->small, ImVec2(area.Max.x, area.Min.y + view.px(14)), view.theme->secondary,
                keys, Align::right);
      break;
    }
}

void HeadLab::pipeline(Scene& scene, const ImRect& area, const Layout& layout) {
  View& view = services_.view;
  const float unitsHigh = area.GetHeight() / view.unit, unitsWide = area.GetWidth() / view.unit;
  const bool small = layout.narrow || layout.presents || unitsHigh < 760;
  const bool folds = layout.presents || unitsWide < 1100 || unitsHigh < 520;
  const float filmHigh = view.px(folds ? 44 : small ? 150 : 282);
  const ImRect strip(area.Min.x, area.Min.y, area.Max.x, area.Min.y + filmHigh);
  folds ? foldedFilm(page_, strip) : film(scene, page_, strip, small);
  const float margin = view.px(small ? 16 : 24), top = area.Min.y + filmHigh + view.px(small ? 10 : 18);
  const float bottom = area.Max.y - view.px(small ? 10 : 16);
  const float split = std::round(area.Min.x + area.GetWidth() * (unitsWide < 1100 ? 0.46f : 0.365f));
  ImRect left(area.Min.x + margin, top, split - margin, bottom);
  if (page_.step == Step::project) {
    static constexpr const char* kNames[] = {"Q", "K", "V"};
    std::vector<Choice> choices;
    for (const char* name : kNames) choices.push_back({name, "", name});
    int chosen = static_cast<int>(page_.map);
    ImGui::SetCursorScreenPos(ImVec2(left.Max.x - view.px(120), bottom - view.px(30)));
    ImGui::BeginChild("lab.maps", ImVec2(view.px(120), view.px(32)), false,
                      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
    if (segmented(view, "lab.map", choices, chosen, "Which of the three maps is worked out."))
      page_.map = static_cast<MapShown>(chosen);
    ImGui::EndChild();
    left.Max.y -= view.px(24);
  }
  page_.sentenceBelow = layout.presents;
  stage(scene, page_, left);
  const float buttons = view.px(layout.presents ? 0 : 40);
  workedOut(scene, page_,
            ImRect(split + margin, top, area.Max.x - margin, bottom - buttons - view.px(small ? 2 : 12)));
  if (!layout.presents) controls(ImRect(split + margin, bottom - view.px(30), area.Max.x - margin, bottom));
}

void HeadLab::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  ImRect area = layout.center;
  area.Min.x = 0;  // the page has no panel at the left
  Layout whole = layout;
  whole.center = area;
  listFolds_ = layout.narrow || layout.presents || area.GetHeight() < view.px(760);
  if (beginPanel(view, "lab.page", area, 0, 0,
                 ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar)) {
    const Snapshot* snapshot = page_.snapshot.get();
    if (!layout.presents) area.Min.y = tabs(scene, whole);
    if (page_.tab == LabTab::wrong) {
      wrongRoom(scene, page_, area, listFolds_);
    } else if (snapshot && snapshot->error) {
      paintMessage(view, area,
                   snapshot->error->waits ? "Nothing to take apart yet" : "This layer can't be computed",
                   snapshot->error->message, snapshot->error->waits ? view.theme->text : view.theme->error);
    } else if (snapshot && snapshot->empty) {
      emptyMessage(view, area, "No tokens", "Type a text on Heads, or start with the opening sentence.",
                   "Start with the opening sentence", "input.sample");
    } else if (!page_.problem.empty()) {
      paintMessage(view, area, "This layer can't be taken apart", page_.problem, view.theme->error);
    } else if (page_.head && page_.tab == LabTab::weights) {
      weightsRoom(scene, page_, area, listFolds_);
    } else if (page_.head) {
      pipeline(scene, area, layout);
    }
  }
  endPanel();
}

void HeadLab::askMistake(const Scene& scene) {
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  MistakeQuestion question{page_.mistake, aboutScale(page_.mistake) ? page_.mistakeDim : 32, nullptr, 0, 0};
  const bool has = snapshot && !snapshot->sequences.empty();
  page_.ownLayer = page_.ownLayer && has;
  if (page_.ownLayer) {
    const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
    question.headDim = 0;
    question.snapshot = snapshot;
    question.sequence = std::clamp<Index>(scene.cursor.sequence, 0, last);
    question.head = std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1);
  }
  mistake_.ask(std::move(question), Lane::front);
  if (aboutScale(page_.mistake)) curve_.ask(page_.mistake, Lane::back);
}

void HeadLab::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
  if (page_.tab == LabTab::wrong) return askMistake(scene);
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  if (!snapshot || snapshot->sequences.empty()) return;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  layer_.ask({snapshot, std::clamp<Index>(scene.cursor.sequence, 0, last)}, Lane::front);
  const auto layer = layer_.current();
  if (!layer || !layer->value || layer->request.snapshot != snapshot) return;
  HeadPartsQuestion question{*layer->value,
                             std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1), 0};
  if (page_.head && page_.layer == question.layer) {
    const Cell cell = labCell(scene, page_);
    question.firstColumn = labColumn(page_, cell) / kOutputRows * kOutputRows;
  }
  head_.ask(std::move(question), Lane::front);
  if (page_.tab == LabTab::weights && page_.head) weights_.ask(page_.head, Lane::front);
}

void HeadLab::leave() {
  page_.playing = false;
  head_.forget();  // what nobody sees holds no snapshot
  layer_.forget();
  weights_.forget();
  page_.weights.reset();
  mistake_.forget();
  page_.study.reset();
  page_.head.reset();
  page_.layer.reset();
  page_.snapshot.reset();
  page_.pictures.clear();
}

void HeadLab::reset() {
  page_.playing = false;
  page_.dim = page_.column = -1;
  page_.step = Step::dot;
  page_.ownLayer = false;
  fit_.reset();
}

std::vector<CaptionPart> HeadLab::caption(const Scene& scene) const {
  if (page_.tab == LabTab::wrong)
    return {{std::string(attention::mistakes()[static_cast<std::size_t>(page_.mistake)].sentence),
             services_.view.theme->secondary}};
  if (!page_.head) return {};
  if (page_.tab == LabTab::weights)
    return {{fmt::format("The maps of head {}: what it looks for, and what it writes back",
                         page_.head->question.head),
             services_.view.theme->secondary}};
  return stepWords(scene, page_).sentence;
}

LabStatus HeadLab::status(const Scene& scene) const {
  LabStatus status = layerStatus(services_, scene);
  if (page_.tab == LabTab::wrong && page_.study && !page_.study->question.snapshot)
    status.shape = fmt::format(
        "random layer, seed {} · {} {} over {} KV · dₖ {} · causal", kDemonstrationSeed, page_.study->heads,
        page_.study->heads == 1 ? "head" : "heads", page_.study->kvHeads, page_.study->headDim);
  return status;
}

std::optional<std::string> HeadLab::error(const Scene&) const {
  if (page_.tab == LabTab::wrong) return std::nullopt;
  if (const auto error = layerError(page_.snapshot.get())) return error;
  return page_.problem.empty() ? std::nullopt : std::optional(page_.problem);
}

double HeadLab::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.playing) next = std::max(0.0, page_.playedAt + kPlayInterval - services_.view.time);
  if (services_.layer.busySeconds() > 0) next = std::min(next, 0.2);
  return next;
}

std::size_t HeadLab::gpuBytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, textures] : page_.pictures) bytes += textures.bytes();
  return bytes;
}

std::vector<Action> HeadLab::actions() {
  const auto steps = [this](int by) {
    return [this, by](Scene& scene) {
      scene.cursor.page = "lab";
      page_.playing = false;
      if (page_.tab == LabTab::wrong) return moveMistake(page_, by);
      page_.tab = LabTab::pipeline;
      moveStep(page_, by);
    };
  };
  // Cells beyond the last are brought back inside by the fit.
  const auto moves = [](Index Cell::*place, Index by) {
    return [place, by](Scene& scene) {
      scene.cursor.page = "lab";
      scene.cursor.cell.*place = std::max<Index>(0, scene.cursor.cell.*place + by);
    };
  };
  const Mods shift{.shift = true};
  const auto shows = [this](LabTab tab) {
    return [this, tab](Scene& scene) {
      scene.cursor.page = "lab";
      page_.tab = tab;
    };
  };
  return {
      {"lab.pipeline", "Take a head apart step by step", "Lab", {}, false, false, shows(LabTab::pipeline)},
      {"lab.weights",
       "The head's weights: rank, singular values, copying",
       "Lab",
       {},
       false,
       false,
       shows(LabTab::weights)},
      {"lab.wrong", "What goes wrong: the classic mistakes", "Lab", {}, false, false, shows(LabTab::wrong)},
      {"lab.next",
       "The next step, or the next mistake",
       "Lab",
       {Key::right, {}},
       false,
       true,
       steps(1),
       "lab"},
      {"lab.previous",
       "The step or the mistake before",
       "Lab",
       {Key::left, {}},
       false,
       true,
       steps(-1),
       "lab"},
      {"lab.first",
       "The first step, or the first mistake",
       "Lab",
       {Key::home, {}},
       false,
       false,
       steps(-100),
       "lab"},
      {"lab.last",
       "The last step, or the last mistake",
       "Lab",
       {Key::end, {}},
       false,
       false,
       steps(100),
       "lab"},
      {"lab.play",
       "Play or pause the pipeline",
       "Lab",
       {Key::space, {}},
       false,
       false,
       [this](Scene& scene) {
         scene.cursor.page = "lab";
         page_.tab = LabTab::pipeline;
         page_.playing = !page_.playing;
         page_.playedAt = services_.view.time;
         if (page_.playing && page_.step == stepsOf(page_).back()) page_.step = Step::input;
       },
       "lab"},
      {"lab.query_down",
       "The next query in the lab",
       "Lab",
       {Key::down, {}},
       false,
       true,
       moves(&Cell::query, 1),
       "lab"},
      {"lab.query_up",
       "The query before in the lab",
       "Lab",
       {Key::up, {}},
       false,
       true,
       moves(&Cell::query, -1),
       "lab"},
      {"lab.key_right",
       "The next key in the lab",
       "Lab",
       {Key::right, shift},
       false,
       true,
       moves(&Cell::key, 1),
       "lab"},
      {"lab.key_left",
       "The key before in the lab",
       "Lab",
       {Key::left, shift},
       false,
       true,
       moves(&Cell::key, -1),
       "lab"}};
}

}  // namespace headscope::app

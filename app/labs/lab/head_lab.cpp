#include "app/labs/lab/head_lab.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/labs/common/layer_status.h"
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
    compat::endChild();
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

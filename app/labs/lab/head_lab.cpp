#include "app/labs/lab/head_lab.h"

#include <fmt/core.h>

#include <algorithm>

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
      head_(services.workers, [this](const HeadPartsQuestion& question, std::stop_token stop) {
        return headParts(question, services_.resources, stop);
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

/// The chips of the query and the key, the head, and what it does. Returns where the line ends below.
float HeadLab::tabs(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  const Theme& theme = *view.theme;
  const ImRect& center = layout.center;
  const float high = view.px(layout.presents || layout.narrow ? 40 : 48), y = center.Min.y + high / 2;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine(ImVec2(center.Min.x, center.Min.y + high), ImVec2(center.Max.x, center.Min.y + high),
               theme.line);
  float x = center.Max.x - view.px(24);
  const SequenceSnapshot& sequence = page_.layer->sequence();
  const Cell cell = labCell(scene, page_);
  const float room = center.GetWidth() / view.unit;
  const auto chip = [&](const char* word, const std::vector<attention::Token>& tokens, Index at,
                        std::uint32_t color) {
    const std::string index = std::to_string(at);
    const std::string text =
        fitted(view.fonts->mono, tokens[static_cast<std::size_t>(at)].text, view.px(120));
    const float wide =
        textWidth(view.fonts->monoSmall, index) + textWidth(view.fonts->mono, text) + view.px(20);
    const ImVec2 from(x - wide, y - view.px(14)), to(x, y + view.px(14));
    list.AddRectFilled(from, to, mixed(theme.background, color, 0.16f), view.px(4));
    const float offset =
        paintText(list, view.fonts->monoSmall, ImVec2(from.x + view.px(7), y), theme.secondary, index);
    paintText(list, view.fonts->mono, ImVec2(from.x + view.px(13) + offset, y),
              theme.light ? mixed(color, theme.text, 0.45f) : color, text);
    track(std::string("lab.") + word, from, to);
    x = from.x - view.px(10);
    paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, word, Align::right);
    x -= textWidth(view.fonts->text, word) + view.px(20);
  };
  chip("key", sequence.keys, cell.key, theme.key);
  chip("query", sequence.queries, cell.query, theme.query);
  const attention::AttentionConfig& config = page_.layer->config();
  const std::string kv = fmt::format("KV {}", config.kvHeadOf(cell.head));
  x -= textWidth(view.fonts->small, kv) + view.px(12);
  paintBadge(view, list, ImVec2(x, y), groupColor(theme, config.kvHeadOf(cell.head)), kv);
  std::vector<Choice> heads;
  for (Index h = 0; h < config.heads; ++h)
    heads.push_back({fmt::format("Head {} of {}", h, config.heads), "", std::to_string(h)});
  int chosen = static_cast<int>(cell.head);
  const float wide = textWidth(view.fonts->text, heads[static_cast<std::size_t>(chosen)].label) + view.px(24);
  x -= wide + view.px(8);
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(13)));
  if (dropdown(view, "lab.head", heads, chosen, 0, "Which head is taken apart (PgUp and PgDn)."))
    scene.cursor.cell.head = chosen;
  const auto at = static_cast<std::size_t>(cell.head);
  float left = center.Min.x + view.px(24);
  paintText(list, view.fonts->bold, ImVec2(left, y), theme.text, "Pipeline");
  const float tabWide = textWidth(view.fonts->bold, "Pipeline");
  list.AddRectFilled(ImVec2(left, center.Min.y + high - view.px(2)),
                     ImVec2(left + tabWide, center.Min.y + high), theme.text);
  if (room > 900 && at < sequence.labels.size()) {
    const attention::HeadLabel& label = sequence.labels[at];
    std::string words = attention::describe(label);
    if (label.detector) words += fmt::format(" {:.2f}", sequence.profiles[at][label.detector->name].raw);
    paintText(list, view.fonts->text, ImVec2(x - view.px(20), y), theme.secondary, words, Align::right);
  }
  return center.Min.y + high + 1;
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
  const float filmHigh = view.px(small ? 150 : 282);
  film(scene, page_, ImRect(area.Min.x, area.Min.y, area.Max.x, area.Min.y + filmHigh), small);
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
  if (beginPanel(view, "lab.page", area, 0, 0,
                 ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar)) {
    const Snapshot* snapshot = page_.snapshot.get();
    if (snapshot && snapshot->error) {
      paintMessage(view, area,
                   snapshot->error->waits ? "Nothing to take apart yet" : "This layer can't be computed",
                   snapshot->error->message, snapshot->error->waits ? view.theme->text : view.theme->error);
    } else if (snapshot && snapshot->empty) {
      emptyMessage(view, area, "No tokens", "Type a text on Heads, or start with the opening sentence.",
                   "Start with the opening sentence", "input.sample");
    } else if (!page_.problem.empty()) {
      paintMessage(view, area, "This layer can't be taken apart", page_.problem, view.theme->error);
    } else if (page_.head) {
      area.Min.y = tabs(scene, whole);
      pipeline(scene, area, layout);
    }
  }
  endPanel();
}

void HeadLab::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
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
}

void HeadLab::leave() {
  page_.playing = false;
  head_.forget();  // what nobody sees holds no snapshot
  layer_.forget();
  page_.head.reset();
  page_.layer.reset();
  page_.snapshot.reset();
  page_.pictures.clear();
}

void HeadLab::reset() {
  page_.playing = false;
  page_.dim = page_.column = -1;
  page_.step = Step::dot;
  fit_.reset();
}

std::vector<CaptionPart> HeadLab::caption(const Scene& scene) const {
  if (!page_.head) return {};
  return stepWords(scene, page_).sentence;
}

LabStatus HeadLab::status(const Scene& scene) const {
  return layerStatus(services_, scene);
}

std::optional<std::string> HeadLab::error(const Scene&) const {
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
  return {
      {"lab.next", "The pipeline's next step", "Lab", {Key::right, {}}, false, true, steps(1), "lab"},
      {"lab.previous", "The pipeline's step before", "Lab", {Key::left, {}}, false, true, steps(-1), "lab"},
      {"lab.first", "The pipeline's first step", "Lab", {Key::home, {}}, false, false, steps(-100), "lab"},
      {"lab.last", "The pipeline's last step", "Lab", {Key::end, {}}, false, false, steps(100), "lab"},
      {"lab.play",
       "Play or pause the pipeline",
       "Lab",
       {Key::space, {}},
       false,
       false,
       [this](Scene& scene) {
         scene.cursor.page = "lab";
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

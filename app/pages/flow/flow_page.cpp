#include "app/pages/flow/flow_page.h"

#include <fmt/core.h>

#include "app/kit/board.h"
#include "app/pages/common/model_facts.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"

namespace headscope::app::flow_page {

namespace {

constexpr double kStillSeconds = 1.2;  ///< per beat, with reduced motion
constexpr double kMostSeconds = 0.1;   ///< that a frame advances the film

/// What is shown instead of the film while the layer can't be taken apart. A fault has its stage and shapes.
void missing(const State& page, const ImRect& area) {
  View& view = page.view;
  if (!page.problem().empty())
    return paintMessage(view, area, "Can't take this layer apart", page.problem(), view.theme->text);
  if (!page.missing()) return;
  paintMissingLayer(view, *page.snapshot, area);
  if (!page.fault || page.fault.request().snapshot != page.snapshot) return;
  const LayerFault& fault = *page.fault;
  // An additive matrix is a term of the score, whether its size fits or not.
  attention::MaskInput mask;
  if (fault.step == Step::bias) mask.additive = attention::Stack(1, 1, 1);
  const attention::AttentionConfig& config = page.snapshot->config;
  const std::vector<Step> steps = stepsOf(config, mask);
  const auto stage = std::ranges::find(steps, fault.step) - steps.begin() + 1;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 above = area.GetCenter() - ImVec2(0, view.px(66));
  paintText(list, view.fonts->title, above - ImVec2(0, view.px(28)), view.theme->text,
            fmt::format("It stops at stage {}, {}", stage, stepTitle(config, mask, fault.step)),
            Align::center);
  if (fault.found.empty()) return;
  const std::string found = "found " + fault.found, expected = "   expected " + fault.expected;
  ImFont* const font = view.fonts->monoTitle;
  ImVec2 from = above - ImVec2(textWidth(font, found + expected) / 2, 0);
  from.x += paintText(list, font, from, view.theme->error, found);
  paintText(list, font, from, view.theme->text, expected);
}

/// The share of the width that the matrices get, next to the bench.
float mapShare(const Shot& shot, bool poster) {
  return !poster ? 0.7f : shot.ofRow() ? 0.3f : 0.58f;
}

/// The stage's title with the head's name, and a sentence; on posters the caption says the sentence.
void titles(Board& board, const Scene& scene, const Shot& shot, const ShotWords& words) {
  const View& view = board.view();
  const attention::HeadLabel label = shot.sequence.label(shot.cell.head, scene.look.labelThreshold);
  const std::string head = headWords(scene.setup, shot.cell.head);
  board
      .area("flow.title", {view.present ? 34.0f : 28.0f},
            [&view, title = words.title,
             after = std::vector{head + "  ·  " + attention::describe(label), head}](const ImRect& area) {
              Canvas list = *ImGui::GetWindowDrawList();
              ImFont* const font = view.present ? view.fonts->title : view.fonts->hero;
              const float y = area.GetCenter().y;
              const float used = paintText(list, font, ImVec2(area.Min.x, y), view.theme->text,
                                           fitted(font, title, area.GetWidth())) +
                                 view.px(20);
              const std::string& more =
                  textWidth(view.fonts->text, after[0]) <= area.GetWidth() - used ? after[0] : after[1];
              if (textWidth(view.fonts->text, more) <= area.GetWidth() - used)
                paintText(list, view.fonts->text, ImVec2(area.Min.x + used, y), view.theme->secondary, more);
            })
      .apart(view.present ? 8.0f : 12.0f);
  const float width = view.px(board.width());
  board
      .area("flow.sentence", {placeSentence(view, {}, width, words.sentence) / view.unit},
            [&view, words](const ImRect& area) {
              const Canvas list = *ImGui::GetWindowDrawList();
              placeSentence(view, area.Min, area.GetWidth(), words.sentence, &list);
            })
      .inWindow()
      .apart(0);
}

}  // namespace

Page::Page(PageServices& services) : services_(services), page_(services) {}

bool Page::take(const Scene&) {
  const bool any = page_.snapshot != services_.layer.snapshot();
  page_.snapshot = services_.layer.snapshot();
  const bool newAnswers = page_.shown.take();
  return any || newAnswers;
}

void Page::prepare(Scene& scene) {
  if (page_.snapshot && !page_.snapshot->sequences.empty()) {
    fit_.apply(scene.cursor, *page_.snapshot, false);
    fitHover(services_.view.hover, scene, *page_.snapshot);
  }
  if (page_.missing()) page_.playing = false;
  if (!page_.playing) return;
  const double now = services_.view.time, since = now - page_.playedAt;
  if (!page_.film) {  // it begins once there is something to show
    page_.playedAt = now;
    return;
  }
  const std::vector<Step> steps = shotOf(scene, page_).steps;
  FlowCursor& at = scene.cursor.flow;
  if (services_.view.preferences.reducedMotion) {
    if (since < kStillSeconds) return;
    at = nextBeat(steps, within(steps, at));
  } else {
    at = laterBy(steps, within(steps, at), std::min(since, kMostSeconds));
  }
  page_.playedAt = now;
  if (std::pair(at.stage, at.t) >= std::pair(page_.stopAt.stage, page_.stopAt.t)) {
    at = page_.stopAt;
    page_.playing = false;
  }
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  ImRect area = layout.center;
  area.Min.x = layout.left.Min.x;  // the page has no left panel
  if (beginPanel(view, "flow", area, 0, 0)) {
    if (!page_.ready()) {
      missing(page_, area);
    } else {
      const Shot shot = shotOf(scene, page_);
      const ShotWords words = shotWords(shot, *view.theme);
      ImRect inside = area;
      inside.Expand(ImVec2(-view.px(view.present ? 28 : 24), -view.px(10)));
      Board board(view, inside);
      const bool low = board.height() < 760;
      board.picture("",
                    {view.present ? 44.0f
                     : low        ? 38.0f
                                  : 78.0f},
                    [&](const ImRect& box) { flowTrack(scene, page_, shot, box); });
      titles(board, scene, shot, words);
      const float share = mapShare(shot, view.present);
      const auto part = [&](Board& to, bool bench) {
        to.picture(bench ? "flow.bench" : "flow.map", {300, 420, 1}, [&, bench](const ImRect& box) {
          if (bench) return flowBench(page_, shot, box);
          const FlowPlan plan = planFlow(view, shot, box);
          flowMap(scene, page_, shot, plan);
          flowMoves(page_, shot, plan);
        });
      };
      // Next to a lesson's words, a stage has room for what it is about.
      constexpr float kBoth = 640;
      const PartWidth widths[] = {{0, share}, {0, 1 - share}};
      if (view.present && board.width() < kBoth)
        part(board, shot.ofRow());
      else
        board.columns(widths, 28, [&](std::size_t i, Board& column) { part(column, i == 1); });
      board.area("", {30}, [&](const ImRect& box) { flowControls(scene, page_, shot, box); }).inWindow();
      board.show();
    }
  }
  endPanel();
}

void Page::ask(const Scene& scene) {
  services_.layer.ask(scene.setup, Lane::front);
  const std::shared_ptr<const Snapshot>& snapshot = services_.layer.snapshot();
  if (snapshot && snapshot->error && !snapshot->error->waits)
    page_.fault.ask({snapshot, scene.cursor.sequence}, Lane::front);
  else
    page_.fault.forget();
  if (!snapshot || snapshot->sequences.empty()) return;
  const auto last = static_cast<Index>(snapshot->sequences.size()) - 1;
  page_.parts.ask({snapshot, std::clamp<Index>(scene.cursor.sequence, 0, last)}, Lane::front);
  if (!page_.parts || page_.parts.request().snapshot != snapshot) return;
  HeadPartsQuestion question{page_.parts.shared(),
                             std::clamp<Index>(scene.cursor.cell.head, 0, snapshot->config.heads - 1), 0};
  if (page_.film && page_.film->head->question.layer == question.layer)
    question.firstColumn = shotOf(scene, page_).column / kOutputRows * kOutputRows;
  page_.head.ask(std::move(question), Lane::front);
  if (page_.head) page_.film.ask(page_.head.shared(), Lane::front);
}

void Page::leave() {
  page_.playing = false;
  page_.shown.forget();  // a hidden page must not keep a snapshot alive
  page_.snapshot.reset();
  page_.textures.clear();
}

void Page::reset() {
  page_.playing = false;
  page_.shown.forget();
  fit_.reset();
}

FigureLegend Page::legend(const Scene& scene) const {
  if (!page_.ready()) return {};
  const Shot shot = shotOf(scene, page_);
  const Theme& theme = *services_.view.theme;
  FigureLegend legend;
  if (shot.at.stage >= Step::dot && shot.at.stage <= Step::mix) {
    // Until the selected row has weights.
    const bool weights =
        shot.at.stage > Step::softmax || (shot.at.stage == Step::softmax && shot.at.t >= 0.72);
    const ValueRange range = scoreRange(shot, weights ? Step::softmax : std::min(shot.at.stage, Step::mask));
    legend = {weights ? "weight" : "score",
              scene.look.colormap,
              {cellText(static_cast<double>(range.low)), "", cellText(static_cast<double>(range.high))}};
  }
  const bool made = shot.at.stage == Step::project || shot.at.stage == Step::split;
  const auto add = [&](bool used, const char* name, std::uint32_t color) {
    if (used) legend.swatches.emplace_back(name, color);
  };
  add(made || shot.at.stage >= Step::mix, "V", theme.value);
  add(made || shot.at.stage == Step::dot, "K", theme.key);
  add(made || shot.at.stage == Step::dot, "Q", theme.query);
  return legend;
}

std::vector<CaptionPart> Page::caption(const Scene& scene) const {
  if (!page_.ready()) return {};
  return shotWords(shotOf(scene, page_), *services_.view.theme).sentence;
}

PageStatus Page::status(const Scene& scene) const {
  return layerStatus(services_, scene);
}

std::optional<std::string> Page::error(const Scene&) const {
  if (const auto error = layerError(page_.snapshot.get())) return error;
  const std::string problem = page_.problem();
  return problem.empty() ? std::nullopt : std::optional(problem);
}

double Page::nextFrameIn() const {
  double next = std::numeric_limits<double>::infinity();
  if (page_.playing && page_.film)
    next = services_.view.preferences.reducedMotion
               ? std::max(0.0, page_.playedAt + kStillSeconds - services_.view.time)
               : 0;
  if (services_.layer.busySeconds() > 0) next = std::min(next, 0.2);
  return next;
}

std::size_t Page::gpuBytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, textures] : page_.textures) bytes += textures.bytes();
  return bytes;
}

void Page::play(Scene& scene) {
  scene.cursor.page = "flow";
  constexpr FlowCursor kEnd{Step::output, 1};
  if (page_.playing) {
    page_.playing = false;
    return;
  }
  page_.playTo(kEnd);
  if (scene.cursor.flow == kEnd) scene.cursor.flow = {Step::input, 0};
}

/// Plays to the end of the beat; while playing, jumps there. Back, jumps to its start.
void Page::step(Scene& scene, bool forward) {
  scene.cursor.page = "flow";
  if (!page_.film) return;
  const std::vector<Step> steps = shotOf(scene, page_).steps;
  const FlowCursor now = within(steps, scene.cursor.flow);
  const bool jumps = page_.playing || services_.view.preferences.reducedMotion;
  if (!forward || jumps) {
    scene.cursor.flow = forward ? nextBeat(steps, now) : previousBeat(steps, now);
    page_.playing = false;
    return;
  }
  scene.cursor.flow = now;
  if (const FlowCursor end = nextBeat(steps, now); end != now) page_.playTo(end);
}

std::vector<Action> Page::actions() {
  const auto action = [](std::string id, std::string name, KeyPress shortcut, std::function<void(Scene&)> run,
                         bool repeats = false, std::string words = "") {
    return Action{.id = "flow." + std::move(id),
                  .name = std::move(name),
                  .shortcut = shortcut,
                  .repeats = repeats,
                  .words = std::move(words),
                  .run = std::move(run)};
  };
  const auto moment = [this](FlowCursor at) {
    return [this, at](Scene& scene) {
      scene.cursor.page = "flow";
      scene.cursor.flow = at;
      page_.playing = false;
    };
  };
  std::vector<Action> actions{
      action(
          "play", "Play or pause the computation", {Key::space, {}}, [this](Scene& scene) { play(scene); },
          false, "flow animation film how attention is computed step by step"),
      action(
          "next", "Next beat of the computation", {Key::right, {}},
          [this](Scene& scene) { step(scene, true); }, true),
      action(
          "previous", "Previous beat of the computation", {Key::left, {}},
          [this](Scene& scene) { step(scene, false); }, true),
      action("first", "Beginning of the computation", {Key::home, {}}, moment({Step::input, 0})),
      action("last", "End of the computation", {Key::end, {}}, moment({Step::output, 1}))};
  for (Action& move : cellActions("flow", "Flow")) actions.push_back(std::move(move));
  return actions;
}

}  // namespace headscope::app::flow_page

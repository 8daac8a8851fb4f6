#include <fmt/core.h>

#include "app/pages/flow/shot_painter.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::flow_page {

namespace {

constexpr float kDone = 0.5f, kWaiting = 0.34f;  ///< light of what isn't worked on

/// Draws the film's matrices at rest: those that exist in full light where the stage works on them, the rest
/// as outlines with the number of their stage.
class MapPainter : ShotPainter {
 public:
  MapPainter(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan)
      : ShotPainter(page, shot), scene_(scene), plan_(plan) {}

  void paint() {
    if (!plan_.mapOnly) {
      input();
      projections();
      heads();
      shelf();
      outputs();
    }
    flowScores(scene_, page_, shot_, plan_);
    rows();
    if (!plan_.mapOnly) formula();
  }

 private:
  Scene& scene_;
  const FlowPlan& plan_;

  /// The light of something that is used from `first` to `last`.
  float light(Step first, Step last) const {
    return shot_.at.stage >= first && shot_.at.stage <= last ? 1 : kDone;
  }

  void picture(const std::string& name, const ImRect& box, const StagePicture& picture, Ink ink, float fade) {
    if (box.GetWidth() < 1 || box.GetHeight() < 1) return;
    const float most = largestOf(picture);
    paintPicture(view_, page_.textures, {"flow." + name, ink, -most, most, fade}, picture.values, box,
                 scene_.look);
    track("flow." + name, box.Min, box.Max);
  }

  void outline(const ImRect& box) { compat::rectOutline(list_, box.Min, box.Max, theme_.line, 0, 1); }

  /// A place that a later stage fills.
  void waiting(const ImRect& box, Step step) {
    if (box.GetWidth() < 1) return;
    outline(box);
    paintScripted(view_, list_, fonts_.text, box.GetCenter(), theme_.faint, stepTitle(shot_.config, {}, step),
                  Align::center, box.GetWidth());
  }

  /// The name and shape of a matrix, above its box or below it.
  void title(const ImRect& box, const std::string& name, std::uint32_t color, const std::string& words,
             bool above) {
    if (box.GetWidth() < 1) return;
    const float y = above ? box.Min.y - view_.px(15) : box.Max.y + view_.px(13);
    ImFont* const font = plan_.poster ? fonts_.text : fonts_.bold;
    const float room = std::max(box.GetWidth() + view_.px(8), view_.px(34));
    const float wide =
        paintScripted(view_, list_, font, ImVec2(box.Min.x, y), color, name, Align::left, room);
    if (plan_.poster || wide + view_.px(10) + textWidth(fonts_.small, words) > room) return;
    paintText(list_, fonts_.small, ImVec2(box.Min.x + wide + view_.px(8), y), theme_.faint, words);
  }

  void input() {
    if (plan_.x.GetWidth() < 1) return;
    if (at(Step::input) || at(Step::project)) {
      const double t = into(Step::input);
      const RowsDone done = rowsDone(shot_.n(), query_, passed(t, 0.7, 1), t >= 0.7, passed(t, 0.7, 1));
      picture("x", plan_.x, shot_.film.picture(Stage::x), Ink::stream, light(Step::input, Step::project));
      coverRows(view_, shot_, plan_.x, done, shot_.n());
      outline(plan_.x);
    } else {
      picture("x", plan_.x, shot_.film.picture(Stage::x), Ink::stream, kWaiting);
    }
    title(plan_.x, "X", theme_.text, shapeText(shot_.n(), shot_.layer.x.cols()), false);
  }

  RowsDone projected() const {
    const double t = into(Step::project);
    return rowsDone(shot_.n(), query_, passed(t, 0, 0.15), t >= 0.75, passed(t, 0.75, 1));
  }

  void projections() {
    if (!begun(Step::project)) {
      waiting(plan_.q, Step::project);
      return;
    }
    const bool floor = at(Step::project) || (at(Step::split) && shot_.at.t < 0.5);
    if (at(Step::project)) {
      const std::pair<const ImRect*, const StagePicture*> weights[] = {
          {&plan_.wq, &shot_.film.wq}, {&plan_.wk, &shot_.film.wk}, {&plan_.wv, &shot_.film.wv}};
      static constexpr Ink kInks[] = {Ink::query, Ink::key, Ink::value};
      static constexpr const char* kNames[] = {"W_Q", "W_K", "W_V"};
      for (std::size_t i = 0; i < 3; ++i) {
        outline(*weights[i].first);
        const bool ofQueries = i == 0;
        picture(kNames[i],
                FlowPlan::columnOf(*weights[i].first, ofQueries ? shot_.cell.head : shot_.kvHead(),
                                   ofQueries ? shot_.config.heads : shot_.config.kvHeads),
                *weights[i].second, kInks[i], 0.8f);
        title(*weights[i].first, kNames[i], inkColor(theme_, kInks[i]),
              i == 0 ? fmt::format("of head {}", shot_.cell.head) : "of " + kvName(shot_.kvHead()), true);
      }
    }
    if (floor) {
      const float fade = at(Step::split) ? 1 - static_cast<float>(passed(shot_.at.t, 0.3, 0.5)) : 1;
      made("k", plan_.floorK, Stage::k, Ink::key, fade);
      made("v", plan_.floorV, Stage::v, Ink::value, fade);
      title(plan_.floorK, "K", theme_.key, shapeText(shot_.m(), shot_.config.kvHeads * shot_.config.headDim),
            false);
      title(plan_.floorV, "V", theme_.value,
            shapeText(shot_.m(), shot_.config.kvHeads * shot_.config.headDim), false);
    }
    if (at(Step::project)) {
      made("q", plan_.q, Stage::q, Ink::query, 1);
      title(plan_.q, "Q", theme_.query, shapeText(shot_.n(), shot_.config.heads * shot_.config.headDim),
            false);
    }
  }

  /// A matrix of all heads while its rows are made. Keys of another text are there at once.
  void made(const std::string& name, const ImRect& box, Stage stage, Ink ink, float fade) {
    picture(name + ".all", box, shot_.film.picture(stage), ink, fade);
    const bool own = ink == Ink::query || !shot_.cross();
    if (own) coverRows(view_, shot_, box, projected(), shot_.n());
    outline(box);
  }

  /// Marks in the kv heads' hues above slices of the heads.
  void caps(const ImRect& box) {
    if (box.GetWidth() < 1) return;
    const Index heads = shot_.config.heads;
    for (Index h = 0; h < heads; ++h) {
      const ImRect slot = FlowPlan::columnOf(box, h, heads);
      list_.AddRectFilled(ImVec2(slot.Min.x, box.Min.y - view_.px(6)),
                          ImVec2(std::max(slot.Max.x - 1, slot.Min.x + 1), box.Min.y - view_.px(3)),
                          groupColor(theme_, shot_.config.kvHeadOf(h)));
    }
  }

  /// The selected head's queries, and the other heads as a deck.
  void heads() {
    if (!begun(Step::split)) {
      if (!at(Step::project)) return;
      outline(plan_.deck);
      return;
    }
    const Index heads = shot_.config.heads;
    const auto open = static_cast<float>(easeBoth(passed(into(Step::split), 0.1, 0.45)));
    picture("deck", plan_.deck, shot_.film.picture(Stage::q), Ink::query, kDone * open);
    caps(plan_.deck);
    // The selected head's slice opens to the whole place.
    const float slice = 1 / static_cast<float>(heads);
    const float from = slice * static_cast<float>(shot_.cell.head) * (1 - open),
                wide = slice + (1 - slice) * open;
    const ImRect box(plan_.q.Min.x + from * plan_.q.GetWidth(), plan_.q.Min.y,
                     plan_.q.Min.x + (from + wide) * plan_.q.GetWidth(), plan_.q.Max.y);
    if (open < 1) picture("q.all", plan_.q, shot_.film.picture(Stage::q), Ink::query, 1 - open * 0.9f);
    if (open < 1) caps(plan_.q);
    picture("q", box, shot_.film.q, Ink::query, light(Step::split, Step::dot));
    if (plan_.deck.GetWidth() >= view_.px(30))
      title(plan_.deck, countedText(heads, "head"), theme_.secondary, "", false);
    title(plan_.q, fmt::format("Q_{{{}}}", shot_.cell.head), theme_.query,
          shapeText(shot_.n(), shot_.config.headDim), false);
  }

  /// A poster leaves out what its stage doesn't read.
  bool keysShown() const {
    return begun(Step::split) && plan_.keys.GetWidth() > 0 && (!plan_.poster || shot_.at.stage <= Step::dot);
  }

  /// Keys and values, once they have stepped up.
  void shelf() {
    const double up = easeBoth(passed(into(Step::split), 0.35, 0.8));
    if (!begun(Step::split)) {
      if (at(Step::input)) waiting(plan_.s, Step::dot);
      return;
    }
    const float right = plan_.wo.Max.x;
    if (into(Step::split) >= 0.8 && (!plan_.poster || shot_.at.stage <= Step::dot))
      list_.AddLine(ImVec2(plan_.keys.Min.x - view_.px(8), plan_.ledge), ImVec2(right, plan_.ledge),
                    mixed(theme_.line, theme_.secondary, 0.5f), std::max(1.0f, view_.px(1)));
    if (up < 1) return;  // they are on their way
    const std::string g = std::to_string(shot_.kvHead());
    const bool values = !plan_.poster || at(Step::split) || at(Step::mix);
    if (keysShown()) picture("keys", plan_.keys, shot_.film.keys, Ink::key, light(Step::split, Step::dot));
    if (values)
      picture("values", plan_.values, shot_.film.v, Ink::value,
              at(Step::split) || at(Step::mix) ? 1
              : begun(Step::mix)               ? kDone
                                               : kWaiting);
    for (const ImRect* box : {keysShown() ? &plan_.keys : nullptr, values ? &plan_.values : nullptr})
      if (box)
        list_.AddRectFilled(ImVec2(box->Min.x, box->Min.y - view_.px(4)),
                            ImVec2(box->Max.x, box->Min.y - view_.px(2)), groupColor(theme_, shot_.kvHead()));
    if (keysShown()) title(plan_.keys, "K_{" + g + "}^T", theme_.key, "keys: what can be read", true);
    if (values) title(plan_.values, "V_{" + g + "}", theme_.value, "values: what is passed on", true);
  }

  void outputs() {
    if (!begun(Step::split) || into(Step::split) < 0.8) return;
    if (!begun(Step::mix)) {
      waiting(plan_.o, Step::mix);
    } else {
      const double t = into(Step::mix);
      const bool own = t >= 0.72;
      picture("o", plan_.o, shot_.film.picture(Stage::headOutput), Ink::value,
              light(Step::mix, Step::concat));
      coverRows(view_, shot_, plan_.o,
                rowsDone(shot_.n(), query_, passed(t, 0, 0.12), own, passed(t, 0.8, 1)), shot_.n());
      outline(plan_.o);
    }
    title(plan_.o,
          fmt::format("O_{{{}}}", at(Step::concat) ? std::min(static_cast<Index>(shot_.headsMoved()),
                                                              shot_.config.heads - 1)
                                                   : shot_.cell.head),
          theme_.value, shapeText(shot_.n(), shot_.config.headDim), false);
    concat();
    written();
  }

  void concat() {
    if (!begun(Step::concat)) {
      waiting(plan_.concat, Step::concat);
    } else {
      picture("concat", plan_.concat, shot_.film.picture(Stage::concat), Ink::value,
              light(Step::concat, Step::output));
      const auto heads = static_cast<double>(shot_.config.heads), done = std::floor(shot_.headsMoved());
      list_.AddRectFilled(
          ImVec2(plan_.concat.Min.x + static_cast<float>(done / heads) * plan_.concat.GetWidth(),
                 plan_.concat.Min.y),
          plan_.concat.Max, theme_.background);
      caps(plan_.concat);
      outline(plan_.concat);
    }
    title(plan_.concat, "concat", theme_.value, "", false);
  }

  void written() {
    if (!begun(Step::output)) {
      waiting(plan_.y, Step::output);
    } else {
      const double t = into(Step::output);
      picture("wo", plan_.wo, shot_.film.wo, Ink::stream, 0.7f);
      title(plan_.wo, "W_O", theme_.text, "", true);
      picture("y", plan_.y, shot_.film.picture(Stage::output), Ink::stream, 1);
      coverRows(view_, shot_, plan_.y,
                rowsDone(shot_.n(), query_, passed(t, 0, 0.1), t >= 0.8, passed(t, 0.9, 1)), shot_.n());
      outline(plan_.y);
    }
    title(plan_.y, "Y", theme_.text, shapeText(shot_.n(), shot_.config.modelDim), false);
  }

  /// The stage's formula and the rule of the picture, in the corner that stays free; below, what its colours
  /// mean. A poster's legend says that elsewhere.
  void formula() {
    const ImRect& area = plan_.formula;
    const std::string g = std::to_string(shot_.kvHead()), h = std::to_string(shot_.cell.head);
    const std::string text = formulaText(h, g);
    ImFont* const font = plan_.poster ? fonts_.hero : fonts_.title;
    if (text.empty() || scriptedWidth(view_, font, text) > area.GetWidth() || area.GetHeight() < view_.px(50))
      return;
    float y = area.Min.y + view_.px(16);
    paintScripted(view_, list_, font, ImVec2(area.Min.x, y), theme_.text, text);
    const bool product = at(Step::project) || at(Step::dot) || at(Step::mix) || at(Step::output);
    y += view_.px(plan_.poster ? 34 : 24);
    const std::string rule = firstFitting(
        plan_.poster ? fonts_.text : fonts_.small,
        {"row from the left × column from above = cell", "row × column = cell"}, area.GetWidth());
    if (product && textWidth(plan_.poster ? fonts_.text : fonts_.small, rule) <= area.GetWidth())
      paintText(list_, plan_.poster ? fonts_.text : fonts_.small, ImVec2(area.Min.x, y), theme_.secondary,
                rule);
    if (plan_.poster) return;
    ramps(area);
  }

  std::string formulaText(const std::string& h, const std::string& g) const {
    switch (shot_.at.stage) {
      case Step::project:
        return plan_.formula.GetWidth() > view_.px(200) ? shot_.cross()
                                                              ? "Q = X · W_Q,  K = C · W_K,  V = C · W_V"
                                                              : "Q = X · W_Q,  K = X · W_K,  V = X · W_V"
                                                        : "Q = X · W_Q";
      case Step::dot:
        return "S = Q_{" + h + "} · K_{" + g + "}^T";
      case Step::scale:
        return "S " + factorText(static_cast<double>(shot_.film.steps.factor));
      case Step::bias:
        return biasText(shot_, "S");
      case Step::mask:
        return "S + mask";
      case Step::softmax:
        return "W = softmax(S)";
      case Step::mix:
        return "O_{" + h + "} = W · V_{" + g + "}";
      case Step::output:
        return "Y = concat · W_O";
      default:
        return "";
    }
  }

  /// A colour ramp for each kind of matrix in use, with the values at its ends.
  void ramps(const ImRect& area) {
    const float line = view_.px(19), wide = view_.px(64);
    float y = area.Max.y - view_.px(24);
    const auto ramp = [&](const std::string& name, const std::string& low, const std::string& high,
                          const auto& paint) {
      if (y - line < area.Min.y + view_.px(44)) return;
      const float x = area.Min.x + view_.px(44), half = view_.px(4);
      paintText(list_, fonts_.small, ImVec2(area.Min.x, y), theme_.secondary, name);
      paint(ImVec2(x, y - half), ImVec2(x + wide, y + half));
      paintText(list_, fonts_.monoSmall, ImVec2(x + wide + view_.px(8), y), theme_.secondary,
                low.empty() ? high : low + " … " + high);
      y -= line;
    };
    const auto inked = [&](const std::string& name, const StagePicture& picture, Ink ink) {
      const render::Tint tint = inkTint(theme_, ink);
      ramp(name, "", "±" + cellText(static_cast<double>(largestOf(picture))), [&](ImVec2 from, ImVec2 to) {
        list_.AddRectFilledMultiColor(from, to, packed(tint.low), packed(tint.high), packed(tint.high),
                                      packed(tint.low));
      });
    };
    if (at(Step::mix)) inked("V", shot_.film.v, Ink::value);
    if (at(Step::dot)) inked("K", shot_.film.k, Ink::key), inked("Q", shot_.film.q, Ink::query);
    if (!begun(Step::dot) || shot_.at.stage > Step::mix) return;
    const auto mapped = [&](const char* name, Step step) {
      const ValueRange range = scoreRange(shot_, step);
      ramp(name, cellText(static_cast<double>(range.low)), cellText(static_cast<double>(range.high)),
           [&](ImVec2 from, ImVec2 to) { paintRamp(view_, list_, scene_.look.colormap, from, to); });
    };
    if (begun(Step::softmax)) mapped("weight", Step::softmax);
    if (!begun(Step::softmax) || (at(Step::softmax) && shot_.at.t < 1))
      mapped("score", begun(Step::softmax) ? Step::mask : shot_.at.stage);
  }

  /// The selected query's row through the matrices, and the key's column on the shelf.
  void rows() {
    if (plan_.mapOnly) return;
    const auto mark = [&](const ImRect& box, std::uint32_t color) {
      if (box.GetWidth() > 0)
        compat::rectOutline(list_, box.Min, box.Max, color, 0, std::max(1.0f, view_.px(1.4f)));
    };
    mark(FlowPlan::rowOf(plan_.x, query_, shot_.n()), theme_.query);
    if (begun(Step::project) && into(Step::project) >= 0.15)
      mark(FlowPlan::rowOf(plan_.q, query_, shot_.n()), theme_.query);
    if (begun(Step::mix)) mark(FlowPlan::rowOf(plan_.o, query_, shot_.n()), theme_.value);
    if (keysShown() && into(Step::split) >= 0.8)
      mark(FlowPlan::columnOf(plan_.keys, shot_.cell.key, shot_.m()), theme_.key);
  }
};

}  // namespace

void flowMap(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan) {
  MapPainter(scene, page, shot, plan).paint();
}

}  // namespace headscope::app::flow_page

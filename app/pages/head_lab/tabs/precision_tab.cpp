#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/heads/lab_studies.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/head_lab/map_view.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app::head_lab_page {

namespace {

const char* formatName(std::size_t format) {
  return format == 0 ? "fp16" : "bf16";
}

/// "4.9·10⁻⁴", "0.123", "0", "∞" or "NaN".
std::string errorText(float value) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (std::isfinite(value) && value > 0 && value < 0.0995f) {
    int power = static_cast<int>(std::floor(std::log10(value)));
    double mantissa = static_cast<double>(value) / std::pow(10.0, power);
    if (mantissa >= 9.95) {
      mantissa /= 10;
      ++power;
    }
    std::string text = fixedText(mantissa, 1) + "·10⁻";
    for (const char digit : std::to_string(-power)) text += kDigits[digit - '0'];
    return text;
  }
  if (std::isnan(value)) return "NaN";
  return std::isinf(value) ? "∞" : value == 0 ? "0" : fixedText(value, 3);
}

class PrecisionTab : public Tab {
 public:
  PrecisionTab(PageServices& services, State& page)
      : Tab(services, page),
        study_(page.shown, [](const std::shared_ptr<const LayerParts>& layer, std::stop_token stop) {
          return studyPrecision(layer, stop);
        }) {}

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override {
    if (!study_) return;
    View& view = page_.view;
    const bool small = page_.small;
    const float margin = view.px(small ? 16 : 24), space = view.px(small ? 10 : 18);
    ImRect inner(area.Min.x + margin, area.Min.y + space, area.Max.x - margin, area.Max.y - space);
    if (!layout.presents) {
      controls(ImRect(inner.Min, ImVec2(inner.Max.x, inner.Min.y + view.px(32))));
      inner.Min.y += view.px(32) + space;
    }
    // The numbers need no more width than this; the maps get the rest.
    const float numbers = inner.GetWidth() * (layout.presents ? 0.48f : 0.38f);
    const float split =
        std::round(inner.Max.x - (layout.presents ? numbers : std::min(numbers, view.px(540))));
    maps(scene, ImRect(inner.Min, ImVec2(split - space, inner.Max.y)));
    side(scene, ImRect(ImVec2(split + space, inner.Min.y), inner.Max));
  }

  void ask(const Scene&) override {
    if (page_.layer) study_.ask(page_.layer, Lane::front);
  }

  /// The arrow keys select the format whose maps are shown.
  bool move(Scene&, int by) override {
    format_ = by > 0 ? 1 : 0;
    return true;
  }

  std::vector<CaptionPart> caption(const Scene&) const override {
    const std::string scale =
        study_ && shown().finite ? fmt::format(", 0 (dark) to {} (bright)", errorText(shown().largest)) : "";
    return {{fmt::format("Change in every head's weights in {}{}; ← → switches format", formatName(format_),
                         scale),
             page_.view.theme->secondary}};
  }

 private:
  const FormatDifference& shown() const { return study_->formats[format_]; }

  void controls(const ImRect& line) {
    View& view = page_.view;
    ImGui::SetCursorScreenPos(line.Min);
    ImGui::BeginChild("precision.formats", ImVec2(view.px(180), line.GetHeight()), false,
                      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
    const Choice formats[] = {{"fp16", "", "fp16"}, {"bf16", "", "bf16"}};
    int chosen = static_cast<int>(format_);
    if (segmented(view, "precision.format", formats, chosen, "Number format for recomputing the layer."))
      format_ = static_cast<std::size_t>(chosen);
    compat::endChild();
    const std::string words =
        shown().finite ? fmt::format("|weight in {} − weight in fp32|, dark to bright: 0 to {}",
                                     formatName(format_), errorText(shown().largest))
                       : fmt::format("Overflow in {}: its largest number is 65,504", formatName(format_));
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text,
              ImVec2(line.Min.x + view.px(200), line.Min.y + view.px(15)), view.theme->secondary,
              fitted(view.fonts->text, words, line.GetWidth() - view.px(200)));
  }

  void maps(Scene& scene, const ImRect& area) {
    const View& view = page_.view;
    const float high = shown().largest > 0 && std::isfinite(shown().largest) ? shown().largest : 1;
    headMaps(scene, page_, area,
             {.name = std::string("precision.") + formatName(format_),
              .values = shown().weights,
              .factor = study_->factor,
              .range =
                  [high](Index) {
                    return ValueRange{0, high, false};
                  },
              .names = true,
              .title =
                  [&](Index head, ImVec2 at, float width) {
                    Canvas list = *ImGui::GetWindowDrawList();
                    const std::string number =
                        errorText(shown().heads[static_cast<std::size_t>(head)].weights);
                    const float taken = textWidth(view.fonts->monoSmall, number);
                    const std::string name =
                        firstFitting(view.fonts->bold, {headName(head), std::to_string(head)}, width);
                    paintText(list, view.fonts->bold, at, view.theme->text, name);
                    if (textWidth(view.fonts->bold, name) + taken + view.px(10) < width)
                      paintText(list, view.fonts->monoSmall, ImVec2(at.x + width, at.y),
                                view.theme->secondary, number, Align::right);
                  }});
  }

  /// The columns of numbers, two per format.
  struct SideColumns {
    float left, step;

    float of(std::size_t format, int number) const {
      return left + step * static_cast<float>(2 * static_cast<int>(format) + number + 1);
    }
  };
  SideColumns columnsOf(const ImRect& area) const {
    const float names = page_.view.px(page_.presents ? 24 : 90);
    return {area.Min.x + names, (area.GetWidth() - names) / 4};
  }

  /// Draws the formats' numbers, and says where the computation rounds.
  void side(Scene& scene, const ImRect& area) {
    View& view = page_.view;
    const Theme& theme = *view.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    const SideColumns columns = columnsOf(area);
    float y = area.Min.y + view.px(10);
    for (std::size_t f = 0; f < study_->formats.size(); ++f) {
      paintText(list, view.fonts->title, ImVec2(columns.of(f, 1), y),
                f == format_ || !page_.presents ? theme.text : theme.secondary, formatName(f), Align::right);
      paintText(list, view.fonts->small, ImVec2(columns.of(f, 0), y + view.px(24)), theme.secondary,
                page_.presents ? "max |ΔA|" : "max |Δweight|", Align::right);
      paintText(list, view.fonts->small, ImVec2(columns.of(f, 1), y + view.px(24)), theme.secondary,
                "‖Δ head‖", Align::right);
    }
    y += view.px(34);
    const Index heads = std::ssize(study_->formats[0].heads);
    const float below = view.px(page_.presents ? 8 : 100);  // for the text
    const float least = view.px(26), room = area.Max.y - below - y - 2 * least;
    const float line = std::clamp(room / static_cast<float>(heads), least, view.px(44));
    const Index lit =
        std::clamp<Index>(view.hover.head >= 0 ? view.hover.head : scene.cursor.cell.head, 0, heads - 1);
    const Index count = std::clamp<Index>(static_cast<Index>(room / line), 0, heads);
    const Index first = std::clamp<Index>(lit - count / 2, 0, heads - count);
    for (Index head = first; head < first + count; ++head) {
      row(scene, ImRect(area.Min.x, y, area.Max.x, y + line), columns, head, head == lit);
      y += line;
    }
    y += view.px(8);
    if (study_->fromInputs) output(ImRect(area.Min.x, y, area.Max.x, y + line), columns);
    y += view.px(study_->fromInputs ? 48 : 14);
    if (page_.presents) return;  // the lecturer says it
    const std::string from = study_->fromInputs ? "x, the four projections and their biases; q, k and v; "
                                                : "the model's q, k and v; ";
    paintParagraph(list, view.fonts->text, ImVec2(area.Min.x, y), area.GetWidth(), theme.secondary,
                   "Rounded to nearest, ties to even: " + from +
                       "every score (q·k and after each factor and term), weights and head outputs" +
                       (study_->fromInputs ? ", and the output. " : ". ") +
                       "Sums inside products and the softmax use fp32, as on tensor cores.");
  }

  /// Draws one head's line.
  void row(Scene& scene, const ImRect& area, const SideColumns& columns, Index head, bool lit) {
    View& view = page_.view;
    const Theme& theme = *view.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    const bool clicked = hitArea(fmt::format("precision.row.{}", head), area);
    if (ImGui::IsItemHovered()) view.nextHover.head = head;
    if (clicked) scene.cursor.cell.head = head;
    if (lit)
      list.AddRectFilled(ImVec2(area.Min.x - view.px(6), area.Min.y),
                         ImVec2(area.Max.x + view.px(6), area.Max.y), theme.raised, view.px(4));
    const float middle = area.GetCenter().y;
    paintText(list, view.fonts->text, ImVec2(area.Min.x, middle), theme.text,
              page_.presents ? std::to_string(head) : headName(head));
    for (std::size_t f = 0; f < study_->formats.size(); ++f) {
      const HeadDifference& one = study_->formats[f].heads[static_cast<std::size_t>(head)];
      paintText(list, view.fonts->mono, ImVec2(columns.of(f, 0), middle), theme.text, errorText(one.weights),
                Align::right);
      paintText(list, view.fonts->mono, ImVec2(columns.of(f, 1), middle), theme.text, errorText(one.output),
                Align::right);
    }
  }

  /// Draws the line for the layer's output.
  void output(const ImRect& area, const SideColumns& columns) {
    const View& view = page_.view;
    const Theme& theme = *view.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    list.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), theme.line);
    const float middle = area.GetCenter().y;
    paintText(list, view.fonts->text, ImVec2(area.Min.x, middle), theme.text,
              fitted(view.fonts->text, page_.presents ? "Output" : "Output (worst token)",
                     columns.left + columns.step - view.px(20) - area.Min.x));
    const Index real = study_->question->sequence().queryLength;
    for (std::size_t f = 0; f < study_->formats.size(); ++f)
      paintText(list, view.fonts->mono, ImVec2(columns.of(f, 1), middle), theme.text,
                errorText(study_->formats[f].output.head(real).maxCoeff<Eigen::PropagateNaN>()),
                Align::right);
  }

  std::size_t format_ = 0;
  Shown<std::shared_ptr<const LayerParts>, LayerPrecisionStudy> study_;
};

}  // namespace

std::unique_ptr<Tab> makePrecisionTab(PageServices& services, State& page) {
  return std::make_unique<PrecisionTab>(services, page);
}

}  // namespace headscope::app::head_lab_page

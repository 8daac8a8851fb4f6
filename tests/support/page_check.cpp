#include "tests/support/page_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/platform/canvas.h"
#include "app/platform/ui_state.h"

namespace headscope::test {

namespace {

using app::DrawnText;

std::string placeText(const ImRect& rect) {
  return fmt::format("({:.0f}, {:.0f})–({:.0f}, {:.0f})", rect.Min.x, rect.Min.y, rect.Max.x, rect.Max.y);
}

std::string nameOf(const DrawnText& text) {
  return "“" + text.text.substr(0, 60) + "” at " + placeText(text.area);
}

ImRect clipped(ImRect rect, const ImRect& by) {
  rect.Min = ImVec2(std::max(rect.Min.x, by.Min.x), std::max(rect.Min.y, by.Min.y));
  rect.Max = ImVec2(std::min(rect.Max.x, by.Max.x), std::min(rect.Max.y, by.Max.y));
  return rect;
}

bool isEmpty(const ImRect& rect) {
  return rect.GetWidth() <= 0 || rect.GetHeight() <= 0;
}

/// Whether `inner` lies inside `outer`, with a tolerance of 1.5 pixels.
bool contains(ImRect outer, const ImRect& inner) {
  outer.Expand(1.5f);
  return outer.Contains(inner);
}

/// How far two rectangles overlap, in the direction in which they overlap less.
float depth(const ImRect& a, const ImRect& b) {
  return std::min(std::min(a.Max.x, b.Max.x) - std::max(a.Min.x, b.Min.x),
                  std::min(a.Max.y, b.Max.y) - std::max(a.Min.y, b.Min.y));
}

/// Whether one name is part of the other: "heads.track" belongs to "heads".
bool related(const std::string& a, const std::string& b) {
  const std::string& shorter = a.size() < b.size() ? a : b;
  const std::string& longer = a.size() < b.size() ? b : a;
  return longer.compare(0, shorter.size(), shorter) == 0 &&
         (longer.size() == shorter.size() || longer[shorter.size()] == '.');
}

/// A widget's whole area and the visible part of it.
struct Widget {
  std::string name;
  ImRect whole, seen;
};

std::vector<Widget> widgetsOf(const app::UiState& state, const ImRect& window) {
  std::vector<Widget> widgets;
  for (const auto& [name, rect] : state.tracks) {
    const auto clip = state.clips.find(name);
    ImRect seen = clipped(rect, window);
    if (clip != state.clips.end()) seen = clipped(seen, clip->second.seen);
    if (!isEmpty(seen)) widgets.push_back({name, rect, seen});
  }
  return widgets;
}

/// The part of a line that its letters occupy, without the space above and below them.
ImRect lettersOf(const DrawnText& text) {
  ImRect area = text.area;
  const float air = std::min(area.GetHeight(), 200.0f) * 0.18f;
  area.Min.y += air;
  area.Max.y -= air;
  return clipped(area, text.clip);
}

ImRect windowOf() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  return {0, 0, size.x, size.y};
}

/// Draws a frame and records its texts and marks. Their places are known without pixels, which cost most.
void watchedFrame(UiDriver& ui) {
  app::uiState().watches = true;
  ui.frames(1);
}

/// The picture of such a frame, without its texts or marks if `hidden` says so.
enum class Hidden { nothing, texts, marks };
render::Image watchedPicture(UiDriver& ui, Hidden hidden) {
  app::UiState& state = app::uiState();
  state.watches = true;
  state.hidesTexts = hidden == Hidden::texts;
  state.hidesMarks = hidden == Hidden::marks;
  render::Image image = ui.screenshot();
  state.hidesTexts = state.hidesMarks = false;
  return image;
}

double channelLuminance(double value) {
  value /= 255;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminanceOf(const double (&rgb)[3]) {
  return 0.2126 * channelLuminance(rgb[0]) + 0.7152 * channelLuminance(rgb[1]) +
         0.0722 * channelLuminance(rgb[2]);
}

/// The contrast between a colour, blended by its alpha, and the pixel under it.
double contrast(std::uint32_t color, const std::uint8_t* under) {
  const double alpha = static_cast<double>(color >> 24) / 255;
  double ink[3], ground[3];
  for (int i = 0; i < 3; ++i) {
    ground[i] = under[i];
    ink[i] = alpha * static_cast<double>((color >> (8 * i)) & 0xFF) + (1 - alpha) * ground[i];
  }
  const double a = luminanceOf(ink) + 0.05, b = luminanceOf(ground) + 0.05;
  return std::max(a, b) / std::min(a, b);
}

const std::uint8_t* pixelAt(const render::Image& image, int x, int y) {
  const auto at =
      static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x);
  return &image.rgba[at * 4];
}

/// The contrast that a mark's rows and columns reach with their strongest pixel, leaving out the share `rim`,
/// the mark's rim, whose tones serve other backgrounds. Rows and columns that the mark doesn't change don't
/// count. Returns nullopt if it changes nothing at all.
std::optional<double> markContrast(const render::Image& with, const render::Image& without,
                                   const ImRect& area, double rim) {
  const int left = static_cast<int>(area.Min.x), top = static_cast<int>(area.Min.y);
  const int right = std::min(with.width, static_cast<int>(std::ceil(area.Max.x))),
            bottom = std::min(with.height, static_cast<int>(std::ceil(area.Max.y)));
  std::vector<double> rows(static_cast<std::size_t>(bottom - top), 0),
      columns(static_cast<std::size_t>(right - left), 0);
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const std::uint8_t *const on = pixelAt(with, x, y), *const off = pixelAt(without, x, y);
      if (std::equal(on, on + 3, off)) continue;
      const std::uint32_t color = 0xFF000000u | on[0] | on[1] << 8 | on[2] << 16;
      const double found = contrast(color, off);
      for (double* best :
           {&rows[static_cast<std::size_t>(y - top)], &columns[static_cast<std::size_t>(x - left)]})
        *best = std::max(*best, found);
    }
  std::optional<double> least;
  for (std::vector<double>* lines : {&rows, &columns}) {
    std::erase(*lines, 0);
    if (lines->empty()) return std::nullopt;
    const auto fainter = static_cast<std::size_t>(rim * static_cast<double>(lines->size()));
    const auto quarter = lines->begin() + static_cast<std::ptrdiff_t>(fainter);
    std::nth_element(lines->begin(), quarter, lines->end());
    least = std::min(least.value_or(*quarter), *quarter);
  }
  return least;
}

/// The contrast that at least three quarters of the area reach: a line or a cell's edge may cross it.
double contrastOver(const render::Image& image, const ImRect& area, std::uint32_t color) {
  std::vector<double> found;
  for (int y = static_cast<int>(area.Min.y); y < static_cast<int>(area.Max.y); ++y)
    for (int x = static_cast<int>(area.Min.x); x < static_cast<int>(area.Max.x); x += 2) {
      const auto at =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x);
      found.push_back(contrast(color, &image.rgba[at * 4]));
    }
  if (found.empty()) return 21;
  const auto quarter = found.begin() + static_cast<std::ptrdiff_t>(found.size() / 4);
  std::nth_element(found.begin(), quarter, found.end());
  return *quarter;
}

}  // namespace

std::vector<std::string> overlaps(UiDriver& ui) {
  watchedFrame(ui);
  const app::UiState& state = app::uiState();
  std::vector<std::string> wrong;
  constexpr float kTouching = 1.5f;
  const std::vector<Widget> widgets = widgetsOf(state, windowOf());
  for (std::size_t i = 0; i < widgets.size(); ++i)
    for (std::size_t j = i + 1; j < widgets.size(); ++j) {
      const Widget &a = widgets[i], &b = widgets[j];
      if (depth(a.seen, b.seen) <= kTouching || related(a.name, b.name)) continue;
      if (contains(a.whole, b.whole) || contains(b.whole, a.whole)) continue;
      wrong.push_back(a.name + " " + placeText(a.seen) + " lies over " + b.name + " " + placeText(b.seen));
    }
  for (std::size_t i = 0; i < state.texts.size(); ++i)
    for (std::size_t j = i + 1; j < state.texts.size(); ++j) {
      const DrawnText &a = state.texts[i], &b = state.texts[j];
      if (a.foreground != b.foreground) continue;
      const ImRect first = lettersOf(a), second = lettersOf(b);
      if (isEmpty(first) || isEmpty(second) || depth(first, second) <= kTouching) continue;
      wrong.push_back(nameOf(a) + " lies over " + nameOf(b));
    }
  return wrong;
}

std::vector<std::string> cutOff(UiDriver& ui, Scrolling scrolling) {
  const bool reaches = scrolling == Scrolling::reaches;
  watchedFrame(ui);
  const app::UiState& state = app::uiState();
  const ImRect window = windowOf();
  std::vector<std::string> wrong;
  for (const auto& [name, rect] : state.tracks) {
    const auto clip = state.clips.find(name);
    ImRect room = window;
    if (clip != state.clips.end()) {
      room = reaches ? clip->second.reachable : clipped(room, clip->second.seen);
    }
    if (!contains(room, rect))
      wrong.push_back(name + " " + placeText(rect) + " reaches out of " + placeText(room));
  }
  for (const DrawnText& text : state.texts) {
    const ImRect room = clipped(text.clip, window);
    if ((reaches && text.reached) || text.text.empty() || contains(room, text.area)) continue;
    wrong.push_back(nameOf(text) + " reaches out of " + placeText(room));
  }
  return wrong;
}

std::vector<std::string> faintTexts(UiDriver& ui, double least) {
  watchedFrame(ui);
  const std::vector<DrawnText> texts = app::uiState().texts;
  const render::Image ground = watchedPicture(ui, Hidden::texts);
  std::vector<std::string> wrong;
  for (const DrawnText& text : texts) {
    const ImRect area = clipped(lettersOf(text), windowOf());
    if (isEmpty(area) || text.text.find_first_not_of(' ') == std::string::npos) continue;
    const double found = contrastOver(ground, area, text.color);
    const bool ink = text.color == 0xFF000000u || text.color == 0xFFFFFFFFu;
    if (found < (ink ? std::min(least, 4.5) : least))
      wrong.push_back(nameOf(text) + fmt::format(" has a contrast of {:.2f}", found));
  }
  return wrong;
}

std::vector<std::string> smallTexts(UiDriver& ui, float least, float ofIndices) {
  watchedFrame(ui);
  constexpr std::size_t kIndex = 12;  // bytes
  std::vector<std::string> wrong;
  const auto isIndex = [&](const DrawnText& text) {
    return text.font == ui.view().fonts->script && text.text.size() <= kIndex;
  };
  for (const DrawnText& text : app::uiState().texts)
    if (!isEmpty(clipped(lettersOf(text), windowOf())) &&
        text.height < (isIndex(text) ? std::min(least, ofIndices) : least))
      wrong.push_back(nameOf(text) + fmt::format(" is {:.1f} pixels high", text.height));
  return wrong;
}

std::vector<std::string> faintMarks(UiDriver& ui, double least) {
  const render::Image with = watchedPicture(ui, Hidden::nothing);
  const std::vector<app::DrawnMark> marks = app::uiState().marks;
  const render::Image without = watchedPicture(ui, Hidden::marks);
  std::vector<std::string> wrong;
  for (const app::DrawnMark& mark : marks) {
    const ImRect area = clipped(mark.area, windowOf());
    if (isEmpty(area)) continue;
    // The edge of a panel fades if it can be scrolled further.
    const bool fades = std::any_of(marks.begin(), marks.end(), [&](const app::DrawnMark& other) {
      return other.name == app::kFade && other.area.Overlaps(area);
    });
    if (fades) continue;
    // A mark may be covered by a menu or a shade.
    if (const auto found =
            markContrast(with, without, area, mark.name == "spot" || mark.name == "ghost" ? 0.67 : 0.25);
        found && *found < least)
      wrong.push_back("the mark " + mark.name + " at " + placeText(area) +
                      fmt::format(" has a contrast of {:.2f}", *found));
  }
  return wrong;
}

app::Scene crowdedScene(app::Scene scene) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("word{} ", i);
  scene.setup.input.text = text;
  scene.setup.model.heads = 64;
  scene.setup.model.kvHeads = 8;
  scene.setup.model.modelDim = 1024;
  scene.setup.model.headDim = 16;
  scene.setup.weights.source = app::WeightSource::random;
  return scene;
}

std::vector<std::string> stageFlaws(UiDriver& ui) {
  const ImRect window = windowOf();
  std::vector<std::string> wrong = overlaps(ui);
  const float line = window.GetHeight() / 720;
  for (const auto& more : {cutOff(ui, Scrolling::doesnt), smallTexts(ui, 25 * line - 0.1f, 20 * line - 0.1f)})
    wrong.insert(wrong.end(), more.begin(), more.end());
  const app::UiState& state = app::uiState();
  ImRect all(FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX);
  for (const app::DrawnPicture& picture : state.pictures) {
    all.Add(picture.area);
    if (!contains(clipped(picture.clip, window), picture.area))
      wrong.push_back("the picture " + placeText(picture.area) + " is cropped");
  }
  if (all.GetHeight() < 0.65f * window.GetHeight())
    wrong.push_back(fmt::format("pictures take {:.2f} of the height", all.GetHeight() / window.GetHeight()));
  float words = 0;
  for (const DrawnText& text : state.texts) {
    if (!all.Contains(text.area.GetCenter())) words += text.area.GetArea();
    if (text.text.size() > 3 && text.text.ends_with("…")) wrong.push_back(nameOf(text) + " is shortened");
  }
  if (words > 0.3f * window.GetArea())
    wrong.push_back(fmt::format("words take {:.2f} of the area", words / window.GetArea()));
  for (const int scale : state.scales)
    if (!state.legends.contains(scale))
      wrong.push_back(fmt::format("the colours of {} have no legend", render::name(render::Colormap(scale))));
  return wrong;
}

std::vector<std::string> flaws(UiDriver& ui) {
  std::vector<std::string> wrong = overlaps(ui);
  const std::vector<std::string> cut = cutOff(ui);
  wrong.insert(wrong.end(), cut.begin(), cut.end());
  return wrong;
}

}  // namespace headscope::test

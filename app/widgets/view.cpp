#include "app/widgets/view.h"

namespace headscope::app {

namespace {

constexpr std::uint32_t rgb(std::uint32_t hex) {
  return 0xFF000000u | ((hex & 0xFF) << 16) | (hex & 0xFF00) | (hex >> 16);
}

constexpr int channel(std::uint32_t color, int index) {
  return static_cast<int>((color >> (8 * index)) & 0xFF);
}

}  // namespace

const Theme& darkTheme() {
  static const Theme theme{.light = false,
                           .background = rgb(0x0d1015),
                           .panel = rgb(0x141920),
                           .raised = rgb(0x1b222b),
                           .line = rgb(0x262f3a),
                           .text = rgb(0xe8ecf1),
                           .secondary = rgb(0x93a0af),
                           .faint = rgb(0x7d8997),
                           .query = rgb(0xff9f45),
                           .key = rgb(0x4cb8ff),
                           .value = rgb(0x5fd38d),
                           .error = rgb(0xff6b6b),
                           .warning = rgb(0xf2c14e),
                           .knob = rgb(0xe8ecf1),
                           .groups = {rgb(0xb48cff), rgb(0x4fd6c8), rgb(0xf2c14e), rgb(0xff8fb1),
                                      rgb(0x9fb8ff), rgb(0xb5d86a), rgb(0xe3a27f), rgb(0xc9c9d4)}};
  return theme;
}

const Theme& lightTheme() {
  static const Theme theme{.light = true,
                           .background = rgb(0xffffff),
                           .panel = rgb(0xf6f7f9),
                           .raised = rgb(0xeceff3),
                           .line = rgb(0xd9dee5),
                           .text = rgb(0x12161c),
                           .secondary = rgb(0x4d5866),
                           .faint = rgb(0x616c79),
                           .query = rgb(0xad5400),
                           .key = rgb(0x0b6bc2),
                           .value = rgb(0x17753f),
                           .error = rgb(0xc62828),
                           .warning = rgb(0x8a5a00),
                           .knob = rgb(0xffffff),
                           .groups = {rgb(0x6b3fd4), rgb(0x086b61), rgb(0x7a5800), rgb(0xa52a55),
                                      rgb(0x3355b8), rgb(0x4a6b0a), rgb(0x95502a), rgb(0x5b5b68)}};
  return theme;
}

const Theme& strongTheme(bool light) {
  static const Theme onDark{.light = false,
                            .background = rgb(0x000000),
                            .panel = rgb(0x0a0d11),
                            .raised = rgb(0x12171d),
                            .line = rgb(0x3a4653),
                            .text = rgb(0xf4f7fa),
                            .secondary = rgb(0xb6bec9),
                            .faint = rgb(0xa3abb5),
                            .query = rgb(0xff9f45),
                            .key = rgb(0x5abeff),
                            .value = rgb(0x5fd38d),
                            .error = rgb(0xff8686),
                            .warning = rgb(0xf2c14e),
                            .knob = rgb(0xffffff),
                            .groups = {rgb(0xd4bcff), rgb(0x4fd6c8), rgb(0xf2c14e), rgb(0xffacc5),
                                       rgb(0xb4c8ff), rgb(0xb5d86a), rgb(0xeab594), rgb(0xc9c9d4)}};
  static const Theme onLight{.light = true,
                             .background = rgb(0xffffff),
                             .panel = rgb(0xffffff),
                             .raised = rgb(0xf2f4f7),
                             .line = rgb(0xb9c1cb),
                             .text = rgb(0x06080b),
                             .secondary = rgb(0x38404a),
                             .faint = rgb(0x454d57),
                             .query = rgb(0x763900),
                             .key = rgb(0x084d8c),
                             .value = rgb(0x115830),
                             .error = rgb(0x941e1e),
                             .warning = rgb(0x6a4500),
                             .knob = rgb(0xffffff),
                             .groups = {rgb(0x5733ac), rgb(0x07564e), rgb(0x644800), rgb(0x8c2349),
                                        rgb(0x2a479a), rgb(0x3b5408), rgb(0x743e21), rgb(0x4b4b56)}};
  return light ? onLight : onDark;
}

std::uint32_t groupColor(const Theme& theme, std::int64_t kvHead) {
  return theme.groups[static_cast<std::size_t>(kvHead) % theme.groups.size()];
}

std::uint32_t faded(std::uint32_t color, float alpha) {
  const auto a = static_cast<std::uint32_t>(std::lround(static_cast<float>(color >> 24) * alpha));
  return (color & 0x00FFFFFFu) | (a << 24);
}

std::uint32_t mixed(std::uint32_t a, std::uint32_t b, float share) {
  const float t = share > 0 ? std::min(share, 1.0f) : 0;  // maps NaN to 0
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const float value = static_cast<float>(channel(a, i)) * (1 - t) + static_cast<float>(channel(b, i)) * t;
    out |= static_cast<std::uint32_t>(std::lround(value)) << (8 * i);
  }
  return out;
}

std::uint32_t packed(const render::Color& color) {
  const auto byte = [](float v) {
    return static_cast<std::uint32_t>(std::lround(std::fmin(std::fmax(v, 0), 1) * 255));
  };
  return byte(color.r) | (byte(color.g) << 8) | (byte(color.b) << 16) | (byte(color.a) << 24);
}

render::Color unpacked(std::uint32_t color) {
  const auto part = [&](int index) { return static_cast<float>(channel(color, index)) / 255; };
  return {part(0), part(1), part(2), part(3)};
}

float luminance(const render::Color& color) {
  const auto linear = [](float v) {
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
  };
  return 0.2126f * linear(color.r) + 0.7152f * linear(color.g) + 0.0722f * linear(color.b);
}

std::uint32_t inkOn(const render::Color& color) {
  // Black and white are equal at 4.58:1, so one of them reaches 4.5:1 on every tone.
  return luminance(color) > 0.179f ? rgb(0x000000) : rgb(0xffffff);
}

namespace {

using Matrix3 = std::array<std::array<float, 3>, 3>;
using Triple = std::array<float, 3>;

constexpr Matrix3 kNoRed{{{0.152286f, 1.052583f, -0.204868f},
                          {0.114503f, 0.786281f, 0.099216f},
                          {-0.003882f, -0.048116f, 1.051998f}}};
constexpr Matrix3 kNoGreen{{{0.367322f, 0.860646f, -0.227968f},
                            {0.280085f, 0.672501f, 0.047413f},
                            {-0.011820f, 0.042940f, 0.968881f}}};
constexpr Matrix3 kNoBlue{{{1.255528f, -0.076749f, -0.178779f},
                           {-0.078411f, 0.930809f, 0.147602f},
                           {0.004733f, 0.691367f, 0.303900f}}};
/// Relative luminance in every channel.
constexpr Matrix3 kGrey{
    {{0.2126f, 0.7152f, 0.0722f}, {0.2126f, 0.7152f, 0.0722f}, {0.2126f, 0.7152f, 0.0722f}}};

Triple linear(const render::Color& color) {
  const auto one = [](float v) { return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f); };
  return {one(color.r), one(color.g), one(color.b)};
}

float encoded(float v) {
  v = std::clamp(v, 0.0f, 1.0f);
  return v <= 0.0031308f ? 12.92f * v : 1.055f * std::pow(v, 1 / 2.4f) - 0.055f;
}

Triple times(const Matrix3& matrix, const Triple& v) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
  return out;
}

/// CIE 1976 L*a*b* under D65.
Triple lab(const render::Color& color) {
  constexpr Matrix3 kXyz{{{0.4124564f, 0.3575761f, 0.1804375f},
                          {0.2126729f, 0.7151522f, 0.0721750f},
                          {0.0193339f, 0.1191920f, 0.9503041f}}};
  const Triple xyz = times(kXyz, linear(color));
  const auto f = [](float t) { return t > 0.008856f ? std::cbrt(t) : 7.787f * t + 16.0f / 116; };
  const float x = f(xyz[0] / 0.95047f), y = f(xyz[1]), z = f(xyz[2] / 1.08883f);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

}  // namespace

render::Color seenBy(ColourVision vision, const render::Color& color) {
  if (vision == ColourVision::normal) return color;
  const Matrix3& matrix = vision == ColourVision::protanopia     ? kNoRed
                          : vision == ColourVision::deuteranopia ? kNoGreen
                          : vision == ColourVision::tritanopia   ? kNoBlue
                                                                 : kGrey;
  const Triple seen = times(matrix, linear(color));
  return {encoded(seen[0]), encoded(seen[1]), encoded(seen[2]), color.a};
}

float colourDifference(const render::Color& a, const render::Color& b) {
  const Triple x = lab(a), y = lab(b);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

float leastDifference(ColourVision vision, const std::vector<render::Color>& colors) {
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < colors.size(); ++i)
    for (std::size_t j = i + 1; j < colors.size(); ++j)
      least = std::min(least, colourDifference(seenBy(vision, colors[i]), seenBy(vision, colors[j])));
  return least;
}

float leastStep(ColourVision vision, render::Colormap colormap) {
  constexpr int kSamples = 33, kApart = (kSamples - 1) / 4;
  const auto at = [&](int i) {
    return seenBy(vision, render::sample(colormap, static_cast<float>(i) / (kSamples - 1)));
  };
  float least = std::numeric_limits<float>::infinity();
  for (int i = 0; i < kSamples; ++i)
    for (int j = i + kApart; j < kSamples; ++j) least = std::min(least, colourDifference(at(i), at(j)));
  return least;
}

std::optional<unsigned> ScenePictures::of(const std::shared_ptr<const Scene>& scene) {
  if (std::find(shown.begin(), shown.end(), scene) == shown.end()) shown.push_back(scene);
  const auto found = painted.find(scene);
  return found == painted.end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const Scene> ScenePictures::wanted() const {
  const auto missing =
      std::find_if(shown.begin(), shown.end(), [&](const auto& scene) { return !painted.contains(scene); });
  return missing == shown.end() ? nullptr : *missing;
}

bool View::takenBySlider(Key key) const {
  const bool arrow = key == Key::left || key == Key::right || key == Key::up || key == Key::down;
  // Some pages ask before their sliders are drawn.
  return arrow && controls.arrowsFrame >= ImGui::GetFrameCount() - 1;
}

bool View::pressed(Key key, Mods mods) const {
  if (ImGui::GetIO().WantTextInput || dialog || takenBySlider(key)) return false;
  if (controls.keyTakenFrame == ImGui::GetFrameCount()) return false;
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) return false;
  return std::any_of(input.events.begin(), input.events.end(), [&](const InputEvent& event) {
    return event.kind == InputEvent::Kind::key && event.down && event.key == key && event.mods == mods;
  });
}

void View::markAdjusted(std::string control) {
  std::erase_if(controls.adjusted, [&](const AdjustedControl& each) {
    return each.control == control || time - each.at > kAdjustedSeconds;
  });
  controls.adjusted.push_back({std::move(control), time});
}

bool View::wasAdjusted(std::string_view control) const {
  return std::any_of(controls.adjusted.begin(), controls.adjusted.end(), [&](const AdjustedControl& each) {
    return each.control == control && time - each.at < kAdjustedSeconds;
  });
}

void applyImGuiStyle(const View& view) {
  const Theme& theme = *view.theme;
  ImGuiStyle& style = ImGui::GetStyle();
  style = ImGuiStyle();
  style.ItemSpacing = ImVec2(view.px(6), view.px(4));
  style.WindowBorderSize = 0;
  style.PopupBorderSize = 1;
  style.PopupRounding = view.px(8);
  style.ChildRounding = view.px(6);
  style.FrameRounding = view.px(5);
  style.ScrollbarSize = view.px(10);
  style.ScrollbarRounding = view.px(5);
  style.WindowMinSize = ImVec2(1, 1);
  const auto set = [&](ImGuiCol index, std::uint32_t color) {
    style.Colors[index] = ImGui::ColorConvertU32ToFloat4(color);
  };
  set(ImGuiCol_Text, theme.text);
  set(ImGuiCol_PopupBg, theme.raised);
  set(ImGuiCol_ChildBg, 0);
  set(ImGuiCol_Border, theme.line);
  set(ImGuiCol_FrameBg, theme.background);
  set(ImGuiCol_FrameBgHovered, theme.background);
  set(ImGuiCol_FrameBgActive, theme.background);
  set(ImGuiCol_TextSelectedBg, faded(theme.key, 0.35f));
  set(ImGuiCol_ScrollbarBg, 0);
  set(ImGuiCol_ScrollbarGrab, theme.line);
  set(ImGuiCol_ScrollbarGrabHovered, theme.faint);
  set(ImGuiCol_ScrollbarGrabActive, theme.secondary);
  set(ImGuiCol_NavHighlight, 0);
  set(ImGuiCol_ModalWindowDimBg, faded(theme.background, 0.6f));
}

}  // namespace headscope::app

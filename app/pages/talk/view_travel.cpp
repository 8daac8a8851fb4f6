#include "app/pages/talk/view_travel.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/scene/fields.h"

namespace headscope::app::talk_page {

namespace {

constexpr std::string_view kMapZoom = "cursor.map.cells_per_pixel";

/// The value of a field that may take any value between two others; nothing for other fields.
std::optional<double> travelling(const Field& field, const Scene& scene) {
  if (const auto* real = std::get_if<Member<float>>(&field.access))
    return static_cast<double>(real->of(scene));
  if (const auto* real = std::get_if<Member<double>>(&field.access)) return real->of(scene);
  if (const auto* whole = std::get_if<Member<Index>>(&field.access); whole && field.path == "cursor.step")
    return static_cast<double>(whole->of(scene));
  return std::nullopt;
}

void put(const Field& field, Scene& scene, double value) {
  if (const auto* real = std::get_if<Member<float>>(&field.access))
    real->edit(scene) = static_cast<float>(value);
  if (const auto* real = std::get_if<Member<double>>(&field.access)) real->edit(scene) = value;
  if (const auto* whole = std::get_if<Member<Index>>(&field.access))
    whole->edit(scene) = static_cast<Index>(std::llround(value));
}

}  // namespace

bool ViewTravel::begin(const Scene& from, const Scene& to, double now, double seconds) {
  ways_.clear();
  beganAt_ = now;
  seconds_ = std::max(seconds, 1e-3);
  Scene rest = from;
  std::vector<Way> ways;
  for (const Field& field : allFields()) {
    const auto begin = travelling(field, from), end = travelling(field, to);
    if (!begin || *begin == *end) continue;
    // A zoom of 0 means "the whole map" and can't be interpolated.
    if (field.path == kMapZoom && (*begin <= 0 || *end <= 0)) return false;
    ways.push_back({&field, *begin, *end, *end});
    put(field, rest, *end);
  }
  if (rest != to) return false;
  ways_ = std::move(ways);
  return active();
}

void ViewTravel::advance(Scene& scene, double now) {
  const double share = std::clamp((now - beganAt_) / seconds_, 0.0, 1.0), t = share * share * (3 - 2 * share);
  for (Way& way : ways_) {
    const double is = *travelling(*way.field, scene);
    if (std::abs(is - way.last) > 1e-5 * std::max(1.0, std::abs(way.last))) continue;
    double value = way.field->path == kMapZoom ? way.from * std::pow(way.to / way.from, t)
                                               : way.from + (way.to - way.from) * t;
    if (share == 1) value = way.to;
    put(*way.field, scene, value);
    way.last = *travelling(*way.field, scene);
  }
  if (share == 1) ways_.clear();
}

}  // namespace headscope::app::talk_page

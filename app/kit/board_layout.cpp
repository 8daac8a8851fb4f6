#include "app/kit/board_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace headscope::app {

namespace {

using Parts = std::vector<BoardPart>;

/// The heights of all shown parts together, with the space between them.
PartHeight sum(const Parts& parts);

PartHeight heightOf(const BoardPart& part) {
  if (part.columns.empty()) return part.height;
  PartHeight highest{0, 0, 0, 0};
  for (const Parts& column : part.columns) {
    const PartHeight one = sum(column);
    highest = {std::max(highest.least, one.least), std::max(highest.want, one.want),
               std::max(highest.grows, one.grows), std::max(highest.most, one.most)};
  }
  return highest;
}

PartHeight sum(const Parts& parts) {
  PartHeight all{0, 0, 0, 0};
  bool first = true;
  for (const BoardPart& part : parts) {
    if (!part.shown) continue;
    const PartHeight one = heightOf(part);
    const float before = std::exchange(first, false) ? 0 : part.before;
    const float want = std::max(one.least, one.want);
    all.least += before + one.least;
    all.want += before + want;
    all.grows += one.grows;
    all.most += before + (one.grows > 0 ? std::max(want, one.most) : want);
  }
  return all;
}

/// Whether the part has content left. Columns without any leave with their last part.
bool hasContent(const BoardPart& part) {
  return part.columns.empty() || std::ranges::any_of(part.columns, [](const Parts& column) {
           return std::ranges::any_of(column, &BoardPart::shown);
         });
}

bool holds(const BoardPart& part, std::string_view name) {
  if (name.empty()) return false;
  if (part.name == name) return true;
  return std::ranges::any_of(part.columns, [&](const Parts& column) {
    return std::ranges::any_of(column, [&](const BoardPart& child) { return holds(child, name); });
  });
}

/// Calls `visit` for every shown part, outer ones first.
template <class Visit>
void forShown(Parts& parts, const Visit& visit) {
  for (BoardPart& part : parts) {
    if (!part.shown) continue;
    visit(part);
    if (part.shown)
      for (Parts& column : part.columns) forShown(column, visit);
  }
}

/// Whether the part is a picture or has one.
bool pictures(const BoardPart& part) {
  return part.picture || std::ranges::any_of(part.columns, [](const Parts& column) {
           return std::ranges::any_of(column,
                                      [](const BoardPart& child) { return child.shown && pictures(child); });
         });
}

/// Hides the shown parts that leave next; with `words`, the next that are without pictures. Returns false if
/// none may leave.
bool hideNext(Parts& parts, std::string_view named, bool words) {
  constexpr int kStays = std::numeric_limits<int>::max();
  const auto order = [&](const BoardPart& part) {
    const bool stays = part.leaves == 0 || (part.leaves == kForNamed && named.empty()) ||
                       holds(part, named) || (words && (pictures(part) || part.leaves == kForNamed));
    return stays ? kStays : part.leaves;
  };
  int next = kStays;
  forShown(parts, [&](const BoardPart& part) { next = std::min(next, order(part)); });
  if (next == kStays) return false;
  forShown(parts, [&](BoardPart& part) { part.shown = order(part) != next; });
  for (bool changed = true; changed;) {
    changed = false;
    forShown(parts, [&](BoardPart& part) {
      if (hasContent(part)) return;
      part.shown = false;
      changed = true;
    });
  }
  return true;
}

/// The area that words take at least, in square pixels.
float wordArea(const Parts& parts) {
  float area = 0;
  for (const BoardPart& part : parts) {
    if (!part.shown) continue;
    if (part.columns.empty() && !part.picture) area += part.height.least * (part.right - part.left);
    for (const Parts& column : part.columns) area += wordArea(column);
  }
  return area;
}

/// The least height of the part that matters, with the columns around it.
float namedHeight(const Parts& parts, std::string_view named) {
  for (const BoardPart& part : parts)
    if (part.shown && holds(part, named)) return heightOf(part).least;
  return 0;
}

/// Gives parts of the same number in all columns the same height.
void align(BoardPart& part) {
  for (std::size_t i = 0; i < part.columns.front().size(); ++i) {
    PartHeight highest = part.columns.front()[i].height;
    for (const Parts& column : part.columns) {
      highest.least = std::max(highest.least, column[i].height.least);
      highest.want = std::max(highest.want, column[i].height.want);
    }
    for (Parts& column : part.columns) column[i].height = highest;
  }
}

/// Shares out what is left over among the parts that grow.
void grow(std::vector<float>& heights, const std::vector<PartHeight>& limits, float rest) {
  float weights = 0;
  for (std::size_t i = 0; i < heights.size(); ++i)
    if (heights[i] < limits[i].most) weights += limits[i].grows;
  if (rest < 0.5f || weights <= 0) return;
  float given = 0;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    if (heights[i] >= limits[i].most) continue;
    const float more = std::min(rest * limits[i].grows / weights, limits[i].most - heights[i]);
    heights[i] += more;
    given += more;
  }
  if (given > 0.5f) grow(heights, limits, rest - given);
}

/// Places what is shown, in exactly `height` if its parts allow, with up to `spread` more space between them.
void place(Parts& parts, float top, float height, float spread) {
  std::vector<BoardPart*> shown;
  std::vector<PartHeight> limits;
  std::vector<float> heights;
  float spaces = 0, least = 0, more = 0, pictures = 0;
  for (BoardPart& part : parts) {
    if (!part.shown) continue;
    PartHeight one = heightOf(part);
    if (!shown.empty()) spaces += part.before;
    least += one.least;
    more += std::max(0.0f, one.want - one.least);
    if (part.picture || !part.columns.empty()) pictures += one.least;
    shown.push_back(&part);
    limits.push_back(one);
    heights.push_back(one.least);
  }
  const float extra = height - spaces - least;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    const bool picture = shown[i]->picture || !shown[i]->columns.empty();
    if (extra < 0 && picture && pictures > 0) heights[i] *= std::max(0.0f, 1 + extra / pictures);
    if (extra > 0 && more > 0)
      heights[i] += std::max(0.0f, limits[i].want - limits[i].least) * std::min(1.0f, extra / more);
  }
  grow(heights, limits, extra - more);
  // What nothing takes goes between the parts.
  float rest = height - spaces;
  for (const float one : heights) rest -= one;
  const float apart = spread > 0 && heights.size() > 1
                          ? std::clamp(rest / static_cast<float>(heights.size() - 1), 0.0f, spread)
                          : 0;
  float y = top;
  for (std::size_t i = 0; i < heights.size(); ++i) {
    if (i > 0) y += shown[i]->before + apart;
    shown[i]->top = y;
    y += heights[i];
    shown[i]->bottom = y;
    for (Parts& column : shown[i]->columns) place(column, shown[i]->top, heights[i], 0);
  }
}

}  // namespace

float layBoard(Parts& parts, float top, float height, const BoardRules& rules) {
  float width = 0;
  bool named = false, pictured = false;
  forShown(parts, [&](BoardPart& part) {
    if (part.aligned && !part.columns.empty()) align(part);
    width = std::max(width, part.right - part.left);
    if (!holds(part, rules.named)) return;
    named = true;
    pictured = pictured || pictures(part);
  });
  const std::string_view stays = named ? rules.named : std::string_view{};
  const auto tooHigh = [&] {
    const float needed = sum(parts).least;
    return needed > height + 0.5f ||
           (pictured && needed - namedHeight(parts, rules.named) > kPosterOthers * height);
  };
  while (rules.poster && tooHigh() && hideNext(parts, stays, false)) continue;
  while (rules.poster && wordArea(parts) > kPosterWords * width * height && hideNext(parts, stays, true))
    continue;
  const float needed = sum(parts).least;
  place(parts, top, rules.poster ? height : std::max(height, needed), rules.poster ? height / 16 : 0);
  return needed;
}

}  // namespace headscope::app

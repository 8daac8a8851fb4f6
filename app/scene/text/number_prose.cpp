#include "app/scene/text/number_prose.h"

#include <algorithm>
#include <cctype>

#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Formats "1,234.5" for display; returns anything else unchanged.
std::string shownRun(std::string_view run) {
  const std::size_t point = run.find('.');
  std::string whole(run.substr(0, point));
  const std::string_view fraction = point == std::string_view::npos ? "" : run.substr(point + 1);
  if (!std::ranges::all_of(fraction, isDigit)) return std::string(run);
  if (const std::size_t mark = whole.find(','); mark != std::string::npos) {
    std::string digits = whole;
    std::erase(digits, ',');
    std::string grouped = digits;
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) grouped.insert(at, ",");
    if (grouped != whole || digits.size() > 18) return std::string(run);
    whole = countText(std::stoull(digits));
  }
  return fraction.empty() ? whole : whole + shownNumber("." + std::string(fraction));
}

}  // namespace

std::string shownProse(std::string_view text) {
  if (numberStyle() == NumberStyle::point) return std::string(text);
  std::string shown;
  bool code = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (isDigit(text[end]) || text[end] == '.' || text[end] == ',')) ++end;
    while (end > at && !isDigit(text[end - 1])) --end;
    const char before = at > 0 ? text[at - 1] : ' ', after = end < text.size() ? text[end] : ' ';
    const bool joined = before == '-' && at > 1 && isLetter(text[at - 2]);
    const bool inName = isLetter(before) || isLetter(after) || before == '_' || before == '.' || joined;
    if (end == at) {
      code = code != (text[at] == '`');
      shown += text[at++];
      continue;
    }
    const std::string_view run = text.substr(at, end - at);
    shown += code || inName ? std::string(run) : shownRun(run);
    at = end;
  }
  return shown;
}

}  // namespace headscope::app

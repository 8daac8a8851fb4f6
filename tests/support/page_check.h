#pragma once

#include <string>
#include <vector>

#include "tests/support/ui_driver.h"

namespace headscope::test {

// Rules that every page has to obey, checked by where its widgets and texts were drawn in the last frame.
// Each function returns one sentence per violation.

/// Two widgets, or two lines of text, that overlap without one containing the other.
std::vector<std::string> overlaps(UiDriver& ui);

/// Widgets and texts that extend beyond the window or their panel's clip, unless the panel scrolls there.
enum class Scrolling { reaches, doesnt };  ///< in a hall nobody scrolls
std::vector<std::string> cutOff(UiDriver& ui, Scrolling scrolling = Scrolling::reaches);

/// Texts whose contrast with their background (WCAG 2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio) is
/// below `least`. The background is the same frame drawn without texts.
/// Text on a picture's cells is black or white, whichever reads better. For a tone halfway between them the
/// contrast is 4.58, the most that is possible, so 4.5 is required.
std::vector<std::string> faintTexts(UiDriver& ui, double least = 4.5);

/// Texts with lines lower than `least` pixels.
std::vector<std::string> smallTexts(UiDriver& ui, float least, float ofIndices = FLT_MAX);

/// Marks (see app/platform/canvas.h) that can't be told from their background: in more than a quarter of the
/// visible rows or columns, the strongest pixel has a contrast below `least`. The background is the same
/// frame drawn without marks.
std::vector<std::string> faintMarks(UiDriver& ui, double least = 3);

/// The scene with 64 heads and 200 words, which pages have to find space for.
app::Scene crowdedScene(app::Scene scene);

/// What a presented page breaks of the stage's rule: nothing overlaps, is cut or shortened, and nobody
/// scrolls; pictures and large figures take at least 65 % of the height, and words beside them at most 30 %
/// of the area; no type is smaller than 20 of 720 lines (25 from its highest to its lowest letter), or than
/// 16 above and below a line of a formula; each colour scale has a legend.
std::vector<std::string> stageFlaws(UiDriver& ui);

/// Everything that overlaps or is cut off.
std::vector<std::string> flaws(UiDriver& ui);

}  // namespace headscope::test

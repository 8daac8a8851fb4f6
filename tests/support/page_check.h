#pragma once

#include <string>
#include <vector>

#include "tests/support/ui_driver.h"

namespace headscope::test {

// What has to hold of a page whatever it shows, computed from where its widgets and texts were drawn in the
// last frame. Each returns a sentence for everything that is wrong.

/// Two widgets, or two lines of text, that lie over each other without the one standing in the other.
std::vector<std::string> overlaps(UiDriver& ui);

/// Widgets and texts that reach out of the window or of the panel that clips them, unless it scrolls there.
enum class Scrolling { reaches, doesnt };  ///< in a hall nobody scrolls
std::vector<std::string> cutOff(UiDriver& ui, Scrolling scrolling = Scrolling::reaches);

/// Texts whose contrast (WCAG 2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio) with what they stand on is
/// below `least`. What they stand on is the same frame drawn without them.
/// Ink on a picture's cells is black or white, whichever reads better: on a tone between the two that
/// is 4.58, more is not to be had, and 4.5 is asked of it.
std::vector<std::string> faintTexts(UiDriver& ui, double least = 4.5);

/// Texts whose lines are lower than so many pixels.
std::vector<std::string> smallTexts(UiDriver& ui, float least);

/// Marks (see app/platform/marks.h) that can't be told from what they stand on: their strongest pixel, by row
/// and by column of what of them is seen, has a contrast below `least` in more than a quarter. What they
/// stand on is the same frame drawn without them.
std::vector<std::string> faintMarks(UiDriver& ui, double least = 3);

/// The scene with 64 heads and 200 words, for which pages have to find room.
app::Scene crowdedScene(app::Scene scene);

/// What lies over another or is cut off.
std::vector<std::string> flaws(UiDriver& ui);

}  // namespace headscope::test

#pragma once

#include "app/widgets/view.h"

namespace headscope::app {

/// A part of a sentence, in a meaningful colour.
struct CaptionPart {
  std::string text;
  std::uint32_t color;
  bool atEnd = false;  ///< right-aligned, such as "4 of 12"
};

/// The parts of the window, in framebuffer pixels.
struct Layout {
  ImRect top, left, center, cache, right, status;
  bool narrow = false;    ///< the right panel is a drawer
  bool presents = false;  ///< shows only the page and a line below it
  bool showLeft = true, showRight = true, showCache = true;
  /// The tracked name of what the text next to the page is about. In tight spaces, everything else folds away
  /// first.
  std::string named;
};

/// Adapts the layout to the window and text size: panels fold away before the heads get small. `hasSide` and
/// `hasStrip` say whether the page has a right panel and a bottom strip.
Layout layoutFor(const View& view, float width, float height, bool hasSide, bool hasStrip);

/// Begins an undecorated ImGui window over `area`; `flags` are added to the usual ones.
bool beginPanel(const View& view, const char* name, const ImRect& area, float padX, float padY,
                int flags = 0);
void endPanel();

/// Paints the background of a left panel.
void fillSide(const View& view, const ImRect& area);
/// Call first in a right panel. Paints its background in its own window, since a narrow window shows it as a
/// drawer over the panels `covered`.
void fillDrawer(const View& view, const Layout& layout, std::initializer_list<const char*> covered);
/// Call last in a scrolling left panel. Fades its lower edge if more content is below.
void scrollEdge(const View& view, const ImRect& area);
/// Paints a title in the middle of the area, with smaller text below it.
void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& text,
                  std::uint32_t color);
/// The same for a page that waits for something, with a button below that requests `action`.
void emptyMessage(View& view, const ImRect& area, const std::string& title, const std::string& text,
                  const std::string& label, const char* action);
/// Return "Head 4" and "KV 1", so that the wording is the same everywhere.
std::string headName(Index head);
std::string kvName(Index kvHead);
/// The number of a layer, counted from 0; that in the file for recorded attention, which may leave layers
/// out.
Index layerNumber(const Setup& setup, Index layer);
/// Returns "Layer 1 · " if the setup has several layers or an opened model, otherwise "".
std::string layerPrefix(const Setup& setup);
/// Returns "layer 1 head 2" in those cases, otherwise "head 2".
std::string headWords(const Setup& setup, Index head);

}  // namespace headscope::app

#pragma once

#include <initializer_list>
#include <string>

#include "app/widgets/layout.h"

namespace headscope::app {

/// Paints the background of a left panel.
void fillSide(const View& view, const ImRect& area);
/// Call first in a right panel. Paints its background in its own window, since a narrow window shows it as a
/// drawer over the panels `covered`.
void fillDrawer(const View& view, const Layout& layout, std::initializer_list<const char*> covered);
/// Call last in a scrolling left panel. Fades its lower edge if more content is below.
void scrollEdge(const View& view, const ImRect& area);
/// Returns the panel's area, at least `least` pixels high; what exceeds the panel scrolls.
ImRect tallArea(const ImRect& panel, float least);
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

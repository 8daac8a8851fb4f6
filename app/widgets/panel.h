#pragma once

#include <initializer_list>
#include <string>

#include "app/widgets/layout.h"

namespace headscope::app {

/// The background of a panel at the left.
void fillSide(const View& view, const ImRect& area);
/// First in a panel at the right: its background, which belongs to its own window, since a narrow window
/// shows it as a drawer over the panels `covered`.
void fillDrawer(const View& view, const Layout& layout, std::initializer_list<const char*> covered);
/// Last in a scrolling panel at the left: what is below its edge shows by fading.
void scrollEdge(const View& view, const ImRect& area);
/// The area of the panel that is begun, at least so many pixels high: what is beyond its edge scrolls.
ImRect tallArea(const ImRect& panel, float least);
/// A sentence in the middle of the area, with a smaller one under it.
void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& text,
                  std::uint32_t color);
/// The same for a page that waits for something, with a button below that asks for `action`.
void emptyMessage(View& view, const ImRect& area, const std::string& title, const std::string& text,
                  const std::string& label, const char* action);
/// "Head 4", "KV 1": the same words everywhere.
std::string headName(Index head);
std::string kvName(Index kvHead);
/// "Layer 1 · " where the setup has more layers than the shown one, or an opened model's; else "".
std::string layerPrefix(const Setup& setup);
/// "layer 1 head 2" there, else "head 2".
std::string headWords(const Setup& setup, Index head);

}  // namespace headscope::app

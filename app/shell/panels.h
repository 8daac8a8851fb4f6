#pragma once

#include <string>

#include "app/compute/snapshot.h"
#include "app/scene/scene.h"
#include "app/widgets/layout.h"
#include "app/widgets/view.h"

namespace headscope::app {

// One function per panel. A panel draws a snapshot and edits the scene; it computes nothing.
// `snapshot` may be null before the first computation is done.

void topBar(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void sidePanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void headsPanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void receiptPanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void cachePanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
// The mask studio: layers at the left, the masks in the middle, what they do at the right.
void layersPanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void studioPanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void insightPanel(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
/// First in a scrolling panel at the left: remembers when it moved under the pointer.
void noteScroll(View& view);
/// Last in it: what is below its edge shows by fading.
void scrollEdge(const View& view, const ImRect& area);
// The map: its controls at the left, the head in the rest of the window.
void mapControls(Scene& scene, View& view, const Layout& layout);
void mapPanel(Scene& scene, View& view, const Layout& layout);
void statusLine(Scene& scene, const Snapshot* snapshot, View& view, const Layout& layout);
void dialogs(Scene& scene, const Snapshot* snapshot, View& view);

// Sections of the side panel.
void inputSection(Scene& scene, const Snapshot* snapshot, View& view);
void modelSection(Scene& scene, const Snapshot* snapshot, View& view);
void weightsSection(Scene& scene, const Snapshot* snapshot, View& view);
void maskSection(Scene& scene, const Snapshot* snapshot, View& view);
void moreSection(Scene& scene, View& view);

/// The error that belongs to `place`, or nothing.
const PlacedError* errorAt(const Snapshot* snapshot, Place place);
/// The sequence that is shown, or null when there is none.
const SequenceSnapshot* shownSequence(const Scene& scene, const Snapshot* snapshot);
/// A KV group's colour.
std::uint32_t groupColor(const Theme& theme, Index kvHead);
/// A sentence in the middle of the area, with a smaller one under it.
void paintMessage(const View& view, const ImRect& area, const std::string& title, const std::string& text,
                  std::uint32_t color);
/// "head 4", "KV 1": the same words everywhere.
std::string headName(Index head);
std::string kvName(Index kvHead);

}  // namespace headscope::app

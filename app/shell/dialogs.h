#pragma once

#include <string>
#include <vector>

#include "app/compute/snapshot.h"
#include "app/scene/scene.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// A titled box in the middle of the window over a shade; a click outside or Escape closes it. Sizes in
/// units. With `atBottom` it stands at the lower edge without a shade, so that the heads above stay in sight.
bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom = false);
void endDialog();

/// Folders and files with the given endings, and a line for the path. Answers by view.requestedPath and a
/// request of `action`. When saving, an existing file is named before it is replaced.
void filePicker(View& view, const std::string& title, const std::vector<std::string>& endings, Action action,
                bool saving);

/// The typed embeddings as a table of cells, with paste from a spreadsheet.
void tableEditor(Scene& scene, const Snapshot* snapshot, View& view);

}  // namespace headscope::app

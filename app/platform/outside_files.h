#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

// Files that the program can't see until a person gives them to it: those of the computer on which a browser
// shows the page. Elsewhere there are none.

/// Whether there are such files.
bool hasOutsideFiles();
/// Asks the person for files with those endings.
void askForOutsideFiles(const std::vector<std::string>& endings);
/// Asks the person for a folder.
void askForOutsideFolder();
/// What was given since the last call, as the program sees it now; "" where nothing was.
std::filesystem::path takeOutsideFile();

}  // namespace headscope::app

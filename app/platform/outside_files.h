#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::app {

// Files that the program can't see until the user provides them: in a browser, those on the user's computer.
// Other platforms have none.

/// Whether this platform has such files.
bool hasOutsideFiles();
/// Asks the user for files with those endings.
void askForOutsideFiles(const std::vector<std::string>& endings);
/// Asks the user for a folder.
void askForOutsideFolder();
/// Returns the path of the files chosen since the last call, as the program sees them; "" if none were.
std::filesystem::path takeOutsideFile();

}  // namespace headscope::app

#pragma once

#include <filesystem>

namespace headscope::app {

/// Whether a file declares near its beginning that it is a lesson. Reads a few kilobytes.
bool isLessonFile(const std::filesystem::path& path);

}  // namespace headscope::app

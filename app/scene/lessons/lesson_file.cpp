#include "app/scene/lessons/lesson_file.h"

#include <fstream>
#include <string>

namespace headscope::app {

bool isLessonFile(const std::filesystem::path& path) {
  constexpr std::streamsize kBeginning = 4096;
  std::error_code failed;
  // Opening a pipe could block.
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string text(kBeginning, '\0');
  file.read(text.data(), kBeginning);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.find("\"headscope lesson\"") != std::string::npos;
}

}  // namespace headscope::app

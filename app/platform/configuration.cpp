#include "app/platform/configuration.h"

#include <cstdlib>

namespace headscope::app {

std::filesystem::path configurationFolder() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
    return std::filesystem::path(folder) / "headscope";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".config" / "headscope";
  return {};
}

}  // namespace headscope::app

#include "app/platform/configuration.h"

#include <cstdlib>

namespace headscope::app {

namespace {

std::filesystem::path folderNamed(const char* variable, const char* inHome) {
  if (const char* folder = std::getenv(variable); folder && *folder)
    return std::filesystem::path(folder) / "headscope";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / inHome / "headscope";
  return {};
}

}  // namespace

std::filesystem::path configurationFolder() {
  return folderNamed("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path stateFolder() {
  return folderNamed("XDG_STATE_HOME", ".local/state");
}

}  // namespace headscope::app

#include "app/platform/folders.h"

#include <cstdlib>

#include "app/platform/preferences.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

fs::path named(const char* variable) {
  const char* const folder = std::getenv(variable);
  return folder ? folder : "";
}

fs::path folderNamed(const char* variable, const char* inHome) {
  if (const fs::path folder = named(variable); !folder.empty()) return folder / "headscope";
  const fs::path home = homeFolder();
  return home.empty() ? home : home / inHome / "headscope";
}

}  // namespace

/// Starts also if another version has been installed since.
fs::path thisProgram() {
  return "/proc/self/exe";
}

fs::path programFolder() {
  std::error_code ignored;
  return fs::read_symlink(thisProgram(), ignored).parent_path();
}

fs::path homeFolder() {
  return named("HOME");
}

fs::path configurationFolder() {
  return folderNamed("XDG_CONFIG_HOME", ".config");
}

fs::path stateFolder() {
  return folderNamed("XDG_STATE_HOME", ".local/state");
}

}  // namespace headscope::app

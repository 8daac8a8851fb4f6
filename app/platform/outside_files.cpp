#include "app/platform/outside_files.h"

namespace headscope::app {

bool hasOutsideFiles() {
  return false;
}
void askForOutsideFiles(const std::vector<std::string>&) {}
void askForOutsideFolder() {}
std::filesystem::path takeOutsideFile() {
  return {};
}

}  // namespace headscope::app

#include "app/platform/outside_files.h"

#include <cstdlib>
#include <memory>

#include "app/platform/web/page.h"

namespace headscope::app {

bool hasOutsideFiles() {
  return true;
}

void askForOutsideFiles(const std::vector<std::string>& endings) {
  std::string list;
  for (const std::string& ending : endings) list += (list.empty() ? "" : ",") + ending;
  headscopePageAskForFiles(list.c_str());
}

void askForOutsideFolder() {
  headscopePageAskForFiles("");
}

std::filesystem::path takeOutsideFile() {
  const std::unique_ptr<char, decltype(&std::free)> path(headscopePageTakeFile(), &std::free);
  return path ? std::filesystem::path(path.get()) : std::filesystem::path();
}

}  // namespace headscope::app

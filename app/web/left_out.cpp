// Stubs for what a page in a browser can't do: starting programs.

#include "app/platform/child_program.h"

namespace headscope::app {

bool ChildProgram::available() {
  return false;
}

attention::Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::string&,
                                                                     const std::vector<std::string>&,
                                                                     std::function<void()>) {
  return attention::Error{"A web page can't start another program."};
}

ChildProgram::~ChildProgram() = default;
void ChildProgram::stop() {}

}  // namespace headscope::app

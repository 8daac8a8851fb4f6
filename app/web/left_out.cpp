// What a browser's page does without: it starts no program.

#include "app/platform/child_program.h"

namespace headscope::app {

attention::Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::string&,
                                                                     const std::vector<std::string>&,
                                                                     std::function<void()>) {
  return attention::Error{"films and hand-outs are made by the installed program, not in a browser"};
}

ChildProgram::~ChildProgram() = default;
void ChildProgram::stop() {}
std::string ChildProgram::said() const {
  return "";
}
std::optional<int> ChildProgram::ended() const {
  return std::nullopt;
}

}  // namespace headscope::app

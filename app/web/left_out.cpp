// What a browser's page does without: it starts no program, encodes no films, and draws figures as SVG alone.

#include "app/compute/figures/raster.h"
#include "app/platform/child_program.h"

namespace headscope::app {

attention::Result<render::Image> rasterise(const std::string&, int, int) {
  return attention::Error{"in a browser figures are saved as SVG: give the file a name that ends in .svg"};
}

attention::Result<std::vector<std::uint8_t>> pdfPages(const std::vector<std::string>&, double, double) {
  return attention::Error{"in a browser figures are saved as SVG: give the file a name that ends in .svg"};
}

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

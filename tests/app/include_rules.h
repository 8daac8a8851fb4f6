#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::test {

/// Source files by their path from the root: "app/panels/grid.cpp".
using Sources = std::map<std::string, std::string>;

/// The files that the include lines of `text` name, in order: "app/scene.h" or "vector". Comments are
/// ignored.
std::vector<std::string> includesOf(std::string_view text);

/// Every violation of the rules on includes and on state, as "app/x.cpp: includes epoxy/gl.h; …". The rules:
/// - app includes render and attention; these two don't include each other, app or a window library;
/// - in attention, core includes nothing above it, only core includes kernels, and there are no cycles;
/// - only render/gl.h includes epoxy's GL, and EGL stays in render;
/// - panels and widgets include no GL header, not even through another file;
/// - only app/platform/imgui_compat.h checks ImGui's version; nlohmann and fmt stay out of headers;
/// - visible fractions are formatted by app/scene/text/number_text.h, which knows the settings;
/// - app has no thread_local, and no static variable that is neither constexpr nor const;
/// - code in app/pages/heads is in namespace headscope::app::heads_page, and likewise for each page;
/// - a file has at most 400 lines, a function at most 80.
std::vector<std::string> breaches(const Sources& sources);

}  // namespace headscope::test

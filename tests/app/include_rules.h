#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::test {

/// Source files by their path from the root: "app/panels/grid.cpp".
using Sources = std::map<std::string, std::string>;

/// What the include lines of `text` name: "app/scene.h" or "vector", in order; comments are not read.
std::vector<std::string> includesOf(std::string_view text);

/// Every breach of the rules on which folder may include what, and on what it may keep, as
/// "app/x.cpp: includes epoxy/gl.h; …":
/// - app → render, app → attention; render and attention include nothing of each other, of app or of a
/// window;
/// - in attention, core includes nothing above it, nobody but core includes kernels, no circles;
/// - only render/gl.h includes epoxy's GL, EGL stays in render;
/// - panels and widgets reach no GL header, not even through another file;
/// - only app/platform/imgui_compat.h asks for ImGui's version; nlohmann and fmt stay out of headers;
/// - fractions that are seen are written by app/scene/text/number_text.h, which knows the settings;
/// - app has no thread_local, and no static variable that is neither constexpr nor const;
/// - what is in app/pages/heads is in namespace headscope::app::heads_page, and so for each page;
/// - a file has at most 400 lines, a function at most 80.
std::vector<std::string> breaches(const Sources& sources);

}  // namespace headscope::test

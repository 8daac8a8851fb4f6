#pragma once

namespace headscope::render {

/// Makes all functions of OpenGL that the program calls do nothing, for the rest of the process: objects have
/// numbers, shaders compile, and limits are generous, but nothing is drawn. For figures, which are drawn as
/// lines and text, on systems without OpenGL.
void silenceOpenGl();

}  // namespace headscope::render

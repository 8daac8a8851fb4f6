#pragma once

namespace headscope::app {

/// OpenGL's and ImGui's own code ends the program where it gets no memory for its shaders and fonts: better
/// to say so before. Throws std::runtime_error where the limit on address space leaves less than they need,
/// and `pictureBytes` besides.
void requireAddressSpace(double pictureBytes = 0);

}  // namespace headscope::app

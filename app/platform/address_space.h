#pragma once

namespace headscope::app {

/// Checks the limit on address space in advance, since OpenGL and ImGui end the program if they get no memory
/// for shaders and fonts. Throws std::runtime_error if it leaves less than they need plus `pictureBytes`.
void requireAddressSpace(double pictureBytes = 0);

}  // namespace headscope::app

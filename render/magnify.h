#pragma once

namespace headscope::render {

/// Enlarges what the bound framebuffer of width × height pixels shows by `factor` about (x, y), which stays
/// where it is; y counts from the top. A factor of 1 and below changes nothing.
void magnify(int width, int height, float x, float y, float factor);

}  // namespace headscope::render

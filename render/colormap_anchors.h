#pragma once

#include <array>
#include <cstdint>

/// Anchors of the colormaps, joined by straight lines in sRGB. Each is 0xPPRRGGBB: the position PP in 0..255
/// along the map, and the colour there.
namespace headscope::render::anchors {

// From the published tables of matplotlib 3.6, which releases these colormaps as CC0: viridis and magma by
// Nathaniel Smith, Stéfan van der Walt and Eric Firing (2015); cividis by Nuñez, Anderton and Renslow,
// "Optimizing colormaps with consideration for color vision deficiency" (2018). These are the fewest points
// that keep each of the 256 entries within 1/255 of the table.
inline constexpr std::array<std::uint32_t, 23> kViridis{
    0x00440154, 0x0e481668, 0x1d482979, 0x2c443b84, 0x393e4a89, 0x4638598c, 0x5a2e6d8e, 0x7126828e,
    0x8120928c, 0x8f1f9f88, 0x9a23a983, 0xa22ab07f, 0xaa35b779, 0xb344bf70, 0xbc56c667, 0xc66ccd5a,
    0xd084d44b, 0xe7c0df25, 0xeed2e21b, 0xf2dde318, 0xf6e7e419, 0xfaf1e51d, 0xfffde725};
inline constexpr std::array<std::uint32_t, 22> kCividis{
    0x0000224e, 0x1300306f, 0x17013271, 0x1c123570, 0x221e3a6f, 0x2b2b406d, 0x3436466c, 0x4245506c,
    0x54565c6d, 0x6b6b6d72, 0x7e7b7a78, 0x938f8a78, 0xa49f9775, 0xb3aea371, 0xc0bcae6c, 0xcdc9b965,
    0xdbd9c55c, 0xe8e7d150, 0xf3f3db42, 0xfbfde334, 0xfcfee434, 0xfffee838};
inline constexpr std::array<std::uint32_t, 22> kMagma{
    0x00000004, 0x04020109, 0x0d07061c, 0x1d19103f, 0x26251255, 0x2f341069, 0x36400f74, 0x3d4c117a,
    0x465a167e, 0x516b1d81, 0x5f812581, 0x6b942c80, 0x81b83779, 0x98dc4869, 0xa4eb5760, 0xaff4695c,
    0xb8f9795d, 0xc2fc8c63, 0xcffea571, 0xddfebf84, 0xecfdda9c, 0xfffcfdbf};

// Our own maps, designed in CIE LCh with even steps of lightness. Neither end is near black or white, so
// cells stand out from dark and light pages. Lightness runs from 20 to 88 in blues and from 22 to 88 in
// greys.
inline constexpr std::array<std::uint32_t, 11> kBlues{0x000c2e67, 0x1a103e7e, 0x33164e94, 0x4c1e60aa,
                                                      0x662c72bd, 0x803984d0, 0x994797e4, 0xb254aaf7,
                                                      0xcc7cbcfa, 0xe6a0cefc, 0xffc3e0fd};
inline constexpr std::array<std::uint32_t, 11> kGreys{0x00323538, 0x1a414447, 0x33505357, 0x4c606367,
                                                      0x66707377, 0x80818488, 0x99929599, 0xb2a4a7ab,
                                                      0xccb5b8bd, 0xe6c8cbcf, 0xffdadde1};
// Purple below and green above, with equal lightness at equal distances from the neutral middle (24 in the
// middle, 76 at the ends). Common kinds of colour blindness tell the two apart, and neither is a colour used
// for query or key.
inline constexpr std::array<std::uint32_t, 18> kDiverging{
    0x00e5a2ff, 0x10d58ff1, 0x20bd82d4, 0x30a676b8, 0x408f699d, 0x4f795d83,
    0x5f635169, 0x6f4e4551, 0x7f393939, 0x80393939, 0x90414a3f, 0xa0485c45,
    0xb04f6f4b, 0xbf558251, 0xcf5b9557, 0xdf60a95d, 0xef66bd63, 0xff78cf74};

}  // namespace headscope::render::anchors

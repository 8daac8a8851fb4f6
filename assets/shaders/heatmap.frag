// One pixel of a heatmap: which cell it lies in, what that cell holds, and what colour this makes.
// A software rasteriser pays for every operation on every pixel, taken branches or not: whatever is the same
// for all pixels comes ready-made in a uniform, and what many pictures do without is behind a define.

uniform sampler2DArray currentValues;
#ifdef MIX_PREVIOUS
uniform sampler2DArray previousValues;
uniform float blend;  // how much of the current values
#endif
uniform sampler2D colormap;  // 256 × 1

uniform int layer;
uniform vec2 cellsPerPixel, firstPixel;  // from gl_FragCoord to cells; rows are counted downwards
uniform ivec2 firstCell, lastCell;       // the cell at 0, 0 of the above; the last of the matrix
uniform vec2 range;                      // low, 255 / (high − low); of the logarithms where there are any
uniform bool logarithmic;
uniform int litRows;
uniform float fade;
uniform vec3 background;
uniform vec3 maskedColor, deadColor, nanColor;  // with MARKS the first two are the lines' colours
#ifdef MARKS  // gaps and hatch lines, which small cells do without
uniform vec2 cellSize;  // pixels
uniform vec2 gap;  // width in pixels, plus one; how strong
uniform vec3 hatchGround;
uniform vec3 hatchWave;  // lines to a pixel; where the rising and the falling ones begin
uniform vec2 hatchLine;  // half a line's width plus half a pixel; pixels from line to line
uniform vec3 hatchTone;  // how much lines cover of masked, of dead cells; how much of this even tone is shown
#endif

out vec4 pixel;

vec3 colorOf(float value) {
  float v = logarithmic ? log2(max(value, 1.17549435e-38)) : value;
  int entry = int(clamp((v - range.x) * range.y + 0.5, 0.0, 255.0));
  return texelFetch(colormap, ivec2(clamp(entry, 0, 255), 0), 0).rgb;
}

// By bits, since isnan and comparisons with infinity may be optimised away.
const uint kMasked = 0xff800000u, kDead = 0xff7fffffu, kExponent = 0x7f800000u;
bool isSpecial(uint bits) { return (bits & kExponent) == kExponent || bits == kDead; }

vec3 specialColor(uint bits) {
  vec3 color = bits == kDead ? deadColor : maskedColor;
#ifdef MARKS
  // Diagonals of the screen, not of the cell, so that they run on from cell to cell.
  vec2 along = vec2(gl_FragCoord.x - gl_FragCoord.y, gl_FragCoord.x + gl_FragCoord.y);
  vec2 off = abs(fract(along * hatchWave.x + hatchWave.yz) - 0.5);
  float nearest = bits == kDead ? min(off.x, off.y) : off.x;
  float tone = bits == kDead ? hatchTone.y : hatchTone.x;
  float line = clamp(hatchLine.x - nearest * hatchLine.y, 0.0, 1.0);
  color = mix(hatchGround, color, mix(line, tone, hatchTone.z));
#endif
  return bits == kDead || bits == kMasked ? color : nanColor;
}

void main() {
  vec2 at = gl_FragCoord.xy * cellsPerPixel + firstPixel;
  vec2 whole = floor(at);
  ivec2 cell = clamp(ivec2(whole) + firstCell, ivec2(0), lastCell);

  float value = texelFetch(currentValues, ivec3(cell, layer), 0).r;
  uint bits = floatBitsToUint(value);
  bool special = isSpecial(bits);
#ifdef MIX_PREVIOUS
  float before = texelFetch(previousValues, ivec3(cell, layer), 0).r;
  value = isSpecial(floatBitsToUint(before)) ? value : mix(before, value, blend);
#endif
  vec3 color = colorOf(special ? 0.0 : value);
  color = special ? specialColor(bits) : color;

  float shown = cell.y < litRows ? 1.0 : fade;
#ifdef MARKS
  // The whole pixels from this one up to the next cell, to the right or below: the last ones are the gap.
  vec2 toEdge = (1.0 - (at - whole)) * cellSize;
  shown *= 1.0 - gap.y * clamp(gap.x - ceil(min(toEdge.x, toEdge.y)), 0.0, 1.0);
#endif
  pixel = vec4(mix(background, color, shown), 1.0);
}

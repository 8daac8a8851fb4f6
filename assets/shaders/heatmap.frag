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
uniform int litRows;
uniform float fade;
uniform vec3 background;
uniform vec3 maskedColor, deadColor, nanColor;  // with MARKS the first two are the lines' colours
#ifdef POOL  // cells smaller than a pixel
uniform vec4 pooled;  // the part of the matrix that is shown, as firstPixel: its first column and row, and behind its last
uniform bool poolMean;
#endif
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
#ifdef LOGARITHMIC
  float v = log2(max(value, 1.17549435e-38));
#else
  float v = value;
#endif
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

#ifdef POOL
// Every cell belongs to the pixel its middle lies in; what is left over at the edge of what is shown, to the last one.
float pooledValue(vec2 at) {
  vec2 radius = 0.5 * abs(cellsPerPixel);
  vec2 from = at - radius, to = at + radius;
  from = mix(from, pooled.xy, lessThan(from - radius, pooled.xy));
  to = mix(to, pooled.zw, greaterThan(to + radius, pooled.zw));
  ivec2 first = ivec2(ceil(from - 0.5)), last = ivec2(ceil(to - 0.5)) - 1;
  ivec2 middle = ivec2(floor(at));
  if (last.x < first.x) first.x = last.x = middle.x;
  if (last.y < first.y) first.y = last.y = middle.y;
  first = clamp(first + firstCell, ivec2(0), lastCell);
  last = clamp(last + firstCell, first, min(lastCell, first + 7));
  // Masked is −∞ and dead the lowest number there is: the order of floats is the order of meaning.
  float most = uintBitsToFloat(kMasked), sum = 0.0, cells = 0.0;
  for (int y = first.y; y <= last.y; ++y)
    for (int x = first.x; x <= last.x; ++x) {
      float value = texelFetch(currentValues, ivec3(x, y, layer), 0).r;
      most = value > most ? value : most;
      sum += isSpecial(floatBitsToUint(value)) ? 0.0 : value;
      cells += 1.0;
    }
  return poolMean && !isSpecial(floatBitsToUint(most)) ? sum / cells : most;
}
#endif

void main() {
  vec2 at = gl_FragCoord.xy * cellsPerPixel + firstPixel;
  vec2 whole = floor(at);
  ivec2 cell = clamp(ivec2(whole) + firstCell, ivec2(0), lastCell);

#ifdef POOL
  float value = pooledValue(at);
#else
  float value = texelFetch(currentValues, ivec3(cell, layer), 0).r;
#endif
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

// One pixel of a heatmap: which cell it lies in, what that cell holds, and what colour this makes.
// A software rasteriser pays for every operation on every pixel, taken branches or not: whatever is the same
// for all pixels comes ready-made in a uniform, and what many pictures do without is behind a define.

uniform sampler2D currentValues;
#ifdef MIX_PREVIOUS
uniform sampler2D previousValues;
uniform float blend;  // how much of the current values
#endif
uniform sampler2D colormap;  // the layout is HeatmapLookup's

uniform vec2 cellsPerPixel, firstPixel;  // from gl_FragCoord to cells; rows are counted downwards
uniform vec2 firstCell;                  // the middle of the cell at 0, 0 of the above
uniform vec2 perCell;                    // from cells to the matrix as 0 … 1: beyond it are its outermost cells
uniform vec2 range;                      // low, 255 / (high − low); of the logarithms where there are any
#if defined(FADE) || defined(MARKS)
uniform float litRows;
uniform float fade;
uniform vec3 background;
#endif
#ifdef POOL  // cells smaller than a pixel
uniform vec4 pooled;  // the part of the matrix that is shown, as firstPixel: its first column and row, and behind its last
uniform ivec2 lastCell;  // of the matrix
#endif
#ifdef MARKS  // gaps and hatch lines, which small cells do without
uniform vec2 cellSize;  // pixels
uniform vec2 gap;  // width in pixels, plus one; how strong
uniform vec4 hatch;  // pixels between lines and its inverse; where falling and rising ones begin, as parts of it
#endif

out vec4 pixel;

// By bits, since isnan and comparisons with infinity may be optimised away.
const uint kMasked = 0xff800000u, kDead = 0xff7fffffu, kExponent = 0x7f800000u;
bool isSpecial(uint bits) { return (bits & kExponent) == kExponent || bits == kDead; }

// Of a value, or of the cell of these bits where they are special.
vec3 colorOf(float value, uint bits) {
#ifdef LOGARITHMIC
  value = log2(max(value, 1.17549435e-38));
#endif
#ifdef MARKS
  // Diagonals of the screen, not of the cell, so that they run on from cell to cell.
  vec2 along = vec2(gl_FragCoord.x - gl_FragCoord.y, gl_FragCoord.x + gl_FragCoord.y);
  ivec2 place = ivec2(fract(along * hatch.y + hatch.zw) * hatch.x);
  int period = int(hatch.x);
#else
  const ivec2 place = ivec2(0);
  const int period = 1;
#endif
  ivec2 entry = ivec2(clamp((value - range.x) * range.y + 0.5, 0.0, 255.0), 0);
  if ((bits & kExponent) == kExponent) entry = bits == kMasked ? ivec2(256 + place.x, period) : ivec2(0, 1);
  if (bits == kDead) entry = ivec2(256 + place.x, place.y);
  return texelFetch(colormap, entry, 0).rgb;
}

#ifdef POOL
// Masked is −∞ and dead the lowest number there is: the order of floats is the order of meaning.
float larger(float a, float b) { return b > a ? b : a; }
float cellAt(ivec2 cell) { return textureLod(currentValues, (vec2(cell) + 0.5) * perCell, 0.0).r; }

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
  ivec2 origin = ivec2(floor(firstCell));
  first = clamp(first + origin, ivec2(0), lastCell);
  last = clamp(last + origin, first, min(lastCell, first + 7));
#ifdef MEAN
  float most = uintBitsToFloat(kMasked), sum = 0.0, cells = 0.0;
  for (int y = first.y; y <= last.y; ++y)
    for (int x = first.x; x <= last.x; ++x) {
      float value = cellAt(ivec2(x, y));
      most = larger(most, value);
      sum += isSpecial(floatBitsToUint(value)) ? 0.0 : value;
      cells += 1.0;
    }
  return isSpecial(floatBitsToUint(most)) ? most : sum / cells;
#else
  // Two cells a side come without a loop, which costs a software rasteriser more; only edges have a third.
  ivec2 next = min(first + 1, last);
  float most = larger(larger(uintBitsToFloat(kMasked), cellAt(first)), cellAt(ivec2(next.x, first.y)));
  most = larger(larger(most, cellAt(ivec2(first.x, next.y))), cellAt(next));
  for (int y = first.y; y <= last.y; ++y)
    for (int x = y < first.y + 2 ? first.x + 2 : first.x; x <= last.x; ++x) most = larger(most, cellAt(ivec2(x, y)));
  return most;
#endif
}
#endif

void main() {
  vec2 at = gl_FragCoord.xy * cellsPerPixel + firstPixel;
  vec2 middle = floor(at) + firstCell;  // of the cell, which is what texelFetch gives, only faster in software

#ifdef POOL
  float value = pooledValue(at);
#else
  float value = textureLod(currentValues, middle * perCell, 0.0).r;
#endif
  uint bits = floatBitsToUint(value);
#ifdef MIX_PREVIOUS
  float before = textureLod(previousValues, middle * perCell, 0.0).r;
  value = isSpecial(floatBitsToUint(before)) ? value : mix(before, value, blend);
#endif
  vec3 color = colorOf(value, bits);

#if defined(FADE) || defined(MARKS)
  float shown = middle.y < litRows ? 1.0 : fade;
#ifdef MARKS
  // The whole pixels from this one up to the next cell, to the right or below: the last ones are the gap.
  vec2 toEdge = (1.0 - fract(at)) * cellSize;
  shown *= 1.0 - gap.y * clamp(gap.x - ceil(min(toEdge.x, toEdge.y)), 0.0, 1.0);
#endif
  color = mix(background, color, shown);
#endif
  pixel = vec4(color, 1.0);
}

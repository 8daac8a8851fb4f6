// One pixel of an enlarged picture, mixed from the four that are nearest to it.
// Without the texture unit's own filter: a software rasteriser with wide vectors has one that ends the program.

uniform sampler2D picture;
uniform vec2 first;  // what the lower left corner shows, in pixels of the picture
uniform float stride;  // and how far apart neighbours are

out vec4 color;

vec4 pixel(ivec2 at) { return texelFetch(picture, clamp(at, ivec2(0), textureSize(picture, 0) - 1), 0); }

void main() {
  vec2 at = first + gl_FragCoord.xy * stride - 0.5;
  ivec2 low = ivec2(floor(at));
  vec2 share = fract(at);
  vec4 lower = mix(pixel(low), pixel(low + ivec2(1, 0)), share.x);
  vec4 upper = mix(pixel(low + ivec2(0, 1)), pixel(low + ivec2(1, 1)), share.x);
  color = mix(lower, upper, share.y);
}

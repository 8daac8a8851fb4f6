// Covers the whole viewport; the scissor cuts out the pixels of the heatmap, so no edge is ever rounded here.
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(2.0 * corner - 1.0, 0.0, 1.0);
}

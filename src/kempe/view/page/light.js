// Solids and lines with hidden surfaces, lit from above the eye: what the graphics card is told.

const SOLID_CORNERS = `#version 300 es
uniform mat4 seen;
uniform mat3 turned;
uniform vec4 ground;
uniform bool flat_;
in vec3 corner, normal;
in mat4x3 place;
in vec4 colour;
out vec3 facing;
out vec4 hue;
void main() {
  vec3 at = place * vec4(corner, 1.0);
  if (flat_) at -= (dot(at, ground.xyz) - ground.w) * ground.xyz;
  // normals go with the cofactors of a place, whatever is stretched
  facing = turned * (mat3(cross(place[1], place[2]), cross(place[2], place[0]), cross(place[0], place[1])) * normal);
  hue = colour;
  gl_Position = seen * vec4(at, 1.0);
}`

const SOLID_COLOURS = `#version 300 es
precision highp float;
uniform bool flat_;
uniform vec3 shade;
in vec3 facing;
in vec4 hue;
out vec4 pixel;
void main() {
  if (flat_) { pixel = vec4(shade, 1.0); return; }
  vec3 n = normalize(facing), light = normalize(vec3(-0.35, 0.6, 0.72));
  n = n.z < 0.0 ? -n : n;
  float lit = max(dot(n, light), 0.0), rim = smoothstep(0.0, 0.32, n.z);
  float shine = 0.16 * pow(max(reflect(-light, n).z, 0.0), 24.0);
  pixel = vec4((hue.rgb * (0.52 + 0.48 * lit) * (0.62 + 0.38 * rim) + shine) * hue.a, hue.a);
}`

// A line is a strip that faces the eye, of a width in pixels: four corners for each of its pieces.
const LINE_CORNERS = `#version 300 es
uniform mat4 seen;
uniform vec2 window;
uniform float width, nearer;
in vec3 start, end;
void main() {
  vec4 a = seen * vec4(start, 1.0), b = seen * vec4(end, 1.0);
  vec2 ahead = (b.xy / b.w - a.xy / a.w) * window;
  float size = length(ahead);
  ahead = size > 0.0 ? ahead / size : vec2(1.0, 0.0);
  vec2 away = vec2(-ahead.y, ahead.x) * (gl_VertexID % 2 == 0 ? 1.0 : -1.0) + ahead * (gl_VertexID < 2 ? -0.5 : 0.5);
  vec4 here = gl_VertexID < 2 ? a : b;
  gl_Position = here + vec4(away * width / window * here.w, -nearer * here.w, 0.0);
}`

const LINE_COLOURS = `#version 300 es
precision highp float;
uniform vec4 colour;
out vec4 pixel;
void main() { pixel = vec4(colour.rgb * colour.a, colour.a); }`

class Light {
  /** gl is a drawing context; meshes are {vertices, normals, triangles} by name. */
  constructor(gl, meshes) {
    this.gl = gl
    this.solids = this.program(SOLID_CORNERS, SOLID_COLOURS)
    this.lines = this.program(LINE_CORNERS, LINE_COLOURS)
    this.places = gl.createBuffer()  // of the solids that are drawn next: sixteen numbers each, axes, origin and colour
    this.meshes = Object.fromEntries(Object.entries(meshes).map(([name, mesh]) => [name, this.mesh(mesh)]))
    gl.enable(gl.DEPTH_TEST)
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
  }

  program(corners, colours) {
    const {gl} = this, program = gl.createProgram(), found = {program}
    for (const [kind, text] of [[gl.VERTEX_SHADER, corners], [gl.FRAGMENT_SHADER, colours]]) {
      const shader = gl.createShader(kind)
      gl.shaderSource(shader, text)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
    }
    gl.linkProgram(program)
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program))
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const {name} = gl.getActiveUniform(program, k)
      found[name] = gl.getUniformLocation(program, name)
    }
    return found
  }

  filled(values, kind = this.gl.ARRAY_BUFFER) {
    const {gl} = this, buffer = gl.createBuffer()
    gl.bindBuffer(kind, buffer)
    gl.bufferData(kind, values, gl.STATIC_DRAW)
    return buffer
  }

  mesh({vertices, normals, triangles}) {
    const {gl, solids: {program}} = this, array = gl.createVertexArray()
    gl.bindVertexArray(array)
    for (const [name, values] of [["corner", vertices], ["normal", normals]]) {
      const place = gl.getAttribLocation(program, name)
      this.filled(values)
      gl.enableVertexAttribArray(place)
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 0, 0)
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places)
    const first = gl.getAttribLocation(program, "place")
    for (let column = 0; column < 5; column++) {
      const place = column < 4 ? first + column : gl.getAttribLocation(program, "colour")
      gl.enableVertexAttribArray(place)
      gl.vertexAttribPointer(place, column < 4 ? 3 : 4, gl.FLOAT, false, 64, 12 * column)
      gl.vertexAttribDivisor(place, 1)
    }
    this.filled(Uint32Array.from(triangles), gl.ELEMENT_ARRAY_BUFFER)
    gl.bindVertexArray(null)
    return {array, count: triangles.length}
  }

  /** A line through points (x, y, z one after the other), or single strokes between pairs of them. */
  line(points, strokes = false) {
    const {gl, lines: {program}} = this, array = gl.createVertexArray()
    gl.bindVertexArray(array)
    const buffer = this.filled(points)
    for (const [name, offset] of [["start", 0], ["end", 12]]) {
      const place = gl.getAttribLocation(program, name)
      gl.enableVertexAttribArray(place)
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, strokes ? 24 : 12, offset)
      gl.vertexAttribDivisor(place, 1)
    }
    gl.bindVertexArray(null)
    return {array, buffer, count: strokes ? points.length / 6 : points.length / 3 - 1}
  }

  drop(line) {
    this.gl.deleteBuffer(line.buffer)
    this.gl.deleteVertexArray(line.array)
  }

  /** Begin a picture: an empty page, seen through a matrix. */
  begin(seen, turned, width, height) {
    const {gl} = this
    Object.assign(this, {seen, turned, window: [width, height]})
    gl.viewport(0, 0, width, height)
    gl.clearColor(0, 0, 0, 0)
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT)
  }

  /** Draw solids: for each surface {mesh, data}, sixteen numbers a solid. */
  draw(groups) {
    this.solid()
    for (const group of groups) this.all(group)
  }

  /** Draw what is translucent over it, farthest first, and of it only the front. */
  drawClear(groups) {
    const {gl, seen} = this, far = ({data}) => seen[3] * data[9] + seen[7] * data[10] + seen[11] * data[11]
    this.solid()
    gl.enable(gl.BLEND)
    gl.enable(gl.CULL_FACE)
    gl.depthMask(false)
    for (const group of groups.sort((a, b) => far(b) - far(a))) this.all(group)
    gl.depthMask(true)
    gl.disable(gl.CULL_FACE)
    gl.disable(gl.BLEND)
  }

  /** Draw the shadows of solids on the ground (its upward direction and height); they hide nothing. */
  drawShadows(groups, ground, shade) {
    const {gl, solids: p} = this
    this.solid()
    gl.uniform1i(p.flat_, 1)
    gl.uniform4f(p.ground, ...ground)
    gl.uniform3f(p.shade, ...shade)
    gl.depthMask(false)
    for (const group of groups) this.all(group)
    gl.depthMask(true)
  }

  solid() {
    const {gl, solids: p} = this
    gl.useProgram(p.program)
    gl.uniformMatrix4fv(p.seen, false, this.seen)
    gl.uniformMatrix3fv(p.turned, false, this.turned)
    gl.uniform1i(p.flat_, 0)
  }

  all({mesh, data}) {
    const {gl} = this, {array, count} = this.meshes[mesh]
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places)
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW)
    gl.bindVertexArray(array)
    gl.drawElementsInstanced(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0, data.length / 16)
    gl.bindVertexArray(null)
  }

  /** Draw a line of some width in pixels. */
  stroke({array, count}, colour, width, nearer = 0) {
    const {gl, lines: p} = this
    if (count < 1) return
    gl.useProgram(p.program)
    gl.uniformMatrix4fv(p.seen, false, this.seen)
    gl.uniform2f(p.window, ...this.window)
    gl.uniform1f(p.width, width)
    gl.uniform1f(p.nearer, nearer)
    gl.uniform4f(p.colour, ...colour, 1)
    gl.bindVertexArray(array)
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count)
    gl.bindVertexArray(null)
  }
}

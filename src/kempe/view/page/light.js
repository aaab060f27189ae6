// Solids and lines with hidden surfaces, lit from above the eye: what the graphics card is told.

const SOLID_CORNERS = `#version 300 es
uniform mat4 seen, place;
uniform mat3 turned;
in vec3 corner, normal;
out vec3 facing;
void main() {
  mat3 m = mat3(place);  // normals go with its cofactors, whatever is stretched
  facing = turned * (mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])) * normal);
  gl_Position = seen * (place * vec4(corner, 1.0));
}`

const SOLID_COLOURS = `#version 300 es
precision highp float;
uniform vec4 colour;
uniform float shaded;
in vec3 facing;
out vec4 pixel;
void main() {
  vec3 n = normalize(facing), light = normalize(vec3(-0.35, 0.6, 0.72));
  n = n.z < 0.0 ? -n : n;
  float lit = max(dot(n, light), 0.0), rim = smoothstep(0.0, 0.32, n.z);
  float shine = 0.16 * pow(max(reflect(-light, n).z, 0.0), 24.0);
  vec3 seen = colour.rgb * (0.52 + 0.48 * lit) * (0.62 + 0.38 * rim) + shine;
  pixel = vec4((shaded > 0.5 ? seen : colour.rgb) * colour.a, colour.a);
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

  /** Draw solids {mesh, place, colour, alpha}; flat ones are not shaded and hide nothing. */
  draw(solids, {flat = false} = {}) {
    const {gl, solids: p} = this
    gl.useProgram(p.program)
    gl.uniformMatrix4fv(p.seen, false, this.seen)
    gl.uniformMatrix3fv(p.turned, false, this.turned)
    gl.uniform1f(p.shaded, flat ? 0 : 1)
    const clear = solids.filter(({alpha}) => alpha < 1)
    gl.depthMask(!flat)
    gl.disable(gl.BLEND)
    for (const solid of solids) if (!(solid.alpha < 1) || flat) this.solid(solid)
    if (flat) return gl.depthMask(true)
    gl.enable(gl.BLEND)
    gl.depthMask(false)
    gl.enable(gl.CULL_FACE)  // of what is translucent only the front is seen, farthest first
    const far = ({place}) => this.seen[3] * place[12] + this.seen[7] * place[13] + this.seen[11] * place[14]
    for (const solid of clear.sort((a, b) => far(b) - far(a))) this.solid(solid)
    gl.disable(gl.CULL_FACE)
    gl.disable(gl.BLEND)
    gl.depthMask(true)
  }

  solid({mesh, place, colour, alpha}) {
    const {gl, solids: p} = this, {array, count} = this.meshes[mesh]
    gl.uniformMatrix4fv(p.place, false, place)
    gl.uniform4f(p.colour, ...colour, alpha)
    gl.bindVertexArray(array)
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0)
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

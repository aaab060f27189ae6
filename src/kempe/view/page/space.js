// A moving mechanism in space: its solids, put where they are in a row of the run, with shadows, paths, arrows and names.

class Space {
  constructor(content) {
    this.traced = new Set(content.traces)
    this.canvas = make("canvas", {tabindex: 0, role: "img", "aria-label": "the mechanism; drag to turn it, with Shift to move it; a, d, w, s turn, + and − zoom"})
    this.svg = stroke("svg", {class: "over", "aria-hidden": "true"})
    this.layers = Object.fromEntries(["triad", "names", "words"].map((name) => [name, stroke("g", {class: name})]))
    this.svg.append(...Object.values(this.layers))
    byId("picture").classList.add("space")
    byId("picture").append(this.canvas, this.svg)
    this.names = new Names(this.layers.names)
    this.arrows = new SpaceArrows()
    const {pictures, view} = content, corners = pictures.flatMap((picture) => picture.corners)
    this.eye = new Eye(this.canvas, {level: pictures[0].level, view, corners}, () => this.again())
    this.begin()
    this.listen()
    new ResizeObserver(() => this.resize()).observe(byId("picture"))
    new MutationObserver(() => this.again()).observe(document.documentElement, {attributeFilter: ["data-theme"]})
  }

  static get possible() { return Boolean(make("canvas").getContext("webgl2")) }

  /** Tell the graphics card what there is: at first, and when it has forgotten. */
  begin() {
    this.light = new Light(this.canvas.getContext("webgl2", {antialias: true, alpha: true}), report.meshes)
    this.floors = new Map()
    this.lines = []
    this.along = null
  }

  take(run, picture) {
    this.run = run
    this.row = 0
    this.picture = picture
    this.solids = picture ? grouped(picture.pieces) : []
    this.names.take(picture ? picture.names : [])
    this.arrows.take(run.loads || [])
    this.offer()
    this.resize()
  }

  // --- where things are

  resize() {
    const width = byId("picture").clientWidth
    if (!width) return
    const phone = innerWidth < 640
    this.width = width
    this.height = Math.round(phone ? clamp(width, 200, 0.58 * innerHeight) : clamp(0.74 * width, 0.42 * innerHeight, Math.max(280, innerHeight - 240)))
    const sharp = Math.min(devicePixelRatio || 1, 2.5)
    Object.assign(this.canvas, {width: Math.round(this.width * sharp), height: Math.round(this.height * sharp)})
    this.canvas.style.height = `${this.height}px`
    fitted(this.svg, {viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height}, [])
    this.show(this.row)
  }

  /** A frame in a row: axes and origin, column by column. */
  frame(number, row = this.row, run = this.run) {
    if (number == 0) return WORLD
    const {frames, t: {length}} = run, at = 12 * (number - 1) * length + row
    return Float32Array.from({length: 12}, (_, k) => frames[at + k * length])
  }

  /** A point of the scene in space. */
  place(index, row = this.row) {
    const [frame, x, y, z] = this.picture.points[index], f = this.frame(frame, row)
    return [0, 1, 2].map((c) => f[c] * x + f[3 + c] * y + f[6 + c] * z + f[9 + c])
  }

  /** A place of space in pixels, and how far it is. */
  pixel(place) {
    const [x, y, , w] = this.matrix.all.map((row) => dotted(row, place) + row[3])
    return [this.width / 2 * (1 + x / w), this.height / 2 * (1 - y / w), w]
  }

  at(index, row = this.row) { return this.pixel(this.place(index, row)) }

  get behind() { return report.content.behind == null ? null : report.runs[report.content.behind] }

  // --- one row

  /** Draw again soon, and once however often it was asked for. */
  again() {
    if (this.waiting) return
    this.waiting = requestAnimationFrame(() => { this.waiting = null; this.show(this.row) })
  }

  show(row) {
    this.row = row
    if (!this.width || !this.run || this.lost) return
    const there = this.picture && row < this.run.t.length
    for (const element of [this.canvas, this.svg]) element.style.visibility = there ? "" : "hidden"
    if (!there) return
    this.dark = document.documentElement.dataset.theme == "dark"
    this.matrix = this.eye.matrix(this.width / this.height)
    const {light} = this, {width, height} = this.canvas
    light.begin(this.matrix.seen, this.matrix.turned, width, height)
    const signs = !byId("loads").checked  // else arrows to scale stand for the signs of forces
    const groups = this.put(this.solids.filter(({layer}) => signs || layer != "load"), row, this.run)
    const beside = this.behind && this.behind != this.run ? this.other() : []
    const solid = groups.filter(({clear}) => !clear), arrows = this.arrows.solids(this, row)
    this.floor(groups)
    light.draw([...solid, ...arrows])
    this.trace()
    light.drawClear([...groups, ...beside].filter(({clear}) => clear))
    this.triad()
    this.names.show(this)
  }

  /** Solids where they are in a row; those of another run pale. */
  put(groups, row, run, pale = 1) {
    const frames = new Map()
    for (const {pieces, data} of groups)
      pieces.forEach(({frame, place, hue, alpha}, n) => {
        if (!frames.has(frame)) frames.set(frame, this.frame(frame, row, run))
        const f = frames.get(frame)
        for (let k = 0; k < 12; k += 3)
          for (let c = 0; c < 3; c++)
            data[16 * n + k + c] = f[c] * place[k] + f[3 + c] * place[k + 1] + f[6 + c] * place[k + 2] + (k == 9 ? f[9 + c] : 0)
        data.set(this.lift(hue), 16 * n + 12)
        data[16 * n + 15] = pale * alpha
      })
    return groups
  }

  /** The solids of another run behind this one, at the same time. */
  other() {
    const run = this.behind, row = nearest(run.t, this.run.t[this.row])
    this.beside ||= grouped(report.content.pictures[run.picture].pieces, true)
    return this.put(this.beside, row, run, 0.3)
  }

  /** On dark paper colours are lighter. */
  lift(colour) { return this.dark ? colour.map((c) => c + 0.28 * (1 - c)) : colour }

  /** A grid below everything, and the shadows on it where one looks from above. */
  floor(solids) {
    const {floor} = this.picture, {light} = this
    if (!this.floors.has(floor)) this.floors.set(floor, light.line(new Float32Array(floor.lines), true))
    const up = this.eye.level[2], height = floor.height, above = dotted(up, this.matrix.place) > height
    if (above) {
      const colour = this.dark ? [0.075, 0.085, 0.1] : [0.915, 0.92, 0.93]
      light.drawShadows(solids, [...up, height], colour)
    }
    const sharp = this.canvas.width / this.width
    light.stroke(this.floors.get(floor), this.dark ? [0.26, 0.28, 0.32] : [0.84, 0.85, 0.87], sharp, above ? 1e-6 : 0)
    this.layers.words.replaceChildren(stroke("text", {x: this.width - 8, y: this.height - 8, "text-anchor": "end", opacity: 0.85},
      `grid ${short(floor.pitch)} ${report.content.units.length}`.trim()), ...this.arrows.words(this))
  }

  /** The directions of x, y and z, in a corner. */
  triad() {
    const [right, up] = this.eye.axes, x0 = 40, y0 = this.height - 38
    this.layers.triad.replaceChildren(...["x", "y", "z"].flatMap((letter, c) => {
      const [dx, dy] = [26 * right[c], -26 * up[c]]
      return [stroke("path", {class: `axis ${letter}`, d: `M${x0} ${y0}l${dx} ${dy}`}),
        stroke("text", {class: `letter ${letter}`, x: x0 + 1.35 * dx, y: y0 + 1.35 * dy + 4, "text-anchor": "middle"}, letter)]
    }))
  }

  // --- paths of points

  trace() {
    const seen = `${this.run.number} ${[...this.traced].join()}`
    if (seen != this.along) {
      this.along = seen
      for (const {line} of this.lines) this.light.drop(line)
      this.lines = [...this.traced].filter((name) => name in this.picture.traces).map((name) => {
        const index = this.picture.traces[name], places = Array.from(this.run.t, (_, row) => this.place(index, row))
        return {line: this.light.line(new Float32Array(places.flat())), name, index}
      })
    }
    const sharp = this.canvas.width / this.width
    for (const {line, name} of this.lines) this.light.stroke(line, this.lift(channels(this.colour(name))), 2 * sharp, 2e-6)
  }

  // --- the reader

  listen() {
    byId("closer").addEventListener("click", () => this.eye.magnify(1.3))
    byId("farther").addEventListener("click", () => this.eye.magnify(1 / 1.3))
    byId("fit").addEventListener("click", () => { this.eye.fit(); this.again() })
    byId("with-views").hidden = false
    byId("stage-svg").hidden = true
    for (const button of document.querySelectorAll("[data-view]"))
      button.addEventListener("click", () => { this.eye.fit(JSON.parse(button.dataset.view)); this.again() })
    this.canvas.addEventListener("pointermove", (event) => this.eye.fingers.size ? tip.hide() : this.point(event))
    this.canvas.addEventListener("pointerleave", tip.hide)
    this.canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.lost = true })
    this.canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.begin(); this.again() })
  }

  /** Say what is under the pointer: an arrow, else a point or joint nearby. */
  point(event) {
    const box = this.canvas.getBoundingClientRect(), spot = [event.clientX - box.left, event.clientY - box.top]
    const lines = this.arrows.near(...spot) || this.near(...spot)
    lines ? tip.show(event, lines) : tip.hide()
  }

  near(px, py) {
    let best = 16, found = null
    for (const [name, index] of Object.entries(this.picture ? this.picture.traces : {})) {
      const [x, y] = this.at(index), far = Math.hypot(x - px, y - py)
      if (far < best - 1e-6) [best, found] = [far, [name, index]]
    }
    if (!found) return null
    return [[null, found[0]], ...this.place(found[1]).map((value, c) => [null, "xyz"[c], short(value)])]
  }

  /** The picture as it is seen, as a PNG. */
  save() {
    this.show(this.row)
    const {width, height} = this.canvas, page = make("canvas", {width, height}), pen = page.getContext("2d"), image = new Image()
    pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper")
    pen.fillRect(0, 0, width, height)
    pen.drawImage(this.canvas, 0, 0)
    image.addEventListener("load", () => {
      pen.drawImage(image, 0, 0, width, height)
      page.toBlob((blob) => save(filed("", "png"), blob, "image/png"))
    })
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(this.svg, false))}`
  }
}

/** A picture instead of a scene, where a browser draws none. */
class Still {
  constructor(source) {
    byId("picture").append(make("img", {id: "still", src: source, alt: "the mechanism at the start"}),
      make("p", {class: "soft"}, "This browser does not draw scenes in space (WebGL), so this is a still picture."))
    for (const row of document.querySelectorAll("#stage > .row")) row.hidden = true
  }

  take() {}

  show() {}
}

// Which paths are shown is chosen as in the plane.
for (const name of ["offer", "switch", "colour"]) Space.prototype[name] = Mechanism.prototype[name]

const WORLD = new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])

/** A colour written as #rrggbb. */
const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255)

/** Solids in groups that are drawn together: those of one surface; what is translucent, or all where it is pale, alone. */
function grouped(pieces, pale = false) {
  const groups = new Map()
  pieces.forEach((piece, n) => {
    const clear = pale || piece.alpha < 1, key = clear ? n : `${piece.mesh} ${piece.layer}`
    if (!groups.has(key)) groups.set(key, {mesh: piece.mesh, layer: piece.layer, clear, pieces: []})
    groups.get(key).pieces.push({...piece, hue: channels(piece.colour)})
  })
  return [...groups.values()].map((group) => ({...group, data: new Float32Array(16 * group.pieces.length)}))
}

// The moving mechanism: the shapes of the drawing, put where they are in a row of the run.

const POINT = 4 / 3  // a typographic point in pixels

class Mechanism {
  constructor(box, {traces}) {
    this.box = box  // left, bottom, right, top of all there is to see, in the plane
    this.zoom = 1
    this.shift = [0, 0]
    this.svg = stroke("svg", {role: "img", "aria-label": "the mechanism"})
    byId("picture").append(this.svg)
    this.layers = Object.fromEntries(["grid", "behind", "traces", "shapes", "names", "arrows"].map((name) => [name, stroke("g", {class: name})]))
    this.svg.append(...Object.values(this.layers))
    this.traced = new Set(traces)
    this.names = new Names(this.layers.names)
    this.arrows = new Arrows(this.layers.arrows)
    this.listen()
    new ResizeObserver(() => this.resize()).observe(byId("picture"))
  }

  /** Take another run: its picture and its points. */
  take(run, picture) {
    this.run = run
    this.row = 0
    this.picture = picture
    let count = 0
    this.frees = picture ? picture.places.map((fixed) => fixed ? -1 : count++) : []
    this.drawn = picture ? picture.shapes.map((shape) => this.shape(shape)) : []
    this.layers.shapes.replaceChildren(...this.drawn.map(([element]) => element))
    this.compare()
    this.names.take(picture ? picture.names : [])
    this.arrows.take(run.loads || [])
    this.offer()
    this.resize()
  }

  /** Draw another run behind this one at the same time, where there is one to compare with: this, but for the run. */
  compare() {
    const {behind} = report.content, run = behind == null ? null : report.runs[behind], picture = run && report.content.pictures[run.picture]
    let count = 0
    this.behind = picture && Object.assign(Object.create(this), {run, picture, frees: picture.places.map((fixed) => fixed ? -1 : count++),
      drawn: picture.shapes.map((shape) => this.shape(shape))})
    this.layers.behind.replaceChildren(...(this.behind ? this.behind.drawn.map(([element]) => element) : []))
  }

  /** An element for a shape. */
  shape(shape) {
    const look = {stroke: tone(shape.edge, shape.strong), "stroke-width": shape.width * POINT, "stroke-linejoin": "round",
      fill: shape.fill ? tone(shape.fill, shape.filled) : "none", "stroke-linecap": shape.blunt ? "butt" : "round"}
    if (shape.dashed) look["stroke-dasharray"] = "12 3.5 2 3.5"
    return [stroke("path", {style: Object.entries(look).map(([key, value]) => `${key}:${value}`).join(";")}), shape]
  }

  // --- where things are on the screen

  resize() {
    const [left, bottom, right, top] = this.box, width = byId("picture").clientWidth
    if (!width) return
    const high = width * (top - bottom) / (right - left || 1), phone = innerWidth < 640
    this.width = width
    this.height = phone ? clamp(high, 200, 0.58 * innerHeight) : clamp(high, 0.42 * innerHeight, Math.max(280, innerHeight - 240))
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`)
    this.svg.style.height = `${this.height}px`
    const spare = 18 * POINT  // room for ground marks and names at the rim
    this.fitted = Math.min((this.width - spare) / (right - left || 1), (this.height - spare) / (top - bottom || 1))
    this.show(this.row)
  }

  get scale() { return this.fitted * this.zoom }

  /** What must be the same for places on the screen to be the same. */
  get view() { return [this.run.number, this.scale, this.shift, this.width, this.height].join() }

  /** A place of the plane in pixels. */
  pixel(x, y) {
    const [left, bottom, right, top] = this.box
    return [this.width / 2 + this.shift[0] + (x - (left + right) / 2) * this.scale,
      this.height / 2 + this.shift[1] - (y - (bottom + top) / 2) * this.scale]
  }

  /** The place of the plane under a pixel. */
  plane(px, py) {
    const [left, bottom, right, top] = this.box
    return [(left + right) / 2 + (px - this.width / 2 - this.shift[0]) / this.scale,
      (bottom + top) / 2 - (py - this.height / 2 - this.shift[1]) / this.scale]
  }

  /** A point of the drawing in a row, in the plane: fixed in a frame (origin and axis), or free. */
  place(index, row = this.row) {
    const fixed = this.picture.places[index], {free, frames, t: {length}} = this.run
    if (!fixed) {
      const at = 2 * this.frees[index] * length + row
      return [free[at], free[at + length]]
    }
    const [frame, x, y] = fixed, at = 4 * frame * length + row
    const [ox, oy, ux, uy] = [frames[at], frames[at + length], frames[at + 2 * length], frames[at + 3 * length]]
    return [ox + x * ux - y * uy, oy + x * uy + y * ux]
  }

  at(index, row = this.row) { return this.pixel(...this.place(index, row)) }

  // --- one row

  show(row) {
    this.row = row
    if (!this.width || !this.run) return
    const there = this.picture && row < this.run.t.length
    this.svg.style.visibility = there ? "" : "hidden"
    if (!there) return
    const measured = byId("loads").checked  // then arrows to scale stand for the signs of forces
    for (const [element, shape] of this.drawn) {
      element.style.display = measured && shape.edge == "force" ? "none" : ""
      element.setAttribute("d", this.path(shape))
    }
    if (this.behind) {
      this.behind.row = nearest(this.behind.run.t, this.run.t[row])
      for (const [element, shape] of this.behind.drawn) element.setAttribute("d", this.behind.path(shape))
    }
    this.grid()
    this.trace()
    this.arrows.show(this, row)
    this.names.show(this)
  }

  path(shape) {
    if (shape.kind == "marks") return shape.points.map((k) => this.mark(shape, ...this.at(k))).join("")
    const corners = shape.sketch ? this.sketch(shape) : shape.points.map((k) => this.at(k))
    return joined(corners) + (shape.kind == "area" ? "Z" : "")
  }

  mark({mark, size}, x, y) {
    const r = size * POINT / 2
    if (mark == "s") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`
  }

  /** The vertices of a sketch: its point, a share of its line, typographic points along and across it, an offset. */
  sketch({points, sketch, line}) {
    const [x0, y0] = this.place(points[0])
    let ahead = [0, 0], u = [1, 0]
    if (line) {
      const [start, end] = line.map((k) => this.place(k))
      ahead = [end[0] - start[0], end[1] - start[1]]
      const length = Math.hypot(...ahead) || 1
      u = [ahead[0] / length, ahead[1] / length]
    }
    return sketch.map((vertex) => {
      if (vertex == null) return null
      const [share = 0, along = 0, across = 0, dx = 0, dy = 0] = vertex
      const [x, y] = this.pixel(x0 + share * ahead[0] + dx, y0 + share * ahead[1] + dy)
      return [x + POINT * (along * u[0] - across * u[1]), y - POINT * (along * u[1] + across * u[0])]
    })
  }

  grid() {
    if (this.view == this.gridded) return
    this.gridded = this.view
    const [left, top] = this.plane(0, 0), [right, bottom] = this.plane(this.width, this.height), lines = [], texts = []
    for (const x of ticks(left, right, this.width / 90)) {
      const [px] = this.pixel(x, 0)
      lines.push(`M${px} 0V${this.height}`)
      if (px > 30 && px < this.width - 12) texts.push(stroke("text", {x: px + 3, y: this.height - 4, opacity: 0.8}, short(x)))
    }
    for (const y of ticks(bottom, top, this.height / 90)) {
      const [, py] = this.pixel(0, y)
      lines.push(`M0 ${py}H${this.width}`)
      if (py > 16 && py < this.height - 18) texts.push(stroke("text", {x: 3, y: py - 3, opacity: 0.8}, short(y)))
    }
    this.layers.grid.replaceChildren(stroke("path", {class: "grid", d: lines.join("")}), ...texts)
  }

  // --- paths of points

  /** Boxes to switch paths on, for a few points; a search box for all. */
  offer() {
    const known = this.picture ? Object.keys(this.picture.traces) : [], chips = byId("traces")
    const shown = known.length <= 8 ? known : known.filter((name) => this.traced.has(name))
    const boxes = shown.map((name) => make("label", {}, make("input", {type: "checkbox", "data-trace": name,
      ...(this.traced.has(name) ? {checked: ""} : {}), onchange: () => this.switch(name)}),
      make("span", {class: "swatch", style: `background:${tone(this.colour(name))}`}), name))
    const more = known.length <= 8 ? [] : [new Search("add a path", () => known.map((name) => ({name, label: name})),
      (name) => this.switch(name)).element]
    chips.hidden = !known.length
    chips.replaceChildren(make("span", {class: "soft"}, "paths"), ...boxes, ...more)
  }

  switch(name) {
    this.traced.has(name) ? this.traced.delete(name) : this.traced.add(name)
    this.offer()
    this.trace()
  }

  colour(name) {
    const {colours, traces} = this.picture, {palette} = report.content
    return colours[name] || palette[(Object.keys(colours).length + Object.keys(traces).indexOf(name)) % palette.length]
  }

  trace() {
    const seen = `${this.view} ${[...this.traced].join()}`
    if (seen != this.along) {
      this.along = seen
      this.dots = []
      this.layers.traces.replaceChildren()
      for (const name of this.traced) this.follow(name, this.picture.traces[name])
    }
    for (const [dot, index] of this.dots) {
      const [cx, cy] = this.at(index)
      fitted(dot, {cx, cy}, [])
    }
  }

  follow(name, index) {
    if (index === undefined) return
    const where = Array.from(this.run.t, (_, row) => this.at(index, row)), colour = tone(this.colour(name))
    const dot = stroke("circle", {class: "dot", "data-dot": name, r: 4.5, style: `fill:${colour}`})
    this.dots.push([dot, index])
    this.layers.traces.append(stroke("path", {class: "curve", "data-path": name, d: joined(where), style: `stroke:${colour}`}), dot)
  }

  // --- looking closer

  listen() {
    byId("closer").addEventListener("click", () => this.magnify(1.4))
    byId("farther").addEventListener("click", () => this.magnify(1 / 1.4))
    byId("fit").addEventListener("click", () => { this.shift = [0, 0]; this.magnify(1 / this.zoom) })
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return  // the wheel alone scrolls the page
      event.preventDefault()
      this.magnify(Math.exp(-event.deltaY / 300), this.under(event))
    }, {passive: false})
    this.svg.addEventListener("pointerdown", (event) => {
      this.held = [event.clientX - this.shift[0], event.clientY - this.shift[1]]
      this.svg.setPointerCapture(event.pointerId)
    })
    this.svg.addEventListener("pointermove", (event) => {
      if (!this.held || this.zoom == 1) return this.point(event)
      this.shift = [event.clientX - this.held[0], event.clientY - this.held[1]]
      this.show(this.row)
    })
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { this.held = null })
    this.svg.addEventListener("pointerleave", tip.hide)
  }

  save(kind) { savePicture(this.svg, "", kind) }

  under(event) {
    const box = this.svg.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }

  magnify(factor, about = [this.width / 2, this.height / 2]) {
    const zoom = clamp(this.zoom * factor, 1, 60), grown = zoom / this.zoom
    const middle = [this.width / 2, this.height / 2]
    this.shift = this.shift.map((s, c) => zoom == 1 ? 0 : (about[c] - middle[c]) * (1 - grown) + s * grown)
    this.zoom = zoom
    this.svg.classList.toggle("zoomed", zoom > 1)
    this.show(this.row)
  }

  /** Say what is under the pointer: an arrow, else a point or joint nearby. */
  point(event) {
    const [px, py] = this.under(event)
    const lines = this.arrows.near(px, py) || this.near(px, py)
    lines ? tip.show(event, lines) : tip.hide()
  }

  near(px, py) {
    let best = 22, found = null
    for (const [name, index] of Object.entries(this.picture ? this.picture.traces : {})) {
      const [x, y] = this.at(index), distance = Math.hypot(x - px, y - py)
      if (distance < best - 1e-6) [best, found] = [distance, [name, index]]
    }
    if (!found) return null
    const [x, y] = this.place(found[1])
    return [[null, found[0]], [null, "x", short(x)], [null, "y", short(y)]]
  }
}

/** Corners as a path; null is a gap. */
function joined(corners) {
  let path = "", pen = "M"
  for (const corner of corners) {
    if (corner == null || !Number.isFinite(corner[0] + corner[1])) { pen = "M"; continue }
    path += `${pen}${corner[0].toFixed(2)} ${corner[1].toFixed(2)}`
    pen = "L"
  }
  return path
}

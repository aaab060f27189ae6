// From where a mechanism in space is looked at: turned, moved and brought nearer by pointer, fingers and keys.

const OPENING = 0.42  // of the eye from top to bottom, in radians

class Eye {
  /** The axes of the world as one stands in it (right, back, up), the corners of all there is, the first view in degrees. */
  constructor(element, {level, corners, view}, changed) {
    Object.assign(this, {element, level, corners, first: view, changed})
    const low = [0, 1, 2].map((c) => Math.min(...corners.map((corner) => corner[c])))
    this.size = Math.hypot(...low.map((l, c) => Math.max(...corners.map((corner) => corner[c])) - l))
    this.fingers = new Map()
    this.fit()
    this.listen()
  }

  /** Everything in view, from where one looked at first or from another side. */
  fit(view = this.first) {
    [this.azimuth, this.elevation] = view.map((angle) => angle * Math.PI / 180)
    this.zoom = 1
    this.fitted = null
  }

  /** Rows right, up and towards the eye. */
  get axes() {
    const [right, back, up] = this.level, [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)]
    const out = [0, 1, 2].map((c) => ca * right[c] + sa * back[c])
    const eye = out.map((o, c) => ce * o + se * up[c]), above = out.map((o, c) => ce * up[c] - se * o)
    return [crossed(above, eye), above, eye]
  }

  /** How far the eye is: from where it was fitted, so that all corners were in the picture, however wide that is. */
  distance(aspect) {
    if (this.fitted != aspect) this.place(aspect)
    return this.far / this.zoom
  }

  /** Put the middle of what is seen into the middle of the picture, and the eye as near as it can be. */
  place(aspect) {
    const tan = Math.tan(OPENING / 2), axes = this.axes, seen = this.corners.map((corner) => axes.map((axis) => dotted(axis, corner)))
    const span = (c) => [Math.min(...seen.map((s) => s[c])), Math.max(...seen.map((s) => s[c]))]
    let middle = [0, 1, 2].map((c) => (span(c)[0] + span(c)[1]) / 2)
    for (let round = 0; round < 4; round++) {
      const off = seen.map((s) => s.map((v, c) => v - middle[c]))
      this.far = 1.06 * Math.max(...off.map(([x, y, z]) => Math.max(Math.abs(y) / tan, Math.abs(x) / (tan * aspect)) + z))
      const rays = off.map(([x, y, z]) => [x / (this.far - z), y / (this.far - z)])
      const shift = [0, 1].map((c) => (Math.max(...rays.map((r) => r[c])) + Math.min(...rays.map((r) => r[c]))) / 2 * this.far)
      middle = [middle[0] + shift[0], middle[1] + shift[1], middle[2]]
    }
    this.centre = [0, 1, 2].map((c) => axes.reduce((sum, axis, k) => sum + middle[k] * axis[c], 0))
    this.fitted = aspect
  }

  /** The matrix (column by column) that takes the world to the window, and where the eye is. */
  matrix(aspect) {
    const [x, y, z] = this.axes, distance = this.distance(aspect), tan = Math.tan(OPENING / 2)
    const place = this.centre.map((c, k) => c + distance * z[k])
    const far = distance + 3 * this.size, near = Math.max(distance - 3 * this.size, 0.02 * distance)
    const rows = [x, y, z].map((axis) => [...axis, -dotted(axis, place)])
    const depth = rows[2].map((value, k) => -value * (far + near) / (far - near) - (k == 3 ? 2 * far * near / (far - near) : 0))
    const all = [rows[0].map((v) => v / (tan * aspect)), rows[1].map((v) => v / tan), depth, rows[2].map((v) => -v)]
    return {seen: new Float32Array([0, 1, 2, 3].flatMap((c) => all.map((row) => row[c]))),
      turned: new Float32Array([0, 1, 2].flatMap((c) => [x[c], y[c], z[c]])), all, place}
  }

  // --- pointer, fingers, keys

  listen() {
    const {element} = this
    element.addEventListener("pointerdown", (event) => {
      element.focus({preventScroll: true})
      this.fingers.set(event.pointerId, [event.clientX, event.clientY])
      element.setPointerCapture(event.pointerId)
    })
    element.addEventListener("pointermove", (event) => this.drag(event))
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (event) => this.fingers.delete(event.pointerId))
    element.addEventListener("contextmenu", (event) => event.preventDefault())
    element.addEventListener("dblclick", () => { this.fit(); this.changed() })
    element.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement != element) return  // else the wheel scrolls the page
      event.preventDefault()
      this.magnify(Math.exp(-event.deltaY / (event.deltaMode ? 20 : 600)))
    }, {passive: false})
    element.addEventListener("keydown", (event) => this.key(event))
  }

  drag(event) {
    const before = this.fingers.get(event.pointerId)
    if (!before) return
    const now = [event.clientX, event.clientY], moved = [now[0] - before[0], now[1] - before[1]]
    const others = [...this.fingers].filter(([id]) => id != event.pointerId).map(([, place]) => place)
    this.fingers.set(event.pointerId, now)
    if (others.length) {
      const apart = (place) => Math.hypot(place[0] - others[0][0], place[1] - others[0][1]) || 1
      this.zoom = clamp(this.zoom * apart(now) / apart(before), 0.2, 60)
      this.pan(moved[0] / 2, moved[1] / 2)
    } else if (event.shiftKey || event.buttons > 1) this.pan(...moved)
    else this.orbit(-moved[0] / 160, moved[1] / 160)
  }

  orbit(azimuth, elevation) {
    this.azimuth += azimuth
    this.elevation = clamp(this.elevation + elevation, -Math.PI / 2, Math.PI / 2)
    this.changed()
  }

  /** Move by so many pixels. */
  pan(dx, dy) {
    const {clientWidth, clientHeight} = this.element, [x, y] = this.axes
    const unit = 2 * Math.tan(OPENING / 2) * this.distance(clientWidth / clientHeight) / clientHeight
    this.centre = this.centre.map((c, k) => c - unit * (dx * x[k] - dy * y[k]))
    this.changed()
  }

  magnify(factor) {
    this.zoom = clamp(this.zoom * factor, 0.2, 60)
    this.changed()
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const acts = {a: () => this.orbit(-0.1, 0), d: () => this.orbit(0.1, 0), w: () => this.orbit(0, 0.1), s: () => this.orbit(0, -0.1),
      "+": () => this.magnify(1.2), "=": () => this.magnify(1.2), "-": () => this.magnify(1 / 1.2), f: () => { this.fit(); this.changed() }}
    if (!(event.key in acts)) return
    event.preventDefault()
    acts[event.key]()
  }
}

const dotted = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const crossed = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

// Plots: any quantities over time or over another quantity, with the present moment and the events on them.

const EDGE = {left: 58, right: 14, top: 10, bottom: 24}, HEIGHT = 190
const NAMED = 12  // of so many events all have a line

class Plot {
  /** Quantities `names` over `x` ("t" is the time). */
  constructor(charts, {x, names}) {
    this.charts = charts
    this.x = x
    this.names = [...names]
    this.keys = make("div", {class: "keys"})
    this.svg = stroke("svg", {role: "img"})
    this.element = make("section", {class: "card panel"}, make("div", {class: "head"}, this.keys, this.acts()), this.svg)
    this.listen()
    new ResizeObserver(() => this.draw()).observe(this.element)
  }

  acts() {
    const act = (words, title, does) => make("button", {class: "quiet", type: "button", title, onclick: does}, words)
    return make("span", {class: "acts"},
      act("CSV", "These quantities as a table", () => saveTable([...(this.x == "t" ? [] : [this.x]), ...this.names])),
      act("SVG", "This plot as SVG", () => savePicture(this.svg, this.called, "svg")),
      act("PNG", "This plot as PNG", () => savePicture(this.svg, this.called, "png")),
      act("✕", "Remove this plot", () => this.charts.remove(this)))
  }

  get called() { return this.names.join(" ") }

  /** The values of a quantity in a run. */
  of(name, run = report.run) { return name == "t" ? run.t : run.values[name] }

  colour(name) {
    const {energies, palette} = report.content, colours = report.picture ? report.picture.colours : {}
    if (energies[name]) return energies[name]
    const others = this.names.slice(0, this.names.indexOf(name)).map((other) => this.colour(other))
    const own = colours[name.slice(0, name.lastIndexOf("."))] || palette[0]
    if (!others.includes(own)) return own
    return palette.find((colour) => !others.includes(colour)) || palette[this.names.indexOf(name) % palette.length]
  }

  // --- what is in it

  title() {
    const key = (name) => make("span", {class: "key"}, make("span", {class: "swatch", style: `background:${tone(this.colour(name))}`}),
      make("b", {}, labelled(name)), make("span", {class: "value", "data-value": name}),
      make("button", {type: "button", title: `Remove ${name}`, "aria-label": `remove ${name}`, onclick: () => this.drop(name)}, "✕"))
    const offered = () => report.content.quantities.filter(({name}) => !this.names.includes(name))
    const add = new Search("+ add", offered, (name) => this.add(name))
    const axis = new Search(`over ${labelled(this.x)}`, () => [{name: "t", label: "t", kind: "time"}, ...report.content.quantities],
      (name) => { this.x = name; this.title(); this.draw() })
    add.element.classList.add("add")
    axis.element.classList.add("over")
    const held = [...this.holders()].map(([owner, name]) => make("span", {class: "key soft"},
      make("span", {class: "swatch stuck", style: `background:${tone(this.colour(name))}`}), `${owner} sticks`))
    this.keys.replaceChildren(...this.names.map(key), ...held, add.element, axis.element)
    this.values = this.names.map((name) => [name, this.keys.querySelector(`[data-value="${CSS.escape(name)}"]`)])
  }

  add(name) { this.names.push(name); this.title(); this.draw() }

  drop(name) {
    this.names = this.names.filter((other) => other != name)
    if (!this.names.length) return this.charts.remove(this)
    this.title()
    this.draw()
  }

  // --- drawing

  draw() {
    if (!report.run || !this.element.isConnected) return
    this.width = this.svg.clientWidth || 400
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`)
    this.svg.style.height = `${HEIGHT}px`
    const runs = [report.behind, report.run].filter(Boolean)
    const zoom = this.x == "t" ? this.charts.zoom : null
    this.across = zoom || span(runs.map((run) => [this.of(this.x, run)]).flat(), 0.01)
    this.up = span(runs.flatMap((run) => this.names.map((name) => this.inside(name, run, zoom))), 0.06)
    this.moving = stroke("g")
    this.hover = stroke("g")
    const clip = `clip${this.charts.count++}`
    const room = stroke("rect", {x: EDGE.left, y: 0, width: Math.max(1, this.width - EDGE.left - EDGE.right), height: HEIGHT - EDGE.bottom})
    this.svg.replaceChildren(stroke("clipPath", {id: clip}, room), this.axes(),
      stroke("g", {"clip-path": `url(#${clip})`}, ...this.bands(), ...this.flags(), ...this.stems(), ...runs.flatMap((run) => this.curves(run)), this.moving, this.hover))
    this.show()
  }

  /** The values of a quantity that are in sight. */
  inside(name, run, zoom) {
    const values = this.of(name, run)
    if (!zoom || !values) return values
    return values.filter((_, k) => run.t[k] >= zoom[0] && run.t[k] <= zoom[1])
  }

  px(x) { return EDGE.left + (x - this.across[0]) / (this.across[1] - this.across[0]) * (this.width - EDGE.left - EDGE.right) }
  py(y) { return EDGE.top + (this.up[1] - y) / (this.up[1] - this.up[0]) * (HEIGHT - EDGE.top - EDGE.bottom) }
  back(px) { return this.across[0] + (px - EDGE.left) / (this.width - EDGE.left - EDGE.right) * (this.across[1] - this.across[0]) }

  axes() {
    const floor = HEIGHT - EDGE.bottom, lines = [], texts = []
    for (const y of ticks(...this.up, 5)) {
      lines.push(`M${EDGE.left} ${this.py(y)}H${this.width - EDGE.right}`)
      texts.push(stroke("text", {x: EDGE.left - 6, y: this.py(y) + 4, "text-anchor": "end"}, short(y)))
    }
    const label = labelled(this.x), room = this.width - EDGE.right - 7 * label.length - 14
    for (const x of ticks(...this.across, this.width / 90)) {
      lines.push(`M${this.px(x)} ${EDGE.top}V${floor}`)
      if (this.px(x) < room) texts.push(stroke("text", {x: this.px(x), y: floor + 15, "text-anchor": "middle"}, short(x)))
    }
    texts.push(stroke("text", {x: this.width - EDGE.right, y: floor + 16, "text-anchor": "end", class: "title"}, label))
    return stroke("g", {}, stroke("path", {class: "grid", d: lines.join("")}), ...texts)
  }

  curves(run) {
    const x = this.of(this.x, run)
    return this.names.filter((name) => x && this.of(name, run)).map((name) => {
      const y = this.of(name, run), where = Array.from(x, (value, k) => [this.px(value), this.py(y[k])])
      const before = run != report.run, style = `stroke:${tone(this.colour(name))}`
      if (where.length == 1) return stroke("circle", {class: "dot", cx: where[0][0], cy: where[0][1], r: 4, style: `fill:${tone(this.colour(name))}`})
      return stroke("path", {class: before ? "curve first" : "curve", ...(before ? {} : {"data-curve": name}), d: joined(where), style})
    })
  }

  /** What holds the curves now and then, each with the curve that shows it. */
  holders() {
    const {held} = report.run, found = new Map()
    for (const name of this.x == "t" ? this.names : [])
      for (const owner of held[name] || []) if (!found.has(owner)) found.set(owner, name)
    return found
  }

  /** Where a curve is held by what sticks. */
  bands() {
    return [...this.holders()].flatMap(([owner, name]) => report.run.sticks[owner].map(([begin, end]) =>
      stroke("rect", {class: "stuck", "data-stuck": owner, x: this.px(begin), y: EDGE.top, width: Math.max(0.5, this.px(end) - this.px(begin)),
        height: HEIGHT - EDGE.top - EDGE.bottom, style: `fill:${tone(this.colour(name))}`})))
  }

  /** Impacts on the time axis, as high as they are large. */
  stems() {
    if (this.x != "t") return []
    const floor = HEIGHT - EDGE.bottom
    return report.run.impacts.flatMap(([t, size]) => {
      const x = this.px(t), y = floor - 5 - 25 * size
      return [stroke("path", {class: "stem", "data-impact": t, d: `M${x} ${floor}V${y}`}), stroke("circle", {class: "tipped", cx: x, cy: y, r: 2})]
    })
  }

  /** The events: lines where the axis is time, crosses on the curves elsewhere. Of many only those not seen anyway. */
  flags() {
    const {t} = report.run, holders = this.holders(), few = report.run.events.length <= NAMED
    const events = report.run.events.filter((event) => few || this.x != "t" || !(event.struck || holders.has(event.element)))
    if (this.x == "t")
      return events.flatMap((event) => [stroke("path", {class: "event", "data-event": event.t, d: `M${this.px(event.t)} ${EDGE.top}V${HEIGHT - EDGE.bottom}`}),
        stroke("path", {class: "flag", d: `M${this.px(event.t) - 4} ${EDGE.top - 8}h8l-4 7Z`})])
    return events.flatMap((event) => this.names.map((name) => {
      const [x, y] = this.spot(name, nearest(t, event.t))
      return stroke("path", {class: "hair", "data-event": event.t, d: Number.isFinite(x + y) ? `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` : ""})
    }))
  }

  /** Where a curve is in a row, in pixels. */
  spot(name, row) {
    const x = this.of(this.x), y = this.of(name)
    return x && y ? [this.px(x[row]), this.py(y[row])] : [NaN, NaN]
  }

  /** The present moment, and the values there. */
  show() {
    if (!this.moving) return
    const {row} = report.player, {t} = report.run
    const line = this.x == "t" && t.length ? [stroke("path", {class: "cursor", d: `M${this.px(t[row])} ${EDGE.top}V${HEIGHT - EDGE.bottom}`})] : []
    this.moving.replaceChildren(...line, ...this.dots(row))
    for (const [name, place] of this.values) place.textContent = short(this.of(name) ? this.of(name)[row] : NaN)
  }

  dots(row) {
    return this.names.map((name) => [name, ...this.spot(name, row)]).filter(([, x, y]) => Number.isFinite(x + y))
      .map(([name, cx, cy]) => stroke("circle", {class: "dot", "data-dot": name, cx, cy, r: 4, style: `fill:${tone(this.colour(name))}`}))
  }

  // --- the pointer

  listen() {
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId)
      if (event.timeStamp - this.pressed < 400) this.charts.zoomed(null)  // twice in a row
      this.pressed = event.timeStamp
      this.held = event.shiftKey && this.x == "t" ? this.under(event)[0] : true
      this.move(event)
    })
    this.svg.addEventListener("pointermove", (event) => this.move(event))
    this.svg.addEventListener("pointerup", (event) => {
      if (typeof this.held == "number") this.zoomTo([this.held, this.under(event)[0]].sort((a, b) => a - b))
      this.held = null
    })
    this.svg.addEventListener("pointercancel", () => { this.held = null })
    this.svg.addEventListener("pointerleave", () => { this.hover.replaceChildren(); tip.hide() })
  }

  under(event) {
    const box = this.svg.getBoundingClientRect()
    return [clamp(event.clientX - box.left, EDGE.left, this.width - EDGE.right), event.clientY - box.top]
  }

  zoomTo([left, right]) { if (right - left > 8) this.charts.zoomed([this.back(left), this.back(right)]) }

  move(event) {
    const [px, py] = this.under(event), {t} = report.run
    if (!t.length) return
    if (typeof this.held == "number")
      return this.hover.replaceChildren(stroke("rect", {class: "zoom", x: Math.min(px, this.held), y: EDGE.top,
        width: Math.abs(px - this.held), height: HEIGHT - EDGE.top - EDGE.bottom}))
    const row = this.row(px, py)
    if (this.held) report.player.step(row - report.player.row)
    const hair = this.x == "t" ? [stroke("path", {class: "hair", d: `M${this.px(t[row])} ${EDGE.top}V${HEIGHT - EDGE.bottom}`})] : []
    this.hover.replaceChildren(...hair, ...this.dots(row))
    const met = this.x == "t" ? report.run.events.filter((e) => Math.abs(this.px(e.t) - px) < 6).slice(0, 4) : []
    const over = this.x == "t" ? [] : [[null, labelled(this.x), short(this.of(this.x)[row])]]
    tip.show(event, [[null, "t", short(t[row])], ...over,
      ...this.names.map((name) => [tone(this.colour(name)), labelled(name), short(this.of(name) ? this.of(name)[row] : NaN)]),
      ...this.stuck(t[row]).map((owner) => [null, `${owner} sticks`]),
      ...met.flatMap((e) => [[null, e.message], ...(e.impulses ? [[null, `impulses: ${e.impulses}`]] : [])])])
  }

  /** What sticks at a time, of all that holds the curves. */
  stuck(t) {
    return [...this.holders().keys()].filter((owner) => report.run.sticks[owner].some(([begin, end]) => begin <= t && t <= end))
  }

  /** The row nearest to a place in the plot. */
  row(px, py) {
    if (this.x == "t") return nearest(report.run.t, this.back(px))
    let best = Infinity, found = 0
    for (const name of this.names)
      for (let row = 0; row < report.run.t.length; row++) {
        const [x, y] = this.spot(name, row), distance = Math.hypot(x - px, y - py)
        if (distance < best) [best, found] = [distance, row]
      }
    return found
  }
}

/** All plots of the page, with a search box for more. */
class Charts {
  constructor(panels) {
    this.count = 0
    this.zoom = null
    const box = new Search("plot a quantity …", () => report.content.quantities, (name) => this.add({x: "t", names: [name]}, true), true)
    byId("add").append(box.element)
    this.plots = []
    for (const panel of panels) this.add(panel)
  }

  add(panel, seen = false) {
    const plot = new Plot(this, panel)
    this.plots.push(plot)
    byId("panels").append(plot.element)
    plot.title()
    plot.draw()
    if (seen) plot.element.scrollIntoView({block: "center", behavior: "smooth"})
  }

  remove(plot) {
    this.plots = this.plots.filter((other) => other != plot)
    plot.element.remove()
    tip.hide()
  }

  /** Show a stretch of time in all plots over time; null for all of it. */
  zoomed(stretch) { this.zoom = stretch; this.draw() }

  draw() { for (const plot of this.plots) plot.draw() }

  show() { for (const plot of this.plots) plot.show() }
}

/** From the least to the largest of some values, with a margin. */
function span(arrays, margin) {
  let low = Infinity, high = -Infinity
  for (const values of arrays) for (const value of values || []) {
    if (!Number.isFinite(value)) continue
    if (value < low) low = value
    if (value > high) high = value
  }
  if (low > high) return [0, 1]
  const size = Math.max(Math.abs(low), Math.abs(high))
  const spare = high - low > 1e-6 * size ? margin * (high - low) : 0.1 * size || 1  // single numbers have seven digits
  return [low - spare, high + spare]
}

function labelled(name) {
  if (name == "t") return report.content.time
  return (report.content.quantities.find((one) => one.name == name) || {label: name}).label
}

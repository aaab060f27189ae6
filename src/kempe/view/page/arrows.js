// Forces and moments as arrows on the mechanism, all to one scale, which is drawn beside them.

class Arrows {
  constructor(layer) {
    this.layer = layer
    this.shown = []
    for (const id of ["reactions", "loads", "scale"]) byId(id).addEventListener("input", () => report.mechanism.show(report.mechanism.row))
  }

  take(loads) {
    this.all = loads
    for (const group of ["reactions", "loads"]) byId(`with-${group}`).hidden = !loads.some((load) => load.group == group)
    this.most = {force: largest(loads, (load, row) => Math.hypot(...both(load.force, row))),
      moment: largest(loads, (load, row) => Math.abs(load.moment[row]))}
  }

  get active() { return this.all.filter((load) => byId(load.group).checked) }

  show(mechanism, row) {
    byId("with-scale").hidden = !this.active.length
    this.shown = []
    this.layer.replaceChildren()
    if (!this.active.length) return
    const size = 0.22 * Math.min(mechanism.width, mechanism.height), factor = 2 ** Number(byId("scale").value)
    const pixels = this.most.force > 0 ? factor * size / this.most.force : 0  // of one unit of force
    for (const load of this.active) {
      const [px, py] = both(load.at, row), [fx, fy] = both(load.force, row), moment = load.moment[row]
      const [x, y] = mechanism.pixel(px, py)
      if (!Number.isFinite(x + y + fx + fy + moment)) continue
      this.straight(load, x, y, pixels * fx, -pixels * fy)
      if (this.most.moment > 0) this.curved(load, x, y, clamp(factor * moment / this.most.moment, -1, 1) * 4.7)
      this.shown.push({load, x, y, tip: [x + pixels * fx, y - pixels * fy], fx, fy, moment})
    }
    this.legend(mechanism, pixels)
  }

  straight(load, x, y, dx, dy) {
    const length = Math.hypot(dx, dy)
    if (length < 2) return
    const u = [dx / length, dy / length], head = Math.min(10, 0.6 * length), back = length - head
    const corner = (side) => `${x + back * u[0] - side * 0.42 * head * u[1]} ${y + back * u[1] + side * 0.42 * head * u[0]}`
    this.layer.append(
      stroke("path", {class: `arrow ${load.group}`, "data-force": load.name, d: `M${x} ${y}L${x + back * u[0]} ${y + back * u[1]}`}),
      stroke("path", {class: `tipped ${load.group}`, d: `M${x + dx} ${y + dy}L${corner(1)}L${corner(-1)}Z`}))
  }

  /** A moment: an arc whose length says how large it is. */
  curved(load, x, y, turn) {
    if (Math.abs(turn) < 0.12) return
    const r = 20, sense = Math.sign(turn), angles = Array.from({length: 25}, (_, k) => Math.PI / 2 + turn * k / 24)
    const end = angles[24], tipped = end + sense * 0.42
    const spot = (a, radius) => `${x + radius * Math.cos(a)} ${y - radius * Math.sin(a)}`
    this.layer.append(
      stroke("path", {class: `arrow ${load.group}`, "data-moment": load.name, d: `M${angles.map((a) => spot(a, r)).join("L")}`}),
      stroke("path", {class: `tipped ${load.group}`, d: `M${spot(tipped, r)}L${spot(end, r + 5)}L${spot(end, r - 5)}Z`}))
  }

  /** An arrow of a round length, with the force it stands for. */
  legend(mechanism, pixels) {
    if (!(pixels > 0)) return
    const wanted = 70 / pixels, power = 10 ** Math.floor(Math.log10(wanted))
    const round = [5, 2, 1].map((s) => s * power).find((s) => s <= wanted), length = round * pixels
    const x = mechanism.width - 14 - length, y = mechanism.height - 26
    this.straight({group: "", name: "scale"}, x, y, length, 0)
    this.layer.append(stroke("text", {x: x + length, y: y - 8, "text-anchor": "end", class: "title"}, `${short(round)} ${report.content.units.force}`.trim()))
  }

  near(px, py) {
    const hit = this.shown.find(({x, y, tip: [tx, ty]}) => {
      const along = [tx - x, ty - y], square = along[0] ** 2 + along[1] ** 2
      const share = square > 0 ? clamp(((px - x) * along[0] + (py - y) * along[1]) / square, 0, 1) : 0
      return square > 16 && share > 0.15 && Math.hypot(px - x - share * along[0], py - y - share * along[1]) < 6
    })
    if (!hit) return null
    const {load, fx, fy, moment} = hit
    const lines = [[null, `${load.kind} ${load.name} on ${load.on}`], [null, "force", short(Math.hypot(fx, fy))],
      [null, "x", short(fx)], [null, "y", short(fy)]]
    return moment ? [...lines, [null, "moment", short(moment)]] : lines
  }
}

/** Two numbers of a row. */
const both = (values, row) => [values[row], values[values.length / 2 + row]]

/** The largest of some sizes. */
function largest(loads, size) {
  let most = 0
  for (const load of loads)
    for (let row = 0; row < load.moment.length; row++) if (size(load, row) > most && size(load, row) < Infinity) most = size(load, row)
  return most
}

// Forces and moments as arrows in space, all to one scale; a moment is an arrow with two heads along its axis.

class SpaceArrows {
  constructor() {
    this.shown = []
    for (const id of ["reactions", "loads", "scale"]) byId(id).addEventListener("input", () => report.mechanism.show(report.mechanism.row))
  }

  take(loads) {
    this.all = loads
    for (const group of ["reactions", "loads"]) byId(`with-${group}`).hidden = !loads.some((load) => load.group == group)
    this.most = {force: this.largest("force"), moment: this.largest("moment")}
  }

  largest(kind) {
    let most = 0
    for (const load of this.all)
      for (let row = 0; row < load[kind].length / 3; row++) {
        const size = Math.hypot(...three(load[kind], row))
        if (size > most && size < Infinity) most = size
      }
    return most
  }

  get active() { return this.all.filter((load) => byId(load.group).checked) }

  /** How long a unit is, in the lengths of the mechanism. */
  unit(space, kind) { return this.most[kind] > 0 ? 0.3 * space.picture.size * 2 ** Number(byId("scale").value) / this.most[kind] : 0 }

  /** The solids of all arrows in a row. */
  solids(space, row) {
    byId("with-scale").hidden = !this.active.length
    this.shown = []
    return this.active.flatMap((load) => {
      const foot = three(load.at, row), found = ["force", "moment"].map((kind) => three(load[kind], row))
      if (![...foot, ...found.flat()].every(Number.isFinite)) return []
      const [force, moment] = ["force", "moment"].map((kind, k) => this.arrow(space, load, kind, foot, found[k]))
      if (force.length || moment.length) this.shown.push({load, foot, force: found[0], moment: found[1]})
      return [...force, ...moment]
    })
  }

  arrow(space, load, kind, foot, value) {
    const size = Math.hypot(...value), length = size * this.unit(space, kind), thick = 0.55 * space.picture.thick
    if (length < 0.5 * thick) return []
    const w = value.map((v) => v / size), head = Math.min(6 * thick, 0.6 * length), place = (far) => foot.map((f, c) => f + far * w[c])
    const colour = space.lift(HUES[kind == "moment" ? "moment" : load.group])
    const heads = kind == "moment" ? [head, 1.8 * head] : [head]
    return [{mesh: "cylinder", data: laid(foot, w, thick, length - head, colour)},
      ...heads.filter((back) => back <= length).map((back) => ({mesh: "cone", data: laid(place(length - back), w, 0.4 * head, head, colour)}))]
  }

  /** How long the arrows are: a round force or moment of each kind. */
  words(space) {
    const words = []
    for (const kind of ["force", "moment"]) {
      const unit = this.unit(space, kind)
      if (!(unit > 0) || !this.active.length) continue
      words.push(`longest ${kind} ${short(this.most[kind], 3)} ${report.content.units[kind]}`.trim())
    }
    return words.map((text, k) => stroke("text", {x: space.width - 8, y: 16 + 15 * k, "text-anchor": "end"}, text))
  }

  near(px, py) {
    const space = report.mechanism
    for (const {load, foot, force, moment} of this.shown)
      for (const [kind, value] of [["force", force], ["moment", moment]]) {
        const unit = this.unit(space, kind), [x, y] = space.pixel(foot), [tx, ty] = space.pixel(foot.map((f, c) => f + unit * value[c]))
        const along = [tx - x, ty - y], square = along[0] ** 2 + along[1] ** 2
        const share = square > 0 ? clamp(((px - x) * along[0] + (py - y) * along[1]) / square, 0, 1) : 0
        if (square < 16 || share < 0.15 || Math.hypot(px - x - share * along[0], py - y - share * along[1]) > 6) continue
        return [[null, `${load.kind} ${load.name} on ${load.on}`], [null, kind, short(Math.hypot(...value))],
          ...value.map((component, c) => [null, "xyz"[c], short(component)])]
      }
    return null
  }
}

const HUES = {reactions: [0.64, 0, 0.23], loads: [0, 0.45, 0.7], moment: [0.36, 0.16, 0.53]}

/** Three numbers of a row. */
const three = (values, row) => [0, 1, 2].map((c) => values[c * values.length / 3 + row])

/** Place and colour of a surface that lies along z from 0 to 1: at a foot, along a direction, so wide and so long. */
function laid(foot, w, wide, long, colour) {
  const other = Math.abs(w[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0], across = crossed(other, w), size = Math.hypot(...across)
  const u = across.map((value) => value / size), v = crossed(w, u)
  return new Float32Array([...u.map((c) => wide * c), ...v.map((c) => wide * c), ...w.map((c) => long * c), ...foot, ...colour, 1])
}

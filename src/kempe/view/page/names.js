// Names in the drawing, each at the first place where it covers neither a pin nor another name nor, if it can be
// helped, a link. A name stays where it is while that place is free, so that it does not jump about.

class Names {
  constructor(layer) {
    this.layer = layer
    this.pen = document.createElement("canvas").getContext("2d")
    for (const id of ["names", "joint-names"]) byId(id).addEventListener("change", () => report.mechanism.show(report.mechanism.row))
  }

  take(names) {
    this.all = names.map((name) => {
      this.pen.font = `${name.joint ? "italic 11px" : "12px"} system-ui, Helvetica, Arial, sans-serif`
      const style = `fill:color-mix(in srgb, ${tone(name.colour)} 75%, var(--ink))`
      const text = stroke("text", {class: name.joint ? "name joint" : "name", "text-anchor": "middle", style}, name.text)
      return {...name, element: text, width: this.pen.measureText(name.text).width + 2, chosen: 0}
    })
    this.layer.replaceChildren(...this.all.map((name) => name.element))
    byId("with-joint-names").hidden = !names.some((name) => name.joint)
  }

  show(mechanism) {
    const wanted = this.all.filter((name) => byId(name.joint ? "joint-names" : "names").checked)
    for (const name of this.all) name.element.style.display = wanted.includes(name) ? "" : "none"
    const {picture, width, height} = mechanism, at = (k) => mechanism.at(k)
    const boxed = (k, left, up, wide, high) => { const [x, y] = at(k); return [x - left, y - up, wide, high] }
    const taken = [...picture.pins.map((k) => boxed(k, 5, 5, 10, 10)), ...picture.supports.map((k) => boxed(k, 13, 5, 26, 25)),
      ...picture.blocks.map((k) => boxed(k, 16, 14, 32, 28))]
    const outlines = wanted.map((name) => name.at.map(at))
    const crossed = this.all.flatMap((name) => name.joint ? [] : strewn(name.at.map(at), name.wide || 0))
    const within = (b) => b[0] > 0 && b[1] > 0 && b[0] + b[2] < width && b[1] + b[3] < height
    wanted.forEach((name, n) => {
      const boxes = spots(outlines[n], name.width, name.wide || 0).map(([x, y]) => [x - name.width / 2, y - 7, name.width, 14])
      const open = (box) => within(box) && !taken.some((other) => meet(box, other))
      const clear = (box) => open(box) && !crossed.some((other) => meet(box, other))
      let best = boxes[name.chosen] && clear(boxes[name.chosen]) ? name.chosen : boxes.findIndex(clear)
      if (best < 0) best = boxes.findIndex(open)
      name.element.style.visibility = best < 0 ? "hidden" : ""
      if (best < 0) return
      name.chosen = best
      taken.push(boxes[best])
      name.element.setAttribute("x", (boxes[best][0] + name.width / 2).toFixed(1))
      name.element.setAttribute("y", (boxes[best][1] + 11).toFixed(1))
    })
  }
}

const meet = (a, b) => a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3]

/** Squares along the edges of an outline, small ones or as large as what is drawn there is wide. */
function strewn(corners, wide) {
  const size = 6 + 2 * wide
  return corners.flatMap((from, n) => {
    const to = corners[(n + 1) % corners.length]
    return Array.from({length: 16}, (_, j) => [from[0] + j / 16 * (to[0] - from[0]) - size / 2,
      from[1] + j / 16 * (to[1] - from[1]) - size / 2, size, size])
  })
}

/** Middles of a name, best first: inside a plate, around a point, beside a bar or what is wide on both sides of it. */
function spots(corners, width, wide) {
  const found = [], edges = corners.length > 2 ? [...corners, corners[0]] : corners
  const [mx, my] = [0, 1].map((c) => corners.reduce((sum, corner) => sum + corner[c], 0) / corners.length)
  if (corners.length > 2) found.push([mx, my], [mx, my - 16], [mx, my + 16])
  for (const away of corners.length == 1 ? [10, 18, 28, 40] : [])
    for (const [sx, sy] of [[1, -1], [-1, -1], [1, 1], [-1, 1]])
      found.push([mx + sx * (away + width / 2 - 4), my + sy * away * 0.7])
  for (const share of [0.5, 0.35, 0.65, 0.2, 0.8])
    for (let n = 0; n + 1 < edges.length; n++) {
      const [from, to] = [edges[n], edges[n + 1]], along = [to[0] - from[0], to[1] - from[1]]
      const length = Math.hypot(...along) || 1, normal = [-along[1] / length, along[0] / length]
      const away = 6 + wide + Math.abs(normal[0]) * width / 2 + Math.abs(normal[1]) * 7
      for (const side of normal[0] - 0.1 * normal[1] > 0 ? [away, -away] : [-away, away])
        found.push([0, 1].map((c) => from[c] + share * along[c] + side * normal[c]))
    }
  return found
}

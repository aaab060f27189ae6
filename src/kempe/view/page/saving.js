// What can be taken away: tables as CSV, pictures as SVG or PNG.

function save(name, content, type) {
  const link = make("a", {href: URL.createObjectURL(new Blob([content], {type})), download: name})
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** A file name made of words. */
const filed = (words, suffix) => `${`${report.content.title} ${words}`.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "report"}.${suffix}`

/** Quantities of the run that is shown, as a table: the time, then all digits of each that the page has. */
function table(names) {
  const {t, values} = report.run, known = names.filter((name) => values[name])
  const quoted = (name) => /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
  const cell = (value) => Number.isFinite(value) ? Number(value.toPrecision(8)) : ""
  const rows = Array.from(t, (moment, k) => [Number(moment.toPrecision(13)), ...known.map((name) => cell(values[name][k]))].join(","))
  return [["t", ...known].map(quoted).join(","), ...rows].join("\n") + "\n"
}

function saveTable(names) { save(filed(names.length > 3 ? "data" : names.join(" "), "csv"), table(names), "text/csv") }

/** A drawing that stands for itself: what the style of the page says is written into each element. */
function standalone(svg, paper = true) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")]
  const {width, height} = svg.viewBox.baseVal
  const kept = ["stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-family", "font-size", "font-style",
    "font-weight", "text-anchor", "paint-order", "opacity", "visibility", "display"]
  from.forEach((element, k) => {
    const look = getComputedStyle(element)
    const said = kept.map((key) => `${key}:${look.getPropertyValue(key)}`)
    to[k].setAttribute("style", [...said, `fill:${plain(look.fill)}`, `stroke:${plain(look.stroke)}`].join(";"))
    to[k].removeAttribute("class")
  })
  fitted(copy, {xmlns: "http://www.w3.org/2000/svg", width, height, style: ""}, [])
  if (paper) copy.prepend(stroke("rect", {width, height, fill: plain(getComputedStyle(document.documentElement).getPropertyValue("--paper"))}))
  return new XMLSerializer().serializeToString(copy)
}

/** A colour as every program reads it. */
function plain(colour) {
  if (colour == "none" || !colour.trim()) return "none"
  const pen = make("canvas", {width: 1, height: 1}).getContext("2d", {willReadFrequently: true})
  pen.fillStyle = colour
  pen.fillRect(0, 0, 1, 1)
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data
  return `#${[r, g, b].map((c) => c.toString(16).padStart(2, "0")).join("")}`
}

function savePicture(svg, words, suffix) {
  const text = standalone(svg), {width, height} = svg.viewBox.baseVal
  if (suffix == "svg") return save(filed(words, "svg"), text, "image/svg+xml")
  const image = new Image(), canvas = make("canvas", {width: Math.round(2 * width), height: Math.round(2 * height)})
  image.addEventListener("load", () => {
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob((blob) => save(filed(words, "png"), blob, "image/png"))
  })
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
}

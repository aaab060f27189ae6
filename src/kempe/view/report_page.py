"""The fixed text of a report: its style, its scripts and the frame of the page. Nothing a user named comes in here."""

from __future__ import annotations

from string import Template

#: Nothing may be fetched; scripts and styles are those written into the page.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)

STYLE = """
:root { --ink: #1f2430; --soft: #5b616b; --line: #e1e4e9; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f5f7; color: var(--ink); overflow-wrap: anywhere;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px; }
h2 { font-size: 17px; margin: 0 0 10px; }
h3 { font-size: 14px; margin: 18px 0 6px; color: var(--soft); }
section { background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px; margin-top: 16px; }
p { margin: 0 0 8px; }
.soft { color: var(--soft); }
.pill { display: inline-block; border-radius: 99px; padding: 1px 11px; font-size: 13px; font-weight: 600;
  background: #dff3ea; color: #00654a; margin-right: 8px; }
.pill.short { background: #fdebd8; color: #9a4300; }
.bar { position: sticky; top: 0; z-index: 10; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 14px;
  box-shadow: 0 2px 6px rgb(0 0 0 / 6%); padding: 10px 18px; }
.bar input[type=range] { flex: 1 1 220px; min-width: 120px; accent-color: var(--accent); }
.bar output { min-width: 8.5em; font-variant-numeric: tabular-nums; }
button, select { font: inherit; color: var(--ink); background: #fff; border: 1px solid #c3c7ce; border-radius: 7px;
  padding: 3px 12px; cursor: pointer; }
button#play { min-width: 92px; background: var(--accent); border-color: var(--accent); color: #fff; font-weight: 600; }
button:disabled { opacity: .45; cursor: default; }
button.at { padding: 0 8px; font-variant-numeric: tabular-nums; color: var(--accent); white-space: nowrap; }
.chips { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-top: 8px; font-size: 14px; }
.chips label, .key { display: inline-flex; align-items: center; gap: 6px; }
.swatch { flex: none; width: 14px; height: 4px; border-radius: 2px; }
.keys { display: flex; flex-wrap: wrap; gap: 0 18px; font-size: 13px; margin: 6px 0 0 4px; }
.keys b { font-weight: 600; }
.keys .value { font-variant-numeric: tabular-nums; color: var(--soft); min-width: 5.5em; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 8px; margin-bottom: 10px; }
.tiles div { border: 1px solid var(--line); border-radius: 8px; padding: 6px 10px; }
.tiles { font-size: 12.5px; color: var(--soft); }
.tiles b { display: block; font-size: 20px; color: var(--ink); }
.said { white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { overflow-wrap: break-word; min-width: 4.5em; max-width: 34em; }
summary { cursor: pointer; font-weight: 600; font-size: 14px; margin: 10px 0 4px; }
footer { margin-top: 18px; font-size: 13px; color: var(--soft); text-align: center; }
@media (max-width: 600px) { main { padding: 16px 8px 32px; } section { padding: 12px 12px; } }
@media print { .bar { position: static; } section { break-inside: avoid; } }
"""

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
$body
<footer>Written by Kempe. This file needs no network.</footer>
</main>
$script
</body>
</html>
""")

#: The time bar. The slider counts frames and is the only place where the present time is kept.
TIME_BAR = Template("""<section class="bar" aria-label="time">
<button id="play" type="button"$disabled>Play</button>
<input id="frame" type="range" min="0" max="$last" step="1" value="0" aria-label="time"$disabled>
<output id="time"></output>
<label>speed <select id="speed" aria-label="speed">
<option value="0.25">¼×</option><option value="0.5">½×</option><option value="1" selected>1×</option>
<option value="2">2×</option><option value="4">4×</option><option value="real">real time</option>
</select></label>
</section>""")

#: Run when a plot is clicked (cb_obj is the event): the slider goes to the frame nearest in time.
PLOT_TAPPED = """
const slider = document.getElementById("frame")
let nearest = 0
t.forEach((moment, k) => { if (Math.abs(moment - cb_obj.x) < Math.abs(t[nearest] - cb_obj.x)) nearest = k })
slider.value = nearest
slider.dispatchEvent(new Event("input"))
"""

#: Run once when the figures are there.
PLAYER = """
const slider = document.getElementById("frame"), play = document.getElementById("play")
const speed = document.getElementById("speed"), clock = document.getElementById("time")
const shown = document.getElementById("names"), last = t.length - 1
const short = (value) => value == null ? "–" : String(Number(value.toPrecision(5))).replace("-", "\\u2212")
const readings = values.map((panel, k) =>
  panel.map((_, j) => document.querySelector(`[data-curve="${k}-${j}"]`)))

// --- the mechanism in one frame
const xy = frames == null ? [] : frames.data.points, stride = xy.length / t.length
const x = (k, i) => xy[k * stride + 2 * i], y = (k, i) => xy[k * stride + 2 * i + 1]

function move(k) {
  for (const {source, at} of shapes)
    source.data = {...source.data, xs: at.map((s) => s.map((i) => x(k, i))), ys: at.map((s) => s.map((i) => y(k, i)))}
  for (const {source, at, toward} of dots) {
    const angle = at.map((_, n) => toward.length == 0 ? 0 :
      Math.atan2(y(k, toward[n][1]) - y(k, toward[n][0]), x(k, toward[n][1]) - x(k, toward[n][0])))
    source.data = {...source.data, x: at.map((i) => x(k, i)), y: at.map((i) => y(k, i)), angle}
  }
}

// --- signs of a fixed size on the screen: supports on the ground, arrows round driven pins
const scale = () => (stage.x_range.end - stage.x_range.start) / stage.inner_width

function support(x0, y0, d) {
  const strokes = [-9, -3, 3, 9].map((s) => [[x0 + (s - 1) * d, x0 + (s - 5) * d], [y0 - 14 * d, y0 - 19 * d]])
  return [[[x0 - 8 * d, x0, x0 + 8 * d], [y0 - 14 * d, y0, y0 - 14 * d]],
          [[x0 - 13 * d, x0 + 13 * d], [y0 - 14 * d, y0 - 14 * d]], ...strokes]
}

function arrow(x0, y0, sense, d) {
  const turns = Array.from({length: 25}, (_, n) => Math.PI * (0.5 + sense * (n - 12) * 0.032))
  const arc = [turns.map((a) => x0 + 15 * d * Math.cos(a)), turns.map((a) => y0 + 15 * d * Math.sin(a))]
  const tip = [arc[0][24], arc[1][24]], back = turns[24] - sense * Math.PI / 2
  const barb = (turn) => [tip[0] + 6 * d * Math.cos(back + turn), tip[1] + 6 * d * Math.sin(back + turn)]
  const [one, two] = [barb(0.5), barb(-0.5)]
  return [arc, [[one[0], tip[0], two[0]], [one[1], tip[1], two[1]]]]
}

function sign(k) {
  const d = scale()
  const strokes = {supports: signs.supported.flatMap((i) => support(x(k, i), y(k, i), d)),
                   motors: signs.turned.flatMap(([i, sense]) => arrow(x(k, i), y(k, i), sense, d))}
  for (const name in strokes)
    signs[name].data = {xs: strokes[name].map((s) => s[0]), ys: strokes[name].map((s) => s[1])}
}

// --- names: each at the first place beside its link where it covers neither a pin nor another name nor, if it can be
// helped, a link
const pen = document.createElement("canvas").getContext("2d")
pen.font = "12px Helvetica, Arial, sans-serif"
const widths = labels == null ? [] : labels.names.map((name) => pen.measureText(name).width)
const chosen = widths.map(() => 0)
const meet = (a, b) => a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3]

function spots(corners, width) {  // middles of a name, in pixels
  const found = [], edges = corners.length > 2 ? [...corners, corners[0]] : corners
  const [mx, my] = [0, 1].map((c) => corners.reduce((sum, corner) => sum + corner[c], 0) / corners.length)
  if (corners.length > 2) found.push([mx, my], [mx, my + 16], [mx, my - 16])
  for (const away of corners.length == 1 ? [14, 24, 34] : [])
    found.push([mx + away + width / 2, my + away / 2], [mx - away - width / 2, my + away / 2],
               [mx + away + width / 2, my - away / 2], [mx - away - width / 2, my - away / 2])
  for (const share of [0.5, 0.35, 0.65, 0.2, 0.8])
    for (let n = 0; n + 1 < edges.length; n++) {
      const [from, to] = [edges[n], edges[n + 1]], along = [to[0] - from[0], to[1] - from[1]]
      const length = Math.hypot(...along) || 1, normal = [-along[1] / length, along[0] / length]
      const away = 6 + Math.abs(normal[0]) * width / 2 + Math.abs(normal[1]) * 7
      for (const side of normal[0] + 0.1 * normal[1] > 0 ? [away, -away] : [-away, away])
        found.push([0, 1].map((c) => from[c] + share * along[c] + side * normal[c]))
    }
  return found
}

function place(k) {
  const pixel = scale(), at = (i) => [x(k, i) / pixel, y(k, i) / pixel]
  const frame = [stage.x_range.start / pixel, stage.y_range.start / pixel, stage.inner_width, stage.inner_height]
  const within = (b) => b[0] > frame[0] && b[0] + b[2] < frame[0] + frame[2] && b[1] > frame[1] &&
    b[1] + b[3] < frame[1] + frame[3]
  const taken = labels.avoid.map(([i, left, low, wide, high]) => [at(i)[0] + left, at(i)[1] + low, wide, high])
  const outlines = labels.at.map((around) => around.map(at))
  const crossed = outlines.flatMap((corners) => corners.flatMap((from, n) => {
    const to = corners[(n + 1) % corners.length], steps = Array.from({length: 20}, (_, j) => j / 20)
    return steps.map((s) => [from[0] + s * (to[0] - from[0]) - 3, from[1] + s * (to[1] - from[1]) - 3, 6, 6])
  }))
  const xs = [], ys = [], text = []
  outlines.forEach((corners, n) => {
    const width = widths[n], boxes = spots(corners, width).map((p) => [p[0] - width / 2, p[1] - 7, width + 5, 14])
    const open = (box) => within(box) && !taken.some((other) => meet(box, other))
    const clear = (box) => open(box) && !crossed.some((other) => meet(box, other))
    let best = clear(boxes[chosen[n]]) ? chosen[n] : boxes.findIndex(clear)
    if (best < 0) best = boxes.findIndex(open)
    if (best >= 0) { chosen[n] = best; taken.push(boxes[best]) }
    const box = boxes[Math.max(best, 0)]
    xs.push(box[0] * pixel); ys.push((box[1] + 7) * pixel); text.push(best >= 0 ? labels.names[n] : "")
  })
  labels.source.data = {...labels.source.data, x: xs, y: ys, text}
}

function adorn(k) { if (scale() > 0) { sign(k); place(k) } }

function show(k) {
  if (stage != null) { move(k); adorn(k) }
  for (const cursor of cursors) cursor.location = t[k]
  marks.forEach(({source, colours}, n) => {
    const there = values[n].map((curve, j) => [curve[k], colours[j]]).filter(([value]) => value != null)
    source.data = {x: there.map(() => t[k]), y: there.map((p) => p[0]), colour: there.map((p) => p[1])}
    values[n].forEach((curve, j) => { readings[n][j].textContent = short(curve[k]) })
  })
  clock.textContent = "t = " + short(t[k])
}

// --- the time
let playing = false, now = t[0], before = 0
slider.addEventListener("input", () => { now = t[slider.value]; show(Number(slider.value)) })

function go(k) { slider.value = k; show(k) }

function tick(moment) {
  if (!playing) return
  const span = t[last] - t[0], rate = speed.value == "real" ? 1 : Number(speed.value) * span / 6
  now += rate * Math.max(0, moment - before) / 1000
  before = moment
  if (now > t[last]) now = t[0]
  let k = t.findIndex((other) => other > now) - 1
  if (k < 0) k = now >= t[last] ? last : 0
  if (k != Number(slider.value)) go(k)
  requestAnimationFrame(tick)
}

play.addEventListener("click", () => {
  playing = !playing
  play.textContent = playing ? "Pause" : "Play"
  before = performance.now()
  requestAnimationFrame(tick)
})

// --- what else can be clicked
document.querySelectorAll("[data-trace]").forEach((box) => box.addEventListener("change", () => {
  for (const part of traces[box.dataset.trace]) part.visible = box.checked
}))
shown?.addEventListener("change", () => { labels.glyphs.visible = shown.checked })
document.querySelectorAll("[data-t]").forEach((button) => button.addEventListener("click", () => {
  const wanted = Number(button.dataset.t)
  go(t.reduce((best, other, k) => Math.abs(other - wanted) < Math.abs(t[best] - wanted) ? k : best, 0))
  now = t[slider.value]
}))
if (stage != null)
  for (const range of [stage.x_range, stage.y_range]) range.change.connect(() => adorn(Number(slider.value)))
go(Number(slider.value))
document.body.dataset.ready = "yes"
"""

"use strict"
// What everything else uses: elements, numbers as text, colours, ticks, the packed numbers.

/** An element with attributes (on… are listeners) and children. */
function make(tag, attributes = {}, ...children) {
  return fitted(document.createElement(tag), attributes, children)
}

/** The same in a drawing. */
function stroke(tag, attributes = {}, ...children) {
  return fitted(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children)
}

function fitted(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value)
    else if (value !== undefined) element.setAttribute(key, value)
  element.append(...children)
  return element
}

const byId = (id) => document.getElementById(id)
const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

/** A number as people write it. */
function short(value, digits = 5) {
  if (value == null || !Number.isFinite(value)) return "–"
  return String(Number(value.toPrecision(digits))).replace("e+", "e").replaceAll("-", "\u2212")
}

/** A colour that goes with light and dark: of the theme by its name, else as it is; strength is the share of it in paper. */
function tone(colour, strength = 1) {
  const own = ["#000000", "#262626"].includes(colour) ? "var(--ink)"
    : colour.startsWith("#") ? `color-mix(in srgb, ${colour} var(--lift), var(--ink))` : `var(--${colour})`
  return strength == 1 ? own : `color-mix(in srgb, ${own} ${100 * strength}%, var(--paper))`
}

/** Round numbers between two others, about so many. */
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count)
  if (!(rough > 0) || !Number.isFinite(rough)) return []
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough * 0.999)
  const first = Math.ceil(low / step - 1e-9), found = []
  for (let k = first; k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)))
  return found
}

/** The index of the entry of a growing array that is nearest to a value. */
function nearest(sorted, value) {
  let low = 0, high = sorted.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (sorted[middle] <= value) low = middle
    else high = middle
  }
  return value - sorted[low] <= sorted[high] - value ? low : high
}

/** The numbers of the page: unpacked, their four bytes put together, and the steps between them added up. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))
  const planes = new Uint8Array(await new Response(stream).arrayBuffer())
  const count = planes.length / 4, bytes = new Uint8Array(planes.length)
  for (let b = 0; b < 4; b++) for (let k = 0; k < count; k++) bytes[4 * k + b] = planes[b * count + k]
  const bits = new Uint32Array(bytes.buffer)
  for (let k = 1; k < count; k++) bits[k] += bits[k - 1]
  return new Float32Array(bytes.buffer)
}

/** Text beside the pointer. Lines are [colour or nothing, words, value]. */
const tip = {
  show(event, lines) {
    const box = byId("tip")
    box.replaceChildren(...lines.map(([colour, words, value]) => make("div", {},
      ...(colour ? [make("span", {class: "swatch", style: `background:${colour}`})] : []), words,
      ...(value === undefined ? [] : [make("b", {}, value)]))))
    box.hidden = false
    const {width, height} = box.getBoundingClientRect()
    box.style.left = `${event.clientX + 16 + width > innerWidth ? Math.max(4, event.clientX - 12 - width) : event.clientX + 16}px`
    box.style.top = `${clamp(event.clientY - height - 12, 4, innerHeight - height - 4)}px`
  },
  hide() { byId("tip").hidden = true },
}

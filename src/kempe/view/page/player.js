// The time: which row of the run is shown, and how it goes on.

class Player {
  /** show(row) is called whenever another row is to be seen. */
  constructor(show, seconds) {
    this.show = show
    this.seconds = seconds
    this.row = 0
    this.playing = false
    this.slider = byId("frame")
    this.button = byId("play")
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)))
    this.button.addEventListener("click", () => this.toggle())
    byId("back").addEventListener("click", () => this.step(-1))
    byId("ahead").addEventListener("click", () => this.step(1))
    document.addEventListener("keydown", (event) => this.key(event))
    document.addEventListener("click", (event) => {  // so that the space bar plays, whatever was clicked before
      const clicked = event.detail > 0 && event.target.closest("button, input[type=checkbox], input[type=range]")
      if (clicked) clicked.blur()
    })
  }

  /** Take the times and events of another run; the time stays about what it is, or the share of a cycle. */
  take(run, cyclic) {
    const now = this.t && this.t.length ? this.t[this.row] : run.t[0], share = this.row / Math.max(1, (this.t || []).length - 1)
    this.t = run.t
    this.slider.max = Math.max(0, this.t.length - 1)
    for (const element of [this.slider, this.button, byId("back"), byId("ahead")]) element.disabled = this.t.length < 2
    if (this.t.length < 2) this.pause()
    const last = Math.max(1, this.t.length - 1)
    byId("marks").replaceChildren(...run.events.map((event) => {
      const share = nearest(this.t, event.t) / last
      return make("span", {style: `left: calc(8px + (100% - 16px) * ${share})`, "data-event": event.t,
        ...(event.struck ? {class: "hit"} : {}), onclick: () => this.at(event.t),
        onpointermove: (e) => tip.show(e, [[null, `t = ${short(event.t)}`], [null, event.message],
          ...(event.impulses ? [[null, `impulses: ${event.impulses}`]] : [])]),
        onpointerleave: tip.hide})
    }))
    this.go(cyclic ? Math.round(share * last) : nearest(this.t, now))
  }

  go(row) {
    this.row = clamp(row, 0, Math.max(0, this.t.length - 1))
    this.now = this.t[this.row]
    this.slider.value = this.row
    byId("time").textContent = this.t.length ? `t = ${short(this.now)}` : ""
    this.show(this.row)
  }

  /** Go to the row nearest to a time. */
  at(t) { if (this.t.length) this.go(nearest(this.t, t)) }

  step(rows) { this.pause(); this.go(this.row + rows) }

  toggle() { this.playing ? this.pause() : this.play() }

  play() {
    if (this.t.length < 2) return
    this.playing = true
    this.button.textContent = "Pause"
    if (this.row == this.t.length - 1) this.go(0)
    this.before = performance.now()
    requestAnimationFrame((moment) => this.tick(moment))
  }

  pause() {
    this.playing = false
    this.button.textContent = "Play"
  }

  tick(moment) {
    if (!this.playing) return
    const first = this.t[0], last = this.t[this.t.length - 1], speed = byId("speed").value
    const rate = speed == "real" ? 1 : Number(speed) * (last - first) / this.seconds
    let now = this.now + rate * Math.max(0, moment - this.before) / 1000
    this.before = moment
    if (now > last) now = first
    const row = nearest(this.t, now)
    if (row != this.row) this.go(row)
    this.now = now  // (between rows)
    requestAnimationFrame((next) => this.tick(next))
  }

  key(event) {
    const at = event.target, typing = at.matches("input[type=search], select, textarea, summary")
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return
    if (at.matches("input[type=range]") && at != this.slider) return
    const stride = event.shiftKey ? 10 : 1
    const acts = {ArrowLeft: () => this.step(-stride), ArrowRight: () => this.step(stride),
      Home: () => this.step(-this.t.length), End: () => this.step(this.t.length)}
    if (!at.matches("button, input[type=checkbox]")) acts[" "] = () => this.toggle()
    if (!(event.key in acts)) return
    event.preventDefault()
    acts[event.key]()
  }
}

// The page: unpacks the runs, puts them on the screen, and lets the reader choose among them.

class Report {
  async begin() {
    this.content = JSON.parse(byId("content").textContent)
    const numbers = await unpacked(byId("numbers").textContent.trim())
    this.runs = this.content.runs.map((run, number) => this.opened(run, number, numbers))
    this.theme()
    const pictured = this.runs.some((run) => run.frames)
    byId("stage").hidden = !pictured
    byId("charts").hidden = this.content.bare || this.runs[0].t.length < 2
    document.body.classList.toggle("bare", this.content.bare)
    byId("bar").hidden = this.runs.every((run) => run.t.length < 2)
    const beside = !byId("charts").hidden || document.querySelector(".aside")
    document.querySelector(".studio").classList.toggle("both", pictured && Boolean(beside))
    if (pictured) this.mechanism = this.stage(numbers)
    for (const group of ["reactions", "loads"]) byId(group).checked = this.content.forces
    byId("joint-names").checked = this.content.pictures.every((picture) => picture.names.length <= 24)
    this.player = new Player(() => this.show(), this.content.seconds)
    this.choose(0)
    this.charts = byId("charts").hidden ? null : new Charts(this.content.panels)
    this.chooser()
    this.listen()
    if (this.content.bare && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.player.play()
    document.body.dataset.ready = "yes"
  }

  /** What shows the mechanism: a drawing, a scene in space, or where no scene can be drawn a still of it. */
  stage(numbers) {
    const {meshes} = this.content
    if (!meshes) return new Mechanism(this.box(), this.content)
    if (!Space.possible) return new Still(this.content.still)
    const at = ([start, count]) => numbers.subarray(start, start + count)
    this.meshes = Object.fromEntries(Object.entries(meshes).map(([name, mesh]) => [name,
      Object.fromEntries(Object.entries(mesh).map(([key, place]) => [key, at(place)]))]))
    return new Space(this.content)
  }

  /** A run with its numbers in place. */
  opened(run, number, numbers) {
    const at = ([start, count]) => numbers.subarray(start, start + count)
    const [high, low] = run.t.map(at)
    return {...run, number, t: Float64Array.from(high, (value, k) => value + low[k]), free: run.free && at(run.free), frames: run.frames && at(run.frames),
      values: Object.fromEntries(Object.entries(run.values).map(([name, place]) => [name, at(place)])),
      loads: (run.loads || []).map((load) => ({...load, at: at(load.at), force: at(load.force), moment: at(load.moment)}))}
  }

  /** All there is to see in any of the runs. */
  box() {
    const boxes = this.content.pictures.map((picture) => picture.box)
    return [0, 1, 2, 3].map((c) => (c < 2 ? Math.min : Math.max)(...boxes.map((box) => box[c])))
  }

  /** The run that stays behind the one that is seen: one to compare with, or the first of a family. */
  get behind() {
    const {behind, chooser} = this.content
    if (behind != null) return this.runs[behind]
    return chooser?.kind == "parameters" && this.run != this.runs[0] ? this.runs[0] : null
  }

  get picture() { return this.run && this.content.pictures[this.run.picture] }

  choose(number) {
    this.run = this.runs[number]
    if (this.charts) this.charts.zoom = null
    if (this.mechanism) this.mechanism.take(this.run, this.picture)
    this.player.take(this.run, this.content.chooser?.kind == "modes")
    if (this.charts) this.charts.draw()
  }

  show() {
    if (this.mechanism) this.mechanism.show(this.player.row)
    if (this.charts) this.charts.show()
  }

  // --- families

  chooser() {
    const {chooser} = this.content
    if (!chooser) return
    byId("chooser").hidden = false
    if (chooser.kind == "beside") byId("chooser").append(make("p", {id: "beside"}, chooser.words))
    else if (chooser.kind == "modes") this.offerModes()
    else this.offerParameters(chooser.names)
  }

  offerModes() {
    const buttons = this.runs.map((run) => make("button", {type: "button", "aria-pressed": run == this.run, onclick: () => {
      this.choose(run.number)
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", k == run.number))
    }}, run.label))
    byId("chooser").append(make("div", {class: "modes"}, ...buttons))
  }

  /** A slider for each parameter, over the values that were computed. */
  offerParameters(names) {
    const word = make("p", {class: "soft", id: "design"}), sliders = {}
    const home = make("button", {type: "button", class: "quiet", id: "home", onclick: () => { this.choose(0); settle() }}, "back to it")
    const settle = () => {
      for (const [name, {values, slider, output}] of Object.entries(sliders)) {
        slider.value = values.indexOf(this.run.parameters[name])
        output.textContent = short(this.run.parameters[name])
      }
      word.replaceChildren(this.behind ? "Dashed: the design of this report. " : "The design of this report.",
        ...(this.run.success ? [] : [make("b", {}, this.run.message), " "]), ...(this.behind ? [home] : []))
    }
    for (const name of names) {
      const values = [...new Set(this.runs.map((run) => run.parameters[name]))].sort((a, b) => a - b), output = make("output")
      const slider = make("input", {type: "range", min: 0, max: values.length - 1, step: 1, "data-parameter": name,
        oninput: () => { this.choose(this.like(name, values[slider.value])); settle() }})
      sliders[name] = {values, slider, output}
      byId("chooser").append(make("label", {}, name, output, slider))
    }
    byId("chooser").append(word)
    settle()
  }

  /** The run with one parameter at a value that is nearest to the present one in the others. */
  like(name, value) {
    const far = (run) => Object.entries(run.parameters).reduce((sum, [other, p]) => {
      const all = this.runs.map((one) => one.parameters[other]), width = Math.max(...all) - Math.min(...all) || 1
      return sum + ((p - this.run.parameters[other]) / width) ** 2
    }, 0)
    const fit = this.runs.filter((run) => run.parameters[name] == value)
    return fit.reduce((best, run) => far(run) < far(best) ? run : best).number
  }

  // --- the rest

  listen() {
    byId("save-all").addEventListener("click", () => saveTable(this.content.quantities.map(({name}) => name)))
    for (const kind of ["svg", "png"])
      byId(`stage-${kind}`).addEventListener("click", () => this.mechanism.save(kind))
    document.querySelectorAll("[data-t]").forEach((button) => button.addEventListener("click", () => {
      this.player.pause()
      this.player.at(Number(button.dataset.t))
    }))
    byId("theme").addEventListener("click", () => {
      document.documentElement.dataset.theme = document.documentElement.dataset.theme == "dark" ? "light" : "dark"
    })
  }

  /** Light or dark as the reader's system is, until it is switched here. */
  theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)")
    const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light" }
    dark.addEventListener("change", follow)
    follow()
  }
}

const report = new Report()
report.begin()

// A search box: a few letters of a name bring up what there is, to be chosen with the pointer or the keys.

const LISTED = 80

class Search {
  /** items() are {name, label, kind}; pick(name) is called with the one that was chosen. */
  constructor(words, items, pick, wide = false) {
    this.items = items
    this.pick = pick
    this.input = make("input", {type: "search", placeholder: words, "aria-label": words, autocomplete: "off", spellcheck: "false",
      role: "combobox", size: wide ? 24 : Math.max(5, words.length - 1)})
    this.list = make("ul", {hidden: "", role: "listbox"})
    this.element = make("span", {class: wide ? "search broad" : "search"}, this.input, this.list)
    this.input.addEventListener("focus", () => this.open())
    this.input.addEventListener("input", () => this.open())
    this.input.addEventListener("blur", () => this.close())
    this.input.addEventListener("keydown", (event) => this.key(event))
  }

  open() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean)
    const fits = this.items().filter(({label}) => words.every((word) => label.toLowerCase().includes(word)))
    this.found = fits.slice(0, LISTED)
    this.list.replaceChildren(...this.found.map(({name, label, kind}) => make("li", {role: "option", "data-name": name,
      onpointerdown: (event) => { event.preventDefault(); this.choose(name) }}, label, make("span", {}, kind || ""))))
    const more = fits.length - this.found.length
    if (more > 0) this.list.append(make("li", {class: "more"}, `and ${more} more: type a few letters`))
    if (!fits.length) this.list.append(make("li", {class: "more"}, "nothing is called that"))
    this.list.hidden = false
    const spare = innerWidth - 8 - this.element.getBoundingClientRect().left - this.list.offsetWidth
    this.list.style.left = `${Math.min(0, spare)}px`  // within the window
    this.mark(words.length ? 0 : -1)
  }

  mark(number) {
    this.marked = clamp(number, -1, this.found.length - 1)
    this.list.querySelectorAll("[role=option]").forEach((item, k) => item.setAttribute("aria-selected", k == this.marked))
    if (this.marked >= 0) this.list.children[this.marked].scrollIntoView({block: "nearest"})
  }

  key(event) {
    const acts = {ArrowDown: () => this.mark(this.marked + 1), ArrowUp: () => this.mark(this.marked - 1),
      Enter: () => { if (this.marked >= 0) this.choose(this.found[this.marked].name) }, Escape: () => this.input.blur()}
    if (!(event.key in acts)) return
    event.preventDefault()
    acts[event.key]()
  }

  choose(name) {
    this.input.value = ""
    this.input.blur()
    this.pick(name)
  }

  close() { this.list.hidden = true }
}

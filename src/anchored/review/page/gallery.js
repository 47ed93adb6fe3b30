"use strict";
// The suspects, as many as fit the screen: cards for images, lines for tables. Only those in sight are elements.

review.Gallery = class {
  constructor(state, store, onSelect) {
    this.state = state;
    this.store = store;
    this.onSelect = onSelect;
    this.box = document.getElementById("gallery");
    this.sheet = document.getElementById("sheet");
    this.cards = new Map(); // place in state.shown -> element
    this.values = new Map(); // sample -> its row of the table
    this.selected = 0;
    this.box.classList.toggle("table", !state.image);
    this.box.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.measure()).observe(this.box);
    this.sheet.addEventListener("click", (event) => {
      const card = event.target.closest("[data-place]");
      if (card) this.select(Number(card.dataset.place));
    });
    this.measure();
  }

  measure() {
    const width = this.sheet.clientWidth;
    this.columns = this.state.image ? Math.max(1, Math.floor(width / 148)) : 1;
    this.cell = width / this.columns;
    this.height = this.state.image ? 188 : 54;
    this.reset();
  }

  // The list or its layout changed: start over.
  reset() {
    for (const card of this.cards.values()) card.remove();
    this.cards.clear();
    const rows = Math.ceil(this.state.shown.length / this.columns);
    this.sheet.style.height = `${rows * this.height}px`;
    document.getElementById("empty").hidden = rows > 0;
    this.draw();
  }

  later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { shown } = this.state;
    const above = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 2);
    const below = Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 2;
    const first = above * this.columns;
    const last = Math.min(shown.length, below * this.columns);
    for (const [place, card] of this.cards) {
      if (place < first || place >= last) {
        card.remove();
        this.cards.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (this.cards.has(place)) continue;
      const card = this.make(place);
      this.cards.set(place, card);
      this.sheet.append(card);
    }
    if (!this.state.image) this.fill();
  }

  make(place) {
    const { state } = this;
    const i = state.shown[place];
    const card = review.element("div", "card");
    card.dataset.place = place;
    card.id = `card-${place}`;
    card.setAttribute("role", "option");
    card.style.width = `${this.cell - 12}px`;
    card.style.height = `${this.height - 12}px`;
    const x = (place % this.columns) * this.cell + 6;
    const y = Math.floor(place / this.columns) * this.height + 6;
    card.style.transform = `translate(${x}px, ${y}px)`;
    if (state.image) card.append(review.picture(this.store, state.index[i], state));
    const names = review.element("div", "names");
    names.append(
      review.element("span", "given", state.classes[state.given[i]]),
      review.element("span", "arrow", "→"),
      review.element("span", "suggested", state.classes[state.suggested[i]]),
    );
    const score = review.element("span", "score", review.percent(state.wrong[i]));
    score.title = "probability that the given label is wrong";
    card.append(names, score);
    if (!state.image) card.append(review.element("span", "values", this.values.get(state.index[i]) ?? ""));
    card.append(review.element("span", "mark"));
    this.dress(place, card);
    return card;
  }

  // What changes without the card being made anew: selection and decision.
  dress(place, card = this.cards.get(place)) {
    if (!card) return;
    const { state } = this;
    const i = state.shown[place];
    const made = state.decided.get(i);
    card.classList.toggle("selected", place === this.selected);
    card.setAttribute("aria-selected", String(place === this.selected));
    card.dataset.decision = made?.decision ?? "";
    card.querySelector(".suggested").textContent =
      state.classes[made?.decision === "relabel" ? made.label : state.suggested[i]];
  }

  // The values of table rows come by the screen, not by the row.
  async fill() {
    const { state } = this;
    const indices = [...this.cards.keys()].map((place) => state.index[state.shown[place]]);
    const missing = indices.filter((index) => !this.values.has(index)).slice(0, 200);
    if (!missing.length) return;
    for (const index of missing) this.values.set(index, "");
    try {
      const rows = await this.store.rows(missing);
      missing.forEach((index, j) => {
        const order = state.order(state.position.get(index)).slice(0, 12);
        const text = order.map((c) => `${state.columns[c]} ${rows[j][c]}`).join("  ·  ");
        this.values.set(index, text);
      });
    } catch {
      for (const index of missing) this.values.delete(index);
      return;
    }
    for (const [place, card] of this.cards) {
      const found = this.values.get(state.index[state.shown[place]]);
      if (found !== undefined) card.querySelector(".values").textContent = found;
    }
  }

  select(place) {
    const n = this.state.shown.length;
    const before = this.selected;
    this.selected = Math.max(0, Math.min(n - 1, place));
    this.dress(before);
    this.dress(this.selected);
    this.reveal();
    this.onSelect(n ? this.state.shown[this.selected] : null);
    if (n) this.box.setAttribute("aria-activedescendant", `card-${this.selected}`);
  }

  reveal() {
    const top = Math.floor(this.selected / this.columns) * this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + this.box.clientHeight)
      this.box.scrollTop = top + this.height - this.box.clientHeight;
    this.draw();
  }
};

// Text goes into the page as text only, so no name can become an element.
review.element = (tag, kind, text) => {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
};

review.picture = (store, index, state) => {
  const image = review.element("img", state.small ? "small" : "");
  image.alt = "";
  image.decoding = "async";
  image.draggable = false;
  image.addEventListener("error", () => {
    image.replaceWith(review.element("span", "unreadable", "cannot be shown"));
  });
  image.src = store.picture(index);
  return image;
};

review.percent = (value) => {
  if (value === null) return "–";
  const percent = 100 * value;
  if (percent > 99 && percent < 100) return "> 99 %";
  if (percent > 0 && percent < 1) return "< 1 %";
  return `${Math.round(percent)} %`;
};

"use strict";
// The selected sample: large, with its labels, what was decided, and samples that are called so already.

review.Detail = class {
  constructor(state, store) {
    this.state = state;
    this.store = store;
    this.part = (name) => document.getElementById(name);
  }

  show(i) {
    const { state, store } = this;
    this.current = i;
    this.part("detail").classList.toggle("nothing", i === null);
    this.cancel();
    if (i === null) return;
    const index = state.index[i];
    if (state.image) this.part("stage").replaceChildren(review.picture(store, index, state));
    this.part("sample").textContent = `${state.id[i]} · ${state.group[i]}-shot class · margin ${state.margin[i] ?? "–"}`;
    this.part("given-name").textContent = state.classes[state.given[i]];
    this.part("suggested-name").textContent = state.classes[state.suggested[i]];
    this.part("given-probability").textContent = review.percent(state.given_probability[i]);
    this.part("suggested-probability").textContent = review.percent(state.suggested_probability[i]);
    this.decision(i);
    this.compare(i, index);
  }

  decision(i) {
    const made = this.state.decided.get(i);
    const words = { accept: "suggestion accepted", keep: "kept", skip: "skipped" };
    const text = made ? words[made.decision] ?? `changed to ${this.state.classes[made.label]}` : "not yet";
    this.part("decision-name").textContent = text;
    this.part("labels").dataset.decision = made?.decision ?? "";
  }

  cancel() {
    clearTimeout(this.timer);
    this.asked?.abort();
  }

  // Neighbours cost the server a look at a whole class: ask only once the reader stays.
  compare(i, index) {
    const { state } = this;
    this.asked = new AbortController();
    const { signal } = this.asked;
    this.part("neighbours").classList.add("stale");
    this.timer = setTimeout(async () => {
      const found = [];
      try {
        for (const label of state.neighbours ? [state.suggested[i], state.given[i]] : []) {
          const near = await this.store.neighbours(index, label, signal);
          if (near.index.length) found.push([label, near]);
        }
        const indices = [index, ...found.flatMap(([, near]) => near.index)];
        const rows = state.image ? null : await this.store.rows(indices);
        if (signal.aborted) return;
        this.draw(found, rows);
      } catch (error) {
        if (!signal.aborted) this.part("neighbours").replaceChildren();
      }
      this.part("neighbours").classList.remove("stale");
    }, 120);
  }

  draw(found, rows) {
    const { state, store } = this;
    if (rows) {
      this.part("neighbours").replaceChildren(this.table(found, rows));
      return;
    }
    const sections = found.map(([label, near]) => {
      const section = review.element("section");
      const heading = review.element("h2", "", "labelled ");
      heading.append(review.element("b", "", state.classes[label]), ", most alike");
      const strip = review.element("div", "strip");
      near.index.forEach((index, j) => {
        const figure = review.element("figure");
        figure.title = `${near.id[j]}, similarity ${near.similarity[j]}`;
        figure.append(review.picture(store, index, state));
        strip.append(figure);
      });
      section.append(heading, strip);
      return section;
    });
    this.part("neighbours").replaceChildren(...sections);
  }

  // A table of features: this row beside the mean of the rows most like it, of either class.
  table(found, rows) {
    const { state } = this;
    const table = review.element("table");
    const head = review.element("tr");
    head.append(review.element("th", "", "column"), review.element("th", "", "this row"));
    const groups = [];
    let start = 1;
    for (const [label, near] of found) {
      const heading = review.element("th", "", `near, ${state.classes[label]}`);
      heading.title = `mean of the ${near.index.length} rows labelled so that are most alike`;
      head.append(heading);
      groups.push(rows.slice(start, start + near.index.length));
      start += near.index.length;
    }
    table.append(head);
    const against = new Set(state.speaking?.[this.current] ?? []);
    state.order(this.current).slice(0, 200).forEach((c) => {
      const name = state.columns[c];
      const line = review.element("tr", against.has(c) ? "speaks" : "");
      if (against.has(c)) line.title = "speaks against the given label";
      line.append(review.element("td", "", name), review.element("td", Number.isNaN(Number(rows[0][c])) ? "words" : "number", rows[0][c]));
      for (const group of groups) {
        const mean = group.reduce((sum, row) => sum + Number(row[c] || NaN), 0) / group.length;
        const cell = Number.isNaN(mean) ? group[0][c] : String(Number(mean.toPrecision(4))); // of words, the nearest
        line.append(review.element("td", Number.isNaN(mean) ? "words" : "number", cell));
      }
      table.append(line);
    });
    return table;
  }
};

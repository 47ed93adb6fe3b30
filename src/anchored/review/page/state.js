"use strict";
// What is known and decided. No element of the page is touched here.

globalThis.review = {};

review.State = class {
  // `content` holds one list per column; position i is the i-th most suspicious sample.
  constructor(content) {
    Object.assign(this, content);
    this.size = content.index.length;
    this.position = new Map(content.index.map((index, i) => [index, i]));
    this.filter = { given: null, suggested: null, least: 0, status: "all" };
    this.load(content.decisions);
    this.refilter();
  }

  // The columns of the sample at position i, those that speak against its label first.
  order(i) {
    const first = this.speaking?.[i] ?? [];
    return [...first, ...[...this.columns.keys()].filter((c) => !first.includes(c))];
  }

  // Take over decisions [index, decision, class], in the order they were made.
  load(decisions) {
    this.decided = new Map(); // a Map keeps the order, which undo goes by
    for (const [index, decision, label] of decisions) {
      if (this.position.has(index)) this.decided.set(this.position.get(index), { decision, label });
    }
  }

  // Decide on position i, or with "undo" take the decision back.
  decide(i, decision, label) {
    this.decided.delete(i);
    if (decision !== "undo") this.decided.set(i, { decision, label });
  }

  last() {
    return [...this.decided.keys()].at(-1);
  }

  // The positions that pass the filter. What is decided later stays in the list until the filter is changed, so that
  // nothing jumps under the reader's eyes.
  refilter() {
    const { given, suggested, least, status } = this.filter;
    this.matching = [];
    this.shown = [];
    for (let i = 0; i < this.size; i++) {
      if (given !== null && this.given[i] !== given) continue;
      if (suggested !== null && this.suggested[i] !== suggested) continue;
      if (this.wrong[i] < least) continue;
      this.matching.push(i);
      if (this.hasStatus(i, status)) this.shown.push(i);
    }
  }

  hasStatus(i, status) {
    const made = this.decided.get(i)?.decision;
    switch (status) {
      case "open": return made === undefined;
      case "decided": return made !== undefined && made !== "skip";
      case "changed": return made === "accept" || made === "relabel";
      case "skip": return made === "skip";
      default: return true;
    }
  }

  // The place in `shown` of the next sample without a decision, after place `from`; wraps around once.
  nextOpen(from) {
    const n = this.shown.length;
    for (let step = 1; step <= n; step++) {
      const place = (from + step) % n;
      if (!this.decided.has(this.shown[place])) return place;
    }
    return null;
  }

  counts() {
    let left = this.expected_elsewhere;
    let changed = 0;
    for (let i = 0; i < this.size; i++) {
      const made = this.decided.get(i)?.decision;
      if (made === undefined || made === "skip") left += this.wrong[i];
      else if (made !== "keep" && this.decided.get(i).label !== this.given[i]) changed++;
    }
    const done = this.matching.reduce((sum, i) => sum + (this.decided.has(i) ? 1 : 0), 0);
    return { left, changed, done, of: this.matching.length };
  }
};

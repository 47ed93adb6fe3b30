"use strict";
// Another label, by typing the beginning or any part of its name.

review.Chooser = class {
  constructor(classes, onChoose) {
    this.classes = classes;
    this.onChoose = onChoose;
    this.dialog = document.getElementById("chooser");
    this.input = document.getElementById("wanted");
    this.list = document.getElementById("choices");
    this.recent = [];
    this.input.addEventListener("input", () => this.filter());
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    this.list.addEventListener("click", (event) => {
      const choice = event.target.closest("[data-label]");
      if (choice) this.take(Number(choice.dataset.label));
    });
  }

  open() {
    this.input.value = "";
    this.filter();
    this.dialog.showModal();
    this.input.focus();
  }

  // The labels that were chosen last come first, then names that begin as typed, then those that contain it.
  filter() {
    const typed = this.input.value.trim().toLowerCase();
    const order = [...this.recent, ...this.classes.keys()];
    const seen = new Set();
    const begins = [];
    const contains = [];
    for (const label of order) {
      if (seen.has(label)) continue;
      seen.add(label);
      const at = this.classes[label].toLowerCase().indexOf(typed);
      if (at === 0) begins.push(label);
      else if (at > 0) contains.push(label);
    }
    this.found = [...begins, ...contains].slice(0, 50);
    this.at = 0;
    this.draw();
  }

  draw() {
    const choices = this.found.map((label, place) => {
      const item = review.element("li", place === this.at ? "chosen" : "", this.classes[label]);
      item.dataset.label = label;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(place === this.at));
      return item;
    });
    this.list.replaceChildren(...(choices.length ? choices : [review.element("li", "none", "no such class")]));
    this.list.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.at = Math.max(0, Math.min(this.found.length - 1, this.at + step));
      this.draw();
    } else if (event.key === "Enter") {
      if (this.found.length) this.take(this.found[this.at]);
    } else return;
    event.preventDefault();
  }

  take(label) {
    this.recent = [label, ...this.recent.filter((other) => other !== label)].slice(0, 5);
    this.dialog.close();
    this.onChoose(label);
  }
};

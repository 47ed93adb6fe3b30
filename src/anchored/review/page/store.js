"use strict";
// Where samples come from and decisions go: a server, or the file itself and the browser's storage.

review.Server = class {
  static async open() {
    return new review.Server(await review.Server.ask("suspects"));
  }

  static async ask(path, options) {
    const answer = await fetch(path, options);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
  }

  constructor(content) {
    this.content = content;
    this.confirmed = content.decisions.slice(); // what is known to be on the disk
    this.waiting = 0;
    this.queue = Promise.resolve();
    this.round = 0; // counts failures
    this.broken = null;
  }

  picture(index) {
    return `picture/${index}`;
  }

  rows(indices) {
    return review.Server.ask(`rows/${indices.join(",")}`);
  }

  neighbours(index, label, signal) {
    return review.Server.ask(`neighbours/${index}/${label}`, { signal });
  }

  // Decisions are sent one after the other. When one fails, those that wait behind it are dropped as well: the page goes
  // back to what is confirmed, and what is shown must be what is saved.
  save(index, decision, label) {
    this.waiting++;
    const round = this.round;
    const sent = this.queue.then(async () => {
      try {
        if (round !== this.round) throw this.broken;
        await review.Server.ask("decisions", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ index, decision, label }),
        });
        this.broken = null;
        this.confirmed = this.confirmed.filter((made) => made[0] !== index);
        if (decision !== "undo") this.confirmed.push([index, decision, label]);
      } catch (error) {
        if (round === this.round) this.round++;
        this.broken = error;
        throw error;
      } finally {
        this.waiting--;
      }
    });
    this.queue = sent.catch(() => {});
    return sent;
  }
};

review.File = class {
  static open() {
    return new review.File(JSON.parse(document.getElementById("content").textContent));
  }

  constructor(content) {
    this.content = content;
    this.key = `anchored-review-${content.key}`;
    this.waiting = 0;
    this.kept = true;
    try {
      this.lines = JSON.parse(localStorage.getItem(this.key) ?? "[]");
    } catch {
      this.lines = [];
      this.kept = false;
    }
    const made = new Map();
    for (const [index, decision, label] of this.lines) {
      made.delete(index);
      if (decision !== "undo") made.set(index, [index, decision, label]);
    }
    content.decisions = [...made.values()];
  }

  get confirmed() {
    return this.content.decisions;
  }

  picture(index) {
    return this.content.pictures[index];
  }

  async rows(indices) {
    return indices.map((index) => this.content.rows[index]);
  }

  async neighbours(index, label) {
    return this.content.near[`${index}/${label}`] ?? { index: [], id: [], similarity: [] };
  }

  async save(index, decision, label) {
    this.lines.push([index, decision, label, new Date().toISOString().replace(/\.\d+Z$/, "+00:00")]);
    try {
      localStorage.setItem(this.key, JSON.stringify(this.lines));
    } catch {
      this.kept = false;
    }
  }

  // The file that `anchored fit --corrections` takes.
  csv() {
    const { content } = this;
    const position = new Map(content.index.map((index, i) => [index, i]));
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const rows = this.lines.map(([index, decision, label, time]) => {
      const i = position.get(index);
      const name = decision === "skip" || decision === "undo" ? "" : content.classes[label];
      return [String(index), content.id[i], content.classes[content.given[i]], decision, name, time];
    });
    const head = ["index", "id", "given", "decision", "label", "time"];
    return [head, ...rows].map((row) => row.map(quoted).join(",") + "\n").join("");
  }
};

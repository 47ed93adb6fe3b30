"use strict";
// Keys and buttons become decisions; decisions become what the page shows.

(async () => {
  const part = (name) => document.getElementById(name);
  const trouble = (text) => {
    part("trouble").textContent = text;
    part("trouble").hidden = !text;
  };

  let store;
  try {
    store = part("content") ? review.File.open() : await review.Server.open();
  } catch (error) {
    trouble(`The suspects cannot be loaded: ${error.message}`);
    return;
  }
  const state = new review.State(store.content);
  const detail = new review.Detail(state, store);
  part("run").textContent = state.title;
  document.title = `Review of ${state.title}`;
  document.body.classList.toggle("tabular", !state.image);

  const sure = state.wrong.some((wrong) => wrong >= 0.5);
  state.filter.least = state.least ?? (sure ? 0.5 : 0);
  part("least").value = String(100 * state.filter.least);
  state.refilter();

  const gallery = new review.Gallery(state, store, (i) => detail.show(i));
  const chooser = new review.Chooser(state.classes, (label) => decide("relabel", label));

  const number = new Intl.NumberFormat("en");
  function tell() {
    const { left, changed, done, of } = state.counts();
    part("bar").max = Math.max(of, 1);
    part("bar").value = done;
    part("progress").textContent = `${number.format(done)} of ${number.format(of)} decided`;
    part("changed").textContent = number.format(changed);
    part("left").textContent = number.format(Math.round(left));
    part("shown").textContent = `${number.format(state.shown.length)} shown`;
    part("least-shown").textContent = `${Math.round(100 * state.filter.least)} %`;
    saved();
  }

  function saved() {
    const inFile = store instanceof review.File;
    const kept = inFile ? (store.kept ? "kept in this browser" : "NOT kept: download before closing") : "saved";
    part("saved").textContent = store.waiting ? "saving …" : store.broken ? "not saved" : kept;
    part("saved").classList.toggle("bad", Boolean(store.broken) || store.kept === false);
    part("saved").title = state.saved_in ?? "";
  }

  function refresh(i) {
    const place = state.shown.indexOf(i);
    if (place >= 0) gallery.dress(place);
    if (detail.current === i) detail.decision(i);
    tell();
  }

  // Shown at once, then saved; should that fail, the page goes back to what is on the disk.
  function record(i, decision, label) {
    state.decide(i, decision, label);
    store.save(state.index[i], decision, label).then(saved, (error) => {
      state.load(store.confirmed);
      gallery.reset();
      gallery.select(gallery.selected);
      tell();
      trouble(
        `The last decision was not saved (${error.message}). If anchored review has ended, start it again and open ` +
        "the new address; what was saved before is kept.",
      );
    });
    trouble("");
    refresh(i);
  }

  function decide(decision, label) {
    const i = state.shown[gallery.selected];
    if (i === undefined) return;
    record(i, decision, { accept: state.suggested[i], keep: state.given[i], relabel: label }[decision] ?? null);
    const next = state.nextOpen(gallery.selected);
    if (next !== null) gallery.select(next);
  }

  function undo() {
    const i = state.last();
    if (i === undefined) return;
    record(i, "undo", null);
    const place = state.shown.indexOf(i);
    if (place >= 0) gallery.select(place);
  }

  const actions = {
    accept: () => decide("accept"),
    keep: () => decide("keep"),
    skip: () => decide("skip"),
    relabel: () => state.shown.length && chooser.open(),
    undo,
    help: () => part("keys").showModal(),
    next: () => {
      const next = state.nextOpen(gallery.selected);
      if (next !== null) gallery.select(next);
    },
  };
  const page = () => Math.max(1, Math.floor(gallery.box.clientHeight / gallery.height)) * gallery.columns;
  const keys = {
    a: actions.accept, Enter: actions.accept, k: actions.keep, s: actions.skip, l: actions.relabel, u: undo,
    n: actions.next, "?": actions.help,
    ArrowLeft: () => gallery.select(gallery.selected - 1),
    ArrowRight: () => gallery.select(gallery.selected + 1),
    ArrowUp: () => gallery.selected >= gallery.columns && gallery.select(gallery.selected - gallery.columns),
    ArrowDown: () => gallery.select(gallery.selected + gallery.columns),
    PageUp: () => gallery.select(gallery.selected - page()),
    PageDown: () => gallery.select(gallery.selected + page()),
    Home: () => gallery.select(0),
    End: () => gallery.select(state.shown.length - 1),
  };
  document.addEventListener("keydown", (event) => {
    const undoes = (event.ctrlKey || event.metaKey) && event.key === "z";
    if (document.querySelector("dialog[open]") || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && !undoes) return;
    if (event.target.closest("select, input") && event.key !== "Escape") return;
    if (event.key === "Enter" && event.target.closest("button")) return;
    if (event.key === "Escape") return gallery.box.focus();
    const action = undoes ? undo : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.querySelector(".actions").addEventListener("click", (event) => {
    const button = event.target.closest("[data-action]");
    if (!button) return;
    actions[button.dataset.action]();
    if (button.dataset.action !== "relabel") gallery.box.focus();
  });
  part("help").addEventListener("click", actions.help);

  for (const name of ["given", "suggested"]) {
    const counts = new Map();
    for (const label of state[name]) counts.set(label, (counts.get(label) ?? 0) + 1);
    for (const [label, text] of state.classes.entries()) {
      if (!counts.has(label)) continue;
      const option = review.element("option", "", `${text} (${number.format(counts.get(label))})`);
      option.value = String(label);
      part(name).append(option);
    }
  }
  part("filters").addEventListener("input", () => {
    const chosen = (name) => (part(name).value === "" ? null : Number(part(name).value));
    state.filter = {
      given: chosen("given"),
      suggested: chosen("suggested"),
      least: Number(part("least").value) / 100,
      status: part("status").value,
    };
    state.refilter();
    gallery.box.scrollTop = 0;
    gallery.selected = 0;
    gallery.reset();
    gallery.select(0);
    tell();
  });
  part("filters").addEventListener("submit", (event) => event.preventDefault());

  if (store instanceof review.File) {
    part("download").hidden = false;
    part("download").addEventListener("click", () => {
      const link = review.element("a");
      link.href = URL.createObjectURL(new Blob([store.csv()], { type: "text/csv" }));
      link.download = "corrections.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
  window.addEventListener("beforeunload", (event) => {
    if (store.waiting) event.preventDefault();
  });

  tell();
  gallery.select(state.nextOpen(-1) ?? 0);
  gallery.box.focus();
  document.body.dataset.ready = "true";
})();

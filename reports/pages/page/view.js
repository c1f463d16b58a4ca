// Moving about: wheel, pinch, drag, keys, buttons and the steps of the story.
let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; if (box.width) all(); });
}

function all() {
  draw();
  drawLatency();
  drawOverview();
  listSoon();
  board.dataset.from = Math.round(view.from);
  board.dataset.to = Math.round(view.to);
  document.getElementById("range").textContent = sec(view.from) + " to " + sec(view.to) + " (" + span(view.to - view.from) + ")";
}

// show brings a stretch of time into view, kept within the run.
function show(from, to) {
  const width = Math.min(Math.max(to - from, least), full.to);
  view.from = Math.min(Math.max(from, 0), full.to - width);
  view.to = view.from + width;
  redraw();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  const width = Math.min(Math.max((view.to - view.from) * factor, least), full.to), share = (at - view.from) / (view.to - view.from);
  show(at - share * width, at - share * width + width);
}

function pan(share) {
  const by = (view.to - view.from) * share;
  show(view.from + by, view.to + by);
}

// showFold has a button for the lanes on which nothing happened, where there are some.
function showFold() {
  const b = document.querySelector("[data-do=fold]");
  b.hidden = idle.length < 2;
  b.textContent = (folding ? "Show " : "Fold ") + idle.length + " idle lanes";
}

function say(text) { document.getElementById("say").textContent = text; }

const deeds = {
  in: () => zoom(0.5), out: () => zoom(2), fit: () => show(0, full.to), story: () => told >= 0 && show(...stories[told].view),
  prev: () => goTo(view.step - 1), next: () => goTo(view.step + 1), before: () => choose(told - 1), after: () => choose(told + 1),
  fold: () => { folding = !folding; showFold(); start(); },
  findPrev: () => jump(-1), findNext: () => jump(1),
};
const keys = {
  "+": deeds.in, "=": deeds.in, "-": deeds.out, 0: deeds.fit, Home: deeds.fit, ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
  PageUp: () => pan(-0.9), PageDown: () => pan(0.9), ArrowUp: deeds.prev, ArrowDown: deeds.next, p: deeds.prev, n: deeds.next, s: deeds.story,
  "<": () => stepOp(-1), ",": () => stepOp(-1), ">": () => stepOp(1), ".": () => stepOp(1), "[": () => stepLane(-1), "]": () => stepLane(1), v: deeds.after, V: deeds.before,
};
const ofSteps = /^(Arrow(Up|Down)|[nps])$/; // without a story they scroll the page, as ever

function steer(e, keys) {
  if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey || !steps.length && ofSteps.test(e.key)) return;
  e.preventDefault();
  keys[e.key]();
}
board.addEventListener("keydown", e => steer(e, keys));
document.querySelectorAll("[data-do]").forEach(b => b.addEventListener("click", () => deeds[b.dataset.do]()));

// A wheel that was already scrolling the page goes on scrolling it.
let scrolled = 0;
addEventListener("scroll", () => { scrolled = performance.now(); }, { passive: true });
for (const canvas of [board, chart]) {
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && performance.now() - scrolled < 350) return;
    const out = e.deltaY > 0 && view.to - view.from >= full.to;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / box.width);
    else if (out && !e.ctrlKey) return;
    else zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * (e.ctrlKey ? 0.01 : 0.004)), scale.t(e.offsetX));
    e.preventDefault();
  }, { passive: false });
  canvas.addEventListener("dblclick", deeds.fit);
  dragging(canvas);
}

// dragging pans with one pointer and zooms with two.
function dragging(canvas) {
  const held = new Map();
  let took = 0;
  canvas.addEventListener("pointerdown", e => {
    held.set(e.pointerId, e.offsetX);
    took = e.offsetX;
    canvas.setPointerCapture(e.pointerId);
    const badge = badgeAt(e);
    if (canvas === board && badge >= 0) goTo(badge);
  });
  canvas.addEventListener("click", e => {
    if (canvas === board && fold && e.offsetY >= fold.y && e.offsetY < fold.y + fold.h && Math.abs(e.offsetX - took) < 4) return deeds.fold();
    const hit = Math.abs(e.offsetX - took) < 4 && e.offsetX > box.left && e.offsetY > 22 ? canvas === board ? under(e.offsetX, e.offsetY) : pointTip(e.offsetX) : null;
    if (hit) focusOn(hit.op);
  });
  canvas.addEventListener("pointermove", e => {
    if (!held.has(e.pointerId)) return;
    const before = [...held.values()];
    held.set(e.pointerId, e.offsetX);
    const after = [...held.values()];
    canvas.classList.add("held");
    if (held.size === 1) { const by = (before[0] - after[0]) * scale.pixel(); if (by) show(view.from + by, view.to + by); }
    if (held.size === 2) zoom(Math.max(Math.abs(before[0] - before[1]), 8) / Math.max(Math.abs(after[0] - after[1]), 8), scale.t((after[0] + after[1]) / 2));
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => { held.delete(e.pointerId); canvas.classList.remove("held"); });
}

function badgeAt(e) {
  if (e.offsetY > 22) return -1;
  const { inside, at } = badgePlaces();
  return at.findIndex((x, i) => inside[i] && Math.abs(x - e.offsetX) < 10);
}

// The whole run in small, and a window on what is in view: drag it, drag its edges,
// or click beside it. What does not change is drawn once.
const mini = document.createElement("canvas");
const miniTop = 3, miniHeight = 26;
function miniX(t) { return box.left + t / full.to * box.width; }

function drawMini() {
  mini.width = overview.width;
  mini.height = overview.height;
  const c = mini.getContext("2d"), px = full.to / box.width, ratio = overview.width / overview.clientWidth || 1;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.fillStyle = color.muted;
  c.fillText("whole run", 2, 16);
  c.fillStyle = color.wash;
  c.fillRect(box.left, miniTop, box.width, miniHeight);
  c.fillStyle = color.valid;
  const clients = lanes.filter(l => l.role === "client"), h = Math.min(19 / clients.length, 4);
  clients.forEach((l, k) => l.bars.forEach(bars => visible(bars, 0, full.to, px, (i, a, b, share) => {
    c.globalAlpha = 0.2 + 0.6 * share;
    c.fillRect(miniX(a), miniTop + 3 + k * h, Math.max(miniX(b) - miniX(a), 1), Math.max(h - 0.5, 1));
  })));
  c.globalAlpha = 0.4;
  c.fillStyle = color.fault;
  for (const [from, to] of faultSpans) c.fillRect(miniX(from), miniTop, Math.max(miniX(to) - miniX(from), 1.5), miniHeight);
  c.globalAlpha = 1;
  c.fillStyle = color.overlap;
  visible(overlapSpans, 0, full.to, px, (i, a, b) => c.fillRect(miniX(a), miniTop + miniHeight - 4, Math.max(miniX(b) - miniX(a), 2), 4));
}

function drawOverview() {
  const c = overview.getContext("2d"), left = miniX(view.from), right = Math.max(miniX(view.to), left + 3);
  c.save();
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, overview.width, overview.height);
  c.drawImage(mini, 0, 0);
  c.restore();
  drawFoundMini(c);
  c.fillStyle = color.paper;
  c.globalAlpha = 0.62;
  c.fillRect(box.left, miniTop, left - box.left, miniHeight);
  c.fillRect(right, miniTop, box.left + box.width - right, miniHeight);
  c.globalAlpha = 1;
  c.strokeStyle = color.accent;
  c.lineWidth = 1.5;
  c.strokeRect(left, miniTop, right - left, miniHeight);
  c.fillStyle = color.accent;
  for (const x of [left, right]) c.fillRect(x - 2, miniTop + miniHeight / 2 - 6, 4, 12);
  c.lineWidth = 1;
  overview.setAttribute("aria-valuenow", Math.round((view.from + view.to) / 2 / full.to * 100));
  overview.setAttribute("aria-valuetext", sec(view.from) + " to " + sec(view.to) + " of " + sec(full.to));
}

// grip is what the pointer takes hold of: an edge, the window, or nothing.
function grip(x) {
  const left = miniX(view.from), right = Math.max(miniX(view.to), left + 3);
  if (right - left < 24) return x > left - 8 && x < right + 8 ? "window" : ""; // too narrow to have edges
  if (Math.abs(x - left) < 6) return "from";
  if (Math.abs(x - right) < 6) return "to";
  return x > left && x < right ? "window" : "";
}

let hold = null; // what is held, and how far from where it was taken
overview.addEventListener("pointerdown", e => {
  overview.setPointerCapture(e.pointerId);
  const t = (e.offsetX - box.left) / box.width * full.to, half = (view.to - view.from) / 2;
  const part = grip(e.offsetX);
  if (!part) show(t - half, t + half);
  hold = { part: part || "window", off: part ? view.from - t : -half };
});
overview.addEventListener("pointermove", e => {
  if (!hold) { const part = grip(e.offsetX); overview.style.cursor = part === "window" ? "grab" : part ? "ew-resize" : "pointer"; return; }
  const t = (e.offsetX - box.left) / box.width * full.to;
  if (hold.part === "window") show(t + hold.off, t + hold.off + view.to - view.from);
  else if (hold.part === "from") show(Math.min(t, view.to - least), view.to);
  else show(view.from, Math.max(t, view.from + least));
});
for (const end of ["pointerup", "pointercancel"]) overview.addEventListener(end, () => { hold = null; });
overview.addEventListener("keydown", e => steer(e, { ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), PageUp: () => pan(-0.9), PageDown: () => pan(0.9), Home: deeds.fit, "+": deeds.in, "=": deeds.in, "-": deeds.out }));

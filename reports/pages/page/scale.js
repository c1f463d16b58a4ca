// Where things are: the stretch of time in view, the lanes and the colours.
const stories = data.stories || [];
let told = data.told; // the story that is told; -1: none
let steps = told >= 0 && stories[told].steps || [];
const least = 200; // µs: zoom no further in
const full = { from: 0, to: Math.max(data.length, least) };
const view = { from: 0, to: full.to, step: -1, op: -1 };
const box = { left: 104, right: 14, width: 0, top: 0, height: 0 };
const board = document.getElementById("timeline"), chart = document.getElementById("latency"), overview = document.getElementById("overview");
let color = {}, sharp = 1; // sharp: how many dots a pixel has at least; more on paper
const paperWidth = 700; // what a sheet of A4 has room for; the browser scales it to others

const scale = {
  x: t => box.left + (t - view.from) / (view.to - view.from) * box.width,
  t: x => view.from + (x - box.left) / box.width * (view.to - view.from),
  pixel: () => (view.to - view.from) / box.width,
};

// Lanes on which nothing happened share one low row, fold, unless they are asked for.
let folding = true, fold = null;
const busy = new Set([...Array.from({ length: faults.length / 7 }, (_, i) => faults[i * 7]), ...Array.from({ length: stalls.length / 4 }, (_, i) => stalls[i * 4])]);
const idle = lanes.filter(l => l.role !== "resource" && !busy.has(l.index) && !l.waits.n && !l.bars.some(b => b.n) && !l.ticks.length && !l.marks.length);

// place gives every lane its height and the canvases their size.
function place() {
  const width = sharp > 1 ? paperWidth : board.parentElement.clientWidth, longest = lanes.reduce((n, l) => Math.max(n, l.name.length), 0);
  box.left = Math.min(Math.max(72, 18 + longest * 7), Math.max(90, width * 0.25));
  box.width = width - box.left - box.right;
  box.top = stories.some(s => s.steps) ? 50 : 28;
  const folded = folding && idle.length > 1 ? idle : [], shown = lanes.filter(l => !folded.includes(l));
  let y = box.top;
  fold = null;
  shown.forEach((l, i) => {
    if (folded.length && !fold && l.role === "resource") { fold = { y: y + 4, h: 18 }; y += 22; }
    if (i && shown[i - 1].role !== l.role) y += 10;
    l.row = l.role === "server" ? 14 : 18;
    l.y = y;
    l.h = Math.max(l.rows, 1) * l.row + 8;
    y += l.h;
  });
  if (folded.length && !fold) { fold = { y: y + 4, h: 18 }; y += 22; }
  for (const l of folded) Object.assign(l, fold, { row: 14 });
  box.height = y + 6;
  size(board, width, box.height);
  size(chart, width, 158);
  size(overview, width, 34);
}

function size(canvas, width, height) {
  const ratio = Math.min(Math.max(window.devicePixelRatio || 1, sharp), 16000 / height); // browsers draw none that is larger
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
}

// paint reads the colours of the page, which follow the reader's light or dark.
function paint() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["ink", "muted", "line", "paper", "wash", "wait", "belief", "valid", "overlap", "fault", "faultline", "unfenced", "fenced", "bad", "p50", "p99", "accent"])
    color[name] = css.getPropertyValue("--" + name).trim();
}

// ticks are round instants, about one in every 90 pixels.
function ticks(from, to, width) {
  const rough = (to - from) / Math.max(width / 90, 1);
  const base = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = base * [1, 2, 5, 10].find(m => base * m >= rough);
  const all = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) all.push(t);
  return { all, label: t => step >= 1e6 ? t / 1e6 + " s" : step >= 1e3 && to < 1e6 ? +(t / 1e3).toFixed(3) + " ms" : (t / 1e6).toFixed(Math.max(0, Math.ceil(6 - Math.log10(step)))) + " s" };
}

// laneAt is the lane at a height, or undefined.
function laneAt(y) { return lanes.find(l => y >= l.y && y < l.y + l.h); }

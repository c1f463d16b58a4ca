// The page around the timeline: links into it, the copy button, light and dark.
document.querySelectorAll("[data-step]").forEach(a => a.addEventListener("click", e => {
  e.preventDefault();
  goTo(+a.dataset.step);
  history.replaceState(null, "", a.getAttribute("href"));
  reveal();
}));
document.querySelectorAll("[data-from]").forEach(a => a.addEventListener("click", e => {
  e.preventDefault();
  show(+a.dataset.from, +a.dataset.to);
  reveal();
}));

// reveal scrolls to the timeline if it is not in sight.
function reveal() {
  const r = board.getBoundingClientRect(), calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (r.top < 0 || r.bottom > innerHeight) document.getElementById("timeline-head").scrollIntoView({ behavior: calm ? "auto" : "smooth" });
}

document.querySelectorAll("[data-copy]").forEach(b => b.addEventListener("click", () => {
  const from = document.getElementById(b.dataset.copy);
  const done = () => { b.textContent = "Copied"; setTimeout(() => { b.textContent = "Copy"; }, 1500); };
  const choose = () => getSelection().selectAllChildren(from);
  if (navigator.clipboard) navigator.clipboard.writeText(from.textContent).then(done, choose);
  else choose();
}));

// Links like #t=1.2-3.4 (seconds) and #step-3 open the page at that place.
function open() {
  const range = /^#t=([\d.]+)-([\d.]+)$/.exec(location.hash), step = /^#step-(\d+)$/.exec(location.hash);
  if (range) show(range[1] * 1e6, range[2] * 1e6);
  if (step) goTo(step[1] - 1);
}

function start() { paint(); place(); all(); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", start);
new ResizeObserver(start).observe(board.parentElement);
for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => {
  document.documentElement.classList.toggle("printed", on);
  start();
});
addEventListener("hashchange", open);
show(view.from, view.to);
open();
start();
document.documentElement.dataset.ready = Math.round(performance.now());

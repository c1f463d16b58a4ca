// The page around the timeline: links into it, the copy button, light and dark.

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

// Links like #t=1.2-3.4 (seconds), #violation-3, #violation-3-step-2, #step-2 and
// #op-120 open the page at that place.
async function open() {
  const hash = location.hash, range = /^#t=([\d.]+)-([\d.]+)$/.exec(hash), op = /^#op-(\d+)$/.exec(hash);
  const violation = /^#violation-(\d+)(?:-step-(\d+))?$/.exec(hash), step = /^#step-(\d+)$/.exec(hash);
  if (range) show(range[1] * 1e6, range[2] * 1e6);
  if (violation) {
    const i = stories.findIndex(s => s.number === +violation[1]);
    if (i < 0) say("Violation " + violation[1] + " is not on this page.");
    else if (i !== told || !violation[2]) choose(i);
    if (i >= 0 && violation[2]) { goTo(violation[2] - 1); history.replaceState(null, "", hash); }
  }
  if (step) goTo(step[1] - 1);
  if (op) { await wholeRead; focusOn(+op[1]); }
}

// start draws all anew; a page that is not shown has no width, and gets none.
function start() {
  if (!board.parentElement.clientWidth) return;
  paint();
  place();
  drawMini();
  all();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", start);
new ResizeObserver(start).observe(board.parentElement);
for (const [event, on] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => {
  document.documentElement.classList.toggle("printed", on);
  sharp = on ? 2.5 : 1;
  start();
});
addEventListener("hashchange", open);
if (told >= 0) show(...stories[told].view); else show(0, full.to);
showFold();
start();
document.documentElement.dataset.ready = Math.round(performance.now());
// The console of a browser can ask for any operation: dlmtest.op(12).
window.dlmtest = { op: rawOp, count: data.count };
const wholeRead = new Promise(done => setTimeout(done)).then(readOps).then(() => {
  document.documentElement.dataset.whole = Math.round(performance.now());
  if (view.step >= 0) describe(view.op, "Step " + (view.step + 1) + " of " + steps.length);
  redraw();
  list();
}).catch(fail);
open();

// The story that is told: its rows, its place in the timeline, and the choice of
// another. All text is set as text.
const chooser = document.getElementById("violation");

function element(name, text, cls) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
}

// choose tells another story and moves the timeline there.
function choose(i, scroll) {
  if (!stories[i]) return;
  const s = stories[i];
  told = i;
  steps = s.steps || [];
  view.step = view.op = -1;
  if (chooser) chooser.value = String(s.number);
  document.getElementById("story-of").textContent = "violation " + s.number + ", " + s.property;
  document.getElementById("message").textContent = s.message;
  document.getElementById("sure").textContent = s.sure === "certain" ? "" : s.sure === "possible" ? "Possible: it depends on an operation whose outcome is unknown." : "Disturbed: a stall of the machine touches it.";
  document.getElementById("unsaid").hidden = steps.length > 0;
  document.getElementById("unsaid").querySelector("code").textContent = "dlmtest explain DIR " + s.number;
  table.hidden = !steps.length;
  table.classList.toggle("no-token", !steps.some(step => step.token));
  table.tBodies[0].replaceChildren(...steps.map((step, k) => row(s, step, k)));
  document.querySelectorAll("[data-violation]").forEach(a => a.setAttribute("aria-current", String(+a.dataset.violation === s.number)));
  show(s.view[0], s.view[1]);
  history.replaceState(null, "", "#violation-" + s.number);
  say("Violation " + s.number + " of " + s.property + ": " + (steps.length ? steps.length + " steps. " : "") + s.message);
  if (scroll) document.getElementById("story-head").scrollIntoView();
}

function row(s, step, k) {
  const r = element("tr", undefined, step.kind), link = element("a", k + 1), who = element("th", step.who), what = element("td", step.what);
  link.href = "#violation-" + s.number + "-step-" + (k + 1);
  link.setAttribute("aria-label", "Step " + (k + 1) + ", show it in the timeline");
  r.dataset.step = k;
  who.scope = "row";
  if (step.where) who.append(" ", element("small", "at " + step.where));
  if (step.fault) what.append(" ", element("small", "during the " + step.fault, "during"));
  const number = element("td");
  number.append(link);
  const left = element("td", step.left || "", step.over ? "past" : "");
  r.append(number, element("td", step.time, "time"), who, what, element("td", step.token || ""), left, copyCell(step.unfenced), copyCell(step.fenced));
  return r;
}

function copyCell(copy) {
  if (!copy) return element("td", "");
  const sign = { accepted: "✓ ", refused: "✗ " }[copy.what] || "";
  return element("td", sign + copy.text, "copy " + copy.what);
}

// goTo chooses a step of the story and shows it with its neighbours.
function goTo(i) {
  if (!steps.length) return;
  view.step = i = Math.min(Math.max(i, 0), steps.length - 1);
  view.op = steps[i].op;
  const at = steps[i].at, gaps = steps.map(s => Math.abs(s.at - at)).filter(d => d > 50), whole = stories[told].view[1] - stories[told].view[0];
  const width = Math.min(Math.max(8 * Math.min(...gaps, whole), 8000), whole);
  show(at - width / 2, at + width / 2);
  document.querySelectorAll("[data-step]").forEach((r, k) => {
    r.classList.toggle("on", k === i);
    if (k === i) r.setAttribute("aria-current", "step"); else r.removeAttribute("aria-current");
  });
  describe(steps[i].op, "Step " + (i + 1) + " of " + steps.length);
  const s = steps[i], copies = [["unfenced", s.unfenced], ["fenced", s.fenced]].filter(c => c[1]).map(c => c[0] + " copy " + c[1].text);
  say((i + 1) + " of " + steps.length + ":  " + [s.time, s.who, s.what, ...copies].join("  "));
}

const table = document.getElementById("story");
if (table) table.addEventListener("click", e => {
  const r = e.target.closest("[data-step]");
  if (!r || getSelection().toString()) return;
  e.preventDefault();
  goTo(+r.dataset.step);
  history.replaceState(null, "", "#violation-" + stories[told].number + "-step-" + (+r.dataset.step + 1));
  reveal();
});
if (chooser) chooser.addEventListener("change", () => choose(stories.findIndex(s => String(s.number) === chooser.value)));
document.querySelectorAll("[data-violation]").forEach(a => a.addEventListener("click", e => {
  e.preventDefault();
  choose(stories.findIndex(s => s.number === +a.dataset.violation), true);
}));

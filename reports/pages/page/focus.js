// One operation in focus, with all that was recorded of it, and the operations in
// view as a table: what the drawing shows, for those who cannot point at it.
const focusBox = document.getElementById("focus"), listing = document.getElementById("listing");
const laneNames = new Map(lanes.map(l => [l.name, l]));

// laneOf is the lane on which an operation is drawn.
function laneOf(i) {
  const f = sparse(ops.faults, 6, i);
  return laneNames.get(f >= 0 ? S[ops.faults[f + 3]] : S[ops.node[i]]) || lanes[lanes.length - 1];
}

// focusOn shows an operation in the timeline and tells what was recorded.
function focusOn(i) {
  if (!ops || !(i >= 0 && i < data.count)) return;
  view.op = i;
  view.step = -1;
  const at = opTime[i], width = view.to - view.from;
  if (width > full.to / 2) show(at - Math.max(data.lease, full.to / 500) / 2, at + Math.max(data.lease, full.to / 500) / 2);
  else if (at < view.from + width * 0.05 || at > view.to - width * 0.05) show(at - width / 2, at + width / 2);
  else redraw();
  describe(i, "");
  const o = rawOp(i);
  say("Operation " + i + " at " + sec(at) + ": " + [o.node, o.f, o.type, o.key, o.token ? "token " + o.token : "", o.error].filter(Boolean).join(" "));
}

// describe fills the panel beneath the timeline; -1: the step has no operation.
function describe(i, lead) {
  focusBox.hidden = i < 0;
  if (i < 0) return;
  const head = (lead ? lead + ": " : "") + "operation " + i + " as recorded";
  const raw = element("details"), was = focusBox.querySelector("details");
  raw.open = !!was && was.open;
  raw.append(element("summary", head), element("pre", rawText(i)));
  focusBox.replaceChildren(...(view.step >= 0 && steps[view.step] ? [element("p", steps[view.step].who + " " + steps[view.step].what)] : []), raw);
}

// drawFocus marks the operation in focus on its lane.
function drawFocus(c) {
  if (view.op < 0 || !ops || view.step >= 0) return;
  const x = scale.x(opTime[view.op]), l = laneOf(view.op);
  c.strokeStyle = color.accent;
  c.lineWidth = 2;
  line(c, x, box.top - 4, x, box.height);
  c.strokeRect(x - 7, l.y + 0.5, 14, l.h - 1);
  c.lineWidth = 1;
}

// stepOp moves the focus to the operation before or after, or into what is in view.
function stepOp(by) {
  if (!ops || !data.count) return;
  const inside = view.op >= 0 && opTime[view.op] >= view.from && opTime[view.op] <= view.to;
  focusOn(Math.min(Math.max(inside ? view.op + by : lower(opTime, 1, view.from), 0), data.count - 1));
}

// stepLane moves the focus to the nearest operation of the next lane.
function stepLane(by) {
  if (!ops || !data.count) return;
  if (view.op < 0) return stepOp(1);
  for (let k = laneOf(view.op).index + by; lanes[k]; k += by)
    for (let d = 1; d < 20000; d++) for (const i of [view.op - d, view.op + d]) if (i >= 0 && i < data.count && laneOf(i) === lanes[k]) return focusOn(i);
}

// The table lists the first operations in view; the drawing says where to look.
const mostRows = 200;
let waiting = 0;
function listSoon() { if (!listing.open) return; clearTimeout(waiting); waiting = setTimeout(list, 200); }
function list() {
  if (!ops || !listing.open) return;
  const from = lower(opTime, 1, view.from), to = lower(opTime, 1, view.to + 1), rows = [];
  for (let i = from; i < Math.min(to, from + mostRows); i++) rows.push(listRow(i));
  listing.querySelector("tbody").replaceChildren(...rows);
  listing.querySelector("p").textContent = (to - from).toLocaleString("en") + " of " + data.count.toLocaleString("en") + " in view" + (to - from > mostRows ? "; the first " + mostRows + " are listed: zoom in for others." : ".");
}

function listRow(i) {
  const o = rawOp(i), r = element("tr"), link = element("a", i), first = element("td");
  link.href = "#op-" + i;
  first.append(link);
  const copy = c => !c ? "" : o.f === "apply" ? (c.accepted ? "accepted" : "refused") : c.value || c.base || "";
  const notes = [o.value, o.fault && o.fault.kind + " " + o.fault.phase + (o.fault.proof ? ": " + o.fault.proof : ""), o.length, o.error].filter(Boolean).join("; ");
  r.append(first, element("td", o.time), element("td", o.node), element("td", o.f + (o.type === "note" ? "" : " " + o.type)), element("td", o.key), element("td", o.token), element("td", notes), element("td", copy(o.unfenced)), element("td", copy(o.fenced)));
  return r;
}
listing.addEventListener("toggle", list);

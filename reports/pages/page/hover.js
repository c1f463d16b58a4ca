// What lies beneath the pointer, as it was recorded. All text is set as text.
const tip = document.getElementById("tip");

function under(x, y) {
  const l = laneAt(y), px = scale.pixel();
  if (!l) return null;
  const t = scale.t(x);
  const mark = nearest(l.marks, 7, t, 9 * px), tick = nearest(l.ticks, 3, t, 4 * px);
  if (mark >= 0) return writeTip(l.marks, mark * 7);
  if (tick >= 0) return { head: ["renewed its lease", "was refused a renewal", "was told that its lock is lost", "did not write: its own check said lost"][l.ticks[tick * 3 + 2]], op: l.ticks[tick * 3 + 1] };
  const bars = l.bars[Math.min(Math.max(Math.floor((y - l.y - 3) / l.row), 0), l.rows - 1)], b = last(bars, t, px);
  if (b >= 0) return beliefTip(l, bars.flat, b, x);
  return faultTip(l, t, px) || stallTip(l, t, px) || waitTip(l, t, px);
}

function nearest(flat, width, t, reach) {
  const i = lower(flat, width, t);
  let best = -1, far = reach;
  for (const k of [i - 1, i]) {
    const d = Math.abs(flat[k * width] - t);
    if (k >= 0 && d < far) { best = k; far = d; }
  }
  return best;
}

// last is the latest record that holds an instant.
function last(s, t, px, fits = () => true) {
  for (let i = lower(s.flat, s.width, t + px) - 1, tries = 0; i >= 0 && s.reach[i] >= t - px && tries < 2000; i--, tries++)
    if (s.flat[i * s.width + 1] >= t - px && fits(i * s.width)) return i * s.width;
  return -1;
}

function beliefTip(l, flat, b, x) {
  const from = flat[b], to = flat[b + 1], op = flat[b + 2], g = ops ? sparse(ops.grants, 4, op) : -1;
  let head = l.name + " believes to hold " + (ops ? JSON.stringify(S[ops.key[op]]) : "a lock") + " for " + span(to - from) + " (" + sec(from) + " to " + sec(to) + ")";
  if (g >= 0 && ops.grants[g + 3] !== -1) head += ", first deadline " + sec(opTime[op] + ops.grants[g + 3]);
  const f = faultTip(l, scale.t(x), scale.pixel());
  return { head, more: f && f.head, op };
}

function faultTip(l, t, px) {
  for (let i = 0; i < faults.length; i += 7) {
    if (lanes[faults[i]] !== l || t < faults[i + 1] - 3 * px || t > faults[i + 2] + 3 * px) continue;
    const proof = S[faults[i + 4]];
    return { head: S[faults[i + 3]] + " of " + l.name + " for " + span(faults[i + 2] - faults[i + 1]) + (faults[i + 6] ? "; NOT seen at the victim" : proof ? "; seen at the victim: " + proof : ""), op: faults[i + 5] };
  }
  return null;
}

function stallTip(l, t, px) {
  for (let i = 0; i < stalls.length; i += 4)
    if (lanes[stalls[i]] === l && t >= stalls[i + 1] - px && t <= stalls[i + 2] + px) return { head: l.name + (ops && S[ops.f[stalls[i + 3]]] === "held" ? " was held by the harness for " : " was not scheduled for ") + span(stalls[i + 2] - stalls[i + 1]), op: stalls[i + 3] };
  return null;
}

function waitTip(l, t, px) {
  const w = last(l.waits, t, px);
  if (w < 0) return null;
  const [from, to, op, granted] = l.waits.flat.subarray(w, w + 4);
  return { head: l.name + " waits " + span(to - from) + (granted ? "" : ", not granted"), op };
}

function writeTip(marks, m) {
  const word = o => ["no such copy", "accepted", "refused"][o];
  return { head: "write of " + lanes[marks[m + 5]].name + ": unfenced copy " + word(marks[m + 2]) + ", fenced copy " + word(marks[m + 3]) + (marks[m + 4] ? "; LATE: its lock was somebody else's by then" : ""), op: marks[m + 1] };
}

function pointTip(x) {
  const i = nearest(points, 4, scale.t(x), 6 * scale.pixel());
  return i < 0 ? null : { head: (points[i * 4 + 3] ? "acquired after " : "not granted after ") + span(points[i * 4 + 1]), op: points[i * 4 + 2] };
}

function hover(canvas, find) {
  canvas.addEventListener("pointermove", e => {
    const hit = e.offsetX > box.left && !canvas.classList.contains("held") ? find(e.offsetX, e.offsetY) : null;
    canvas.style.cursor = badgeAt(e) >= 0 && canvas === board ? "pointer" : "";
    if (!hit) { tip.hidden = true; return; }
    fillTip(hit);
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(8, Math.min(e.clientX + 14, innerWidth - w - 8)) + "px";
    tip.style.top = (e.clientY + 18 + h > innerHeight ? Math.max(8, e.clientY - h - 12) : e.clientY + 18) + "px";
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
}

function fillTip(hit) {
  tip.replaceChildren(element("b", hit.head), element("pre", rawText(hit.op)));
  if (hit.more) tip.firstChild.after(element("p", hit.more));
  tip.hidden = false;
}

hover(board, under);
hover(chart, pointTip);

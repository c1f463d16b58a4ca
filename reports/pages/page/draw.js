// The timeline: only what is in view is drawn, and at most a few shapes a pixel.
function draw() {
  const c = board.getContext("2d"), w = box.left + box.width + box.right;
  c.clearRect(0, 0, w, box.height);
  drawAxis(c);
  c.save();
  c.beginPath();
  c.rect(box.left, box.top - 4, box.width, box.height);
  c.clip();
  drawOverlapBands(c);
  lanes.forEach(l => l.role === "resource" ? 0 : drawWash(c, l));
  drawFaults(c, f => lanes[f].y + 1, f => lanes[f].h - 2, 0.45);
  lanes.forEach(l => l.role === "resource" ? 0 : drawLane(c, l));
  drawOverlaps(c);
  lanes.forEach(l => labelBars(c, l));
  nameFaults(c);
  lanes.forEach(l => drawTicks(c, l));
  lanes.forEach(l => l.role === "resource" ? drawResource(c, l) : 0);
  drawStalls(c);
  drawFound(c);
  drawFocus(c);
  drawStep(c);
  c.restore();
  drawNames(c);
  drawBadges(c);
}

function drawAxis(c) {
  const { all, label } = ticks(view.from, view.to, box.width);
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const t of all) {
    const x = Math.round(scale.x(t)) + 0.5;
    c.strokeStyle = color.line;
    line(c, x, box.top - 6, x, box.height);
    c.fillStyle = color.muted;
    if (x > box.left + 14 && x < box.left + box.width - 10) c.fillText(label(t), x, box.top - 15);
  }
}

function drawNames(c) {
  c.textBaseline = "middle";
  c.textAlign = "left";
  drawFold(c);
  for (const l of lanes) {
    if (fold && idle.includes(l)) continue;
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = color.ink;
    if (l.role === "resource") {
      ["unfenced", "fenced"].forEach((name, i) => {
        c.fillStyle = color[name];
        c.fillText(name, 2, l.y + 4 + l.row * (i + 0.5), box.left - 8);
      });
      continue;
    }
    if (l.role === "server") c.fillStyle = color.muted;
    c.fillText(l.name, 2, l.y + l.h / 2, box.left - 8);
  }
}

// drawFold names the lanes that are folded, as many as there is room for.
function drawFold(c) {
  if (!fold) return;
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = color.muted;
  let names = idle.map(l => l.name), words = "nothing happened: " + names.join(", ");
  while (names.length > 1 && c.measureText(words).width > box.width - 12) {
    names = names.slice(0, -1);
    words = "nothing happened: " + names.join(", ") + " and " + (idle.length - names.length) + " more";
  }
  c.fillText("▸ " + idle.length + " lanes", 2, fold.y + fold.h / 2, box.left - 8);
  c.fillText(words, box.left + 6, fold.y + fold.h / 2, box.width - 12);
}

// bar is a stretch of a lane, never thinner than can be seen. Of many taken
// together the height says what share of the time they fill, so that colours
// keep their meaning.
function bar(c, a, b, y, h, share) {
  const x = Math.max(scale.x(a), box.left - 2), to = Math.min(scale.x(b), box.left + box.width + 2), high = Math.max(h * share, 2);
  c.fillRect(x, y + h - high, Math.max(to - x, 1), high);
}

function drawWash(c, l) {
  c.fillStyle = color.wash;
  c.fillRect(box.left, l.y + 1, box.width, l.h - 2);
}

function drawLane(c, l) {
  const px = 2 * scale.pixel(), at = r => l.y + 4 + r * l.row;
  c.fillStyle = color.wait;
  visible(l.waits, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, l.y + l.h / 2 - 1.5, 3, share));
  c.fillStyle = color.belief;
  l.bars.forEach((bars, row) => visible(bars, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, at(row) + 1, l.row - 2, share)));
  c.fillStyle = color.valid;
  l.valid.forEach((valid, row) => visible(valid, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, at(row) + 1, l.row - 2, share)));
}

// labelBars writes the token on each belief that has room for it.
function labelBars(c, l) {
  if (!ops) return;
  c.font = "600 10.5px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  l.bars.forEach((bars, row) => visible(bars, view.from, view.to, 46 * scale.pixel(), (i, a, b, share, many) => {
    const x = Math.max(scale.x(a), box.left), room = Math.min(scale.x(b), box.left + box.width) - x, op = bars.flat[i + 2];
    if (many || room < 46 || !tokenOf(op)) return;
    const words = "token " + tokenOf(op), y = l.y + 4 + row * l.row + l.row / 2 + 0.5;
    c.strokeStyle = color.valid;
    c.lineWidth = 3;
    c.strokeText(words, x + 5, y, room - 8);
    c.lineWidth = 1;
    c.fillStyle = color.paper;
    c.fillText(words, x + 5, y, room - 8);
  }));
}

// drawTicks shows renewals as short strokes, refusals and losses as crosses. Of
// those that share a pixel one is drawn.
function drawTicks(c, l) {
  c.fillStyle = color.paper;
  eachRun(l.renewed, 3, (x, w) => c.fillRect(x - 0.75, l.y + 4, w, l.h - 8));
  c.strokeStyle = color.bad;
  c.lineWidth = 2;
  eachPixel(l.told, 3, 3, (i, x) => cross(c, x, l.y + l.h / 2, 4));
  c.lineWidth = 1;
}

// eachPixel calls draw(record, x) for the first record in view of every few pixels.
function eachPixel(flat, width, apart, draw) {
  const px = scale.pixel(), n = flat.length / width;
  for (let i = lower(flat, width, view.from - 10 * px); i < n && flat[i * width] <= view.to + 10 * px;) {
    draw(i * width, scale.x(flat[i * width]));
    i = Math.max(lower(flat, width, flat[i * width] + apart * px), i + 1);
  }
}

// eachRun calls draw(x, width) for strokes that are drawn side by side: one for all
// that touch.
function eachRun(flat, width, draw, keep = () => true) {
  let from = NaN, to = NaN;
  eachPixel(flat, width, 1, (i, x) => {
    if (!keep(i)) return;
    if (x - to < 1) { to = x + 1.5; return; }
    if (to === to) draw(from, to - from);
    from = x;
    to = x + 1.5;
  });
  if (to === to) draw(from, to - from);
}

// drawStalls shows where a node was not scheduled, or was held by the harness: dots
// beneath its lane.
function drawStalls(c) {
  c.fillStyle = color.muted;
  let last = "";
  for (let i = 0; i < stalls.length; i += 4) {
    const from = stalls[i + 1], to = stalls[i + 2], l = lanes[stalls[i]], at = stalls[i] + "/" + Math.round(scale.x(from));
    if (to < view.from || from > view.to || at === last) continue;
    last = at;
    const x = Math.max(scale.x(from), box.left), end = Math.min(scale.x(to), box.left + box.width);
    for (let d = x; d <= Math.max(end, x); d += 4) c.fillRect(d, l.y + l.h - 2, 2, 2);
  }
}

function drawOverlapBands(c) {
  eachOverlap((a, b, from, to) => {
    c.fillStyle = color.overlap;
    c.globalAlpha = 0.07;
    c.fillRect(scale.x(from), box.top - 4, Math.max(scale.x(to) - scale.x(from), 1), box.height);
    c.globalAlpha = 1;
  });
}

// drawOverlaps marks both beliefs of an overlap: hatched and underlined, so that
// it shows without colour too.
function drawOverlaps(c) {
  c.strokeStyle = c.fillStyle = color.overlap;
  eachOverlap((a, b, from, to) => {
    for (const l of [lanes[a], lanes[b]]) {
      const x = Math.max(scale.x(from), box.left - 2), end = Math.max(Math.min(scale.x(to), box.left + box.width + 2), x + 2);
      c.fillRect(x, l.y + l.h - 5, end - x, 3);
      c.fillRect(x, l.y + 2, end - x, 3);
      hatch(c, x, l.y + 3, end - x, l.h - 6, 0.9);
    }
  });
}

const overlapSpans = spans(Array.from(overlaps).filter((_, i) => i % 5 > 1), 3);
function eachOverlap(draw) {
  visible(overlapSpans, view.from, view.to, scale.pixel() / 2, (i, from, to) => draw(overlaps[i / 3 * 5], overlaps[i / 3 * 5 + 1], from, to));
}

// eachFault calls draw with the place of each fault in view; of those too short to
// see and side by side on one lane, with one.
function eachFault(draw) {
  const shown = new Map();
  for (let i = lower(faultReach, 1, view.from) * 7; i < faults.length && faults[i + 1] <= view.to; i += 7) {
    if (faults[i + 2] < view.from) continue;
    const x = Math.max(scale.x(faults[i + 1]), box.left - 2), w = Math.max(Math.min(scale.x(faults[i + 2]), box.left + box.width + 2) - x, 2);
    if (w === 2 && shown.get(faults[i]) === Math.round(x)) continue;
    shown.set(faults[i], Math.round(x));
    draw(i, faults[i], x, w);
  }
}

// drawFaults shows faults as bands on their lanes.
function drawFaults(c, top, height, alpha) {
  c.fillStyle = color.fault;
  c.globalAlpha = alpha;
  eachFault((i, l, x, w) => c.fillRect(x, top(l), w, height(l)));
  c.globalAlpha = 1;
}

// nameFaults frames faults and names those that have room; dashed: not seen.
function nameFaults(c) {
  c.font = "600 10.5px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  const named = new Map();
  eachFault((i, at, x, w) => {
    const l = lanes[at], name = S[faults[i + 3]] + (faults[i + 6] ? " (not seen)" : ""), room = c.measureText(name).width + 12;
    c.strokeStyle = color.faultline;
    c.setLineDash(faults[i + 6] ? [3, 3] : []);
    c.strokeRect(x + 0.5, l.y + 1.5, w - 1, l.h - 3);
    c.setLineDash([]);
    let place = x + (w - room) / 2;
    for (const [from, to] of named.get(at) || []) if (place < to + 4 && place + room > from - 4) place = to + 4; // beside the name of another fault there
    if (w < room + 10 || place + room > x + w) return;
    named.set(at, [...named.get(at) || [], [place, place + room]].sort((a, b) => a[0] - b[0]));
    c.fillStyle = color.faultline;
    c.fillRect(place, l.y + 1, room, l.h - 2);
    c.fillStyle = color.paper;
    c.fillText(name, place + 6, l.y + l.h / 2 + 0.5);
  });
}

function line(c, x, y, x2, y2) { c.beginPath(); c.moveTo(x, y); c.lineTo(x2, y2); c.stroke(); }
function cross(c, x, y, r) { line(c, x - r, y - r, x + r, y + r); line(c, x - r, y + r, x + r, y - r); }

function hatch(c, x, y, w, h, alpha) {
  c.save();
  c.beginPath();
  c.rect(x, y, w, h);
  c.clip();
  c.globalAlpha = alpha;
  c.lineWidth = 1.8;
  for (let d = x - h - (x - h) % 6; d < x + w; d += 6) line(c, d, y + h, d + h, y);
  c.restore();
}

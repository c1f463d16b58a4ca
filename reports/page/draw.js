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
  for (const l of lanes) {
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
  const px = scale.pixel(), at = r => l.y + 4 + r * l.row;
  c.fillStyle = color.wait;
  visible(l.waits, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, l.y + l.h / 2 - 1.5, 3, share));
  c.fillStyle = color.belief;
  visible(l.bars, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, at(l.bars.flat[i + 3]) + 1, l.row - 2, share));
  c.fillStyle = color.valid;
  visible(l.valid, view.from, view.to, px, (i, a, b, share) => bar(c, a, b, at(l.valid.flat[i + 3]) + 1, l.row - 2, share));
}

// labelBars writes the token on each belief that has room for it.
function labelBars(c, l) {
  const at = r => l.y + 4 + r * l.row;
  c.font = "600 10.5px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  visible(l.bars, view.from, view.to, 46 * scale.pixel(), (i, a, b, share) => {
    const x = Math.max(scale.x(a), box.left), room = Math.min(scale.x(b), box.left + box.width) - x, op = l.bars.flat[i + 2];
    if (share < 1 || room < 46 || !data.ops.token[op]) return;
    const words = "token " + data.ops.token[op], y = at(l.bars.flat[i + 3]) + l.row / 2 + 0.5;
    c.strokeStyle = color.valid;
    c.lineWidth = 3;
    c.strokeText(words, x + 5, y, room - 8);
    c.lineWidth = 1;
    c.fillStyle = color.paper;
    c.fillText(words, x + 5, y, room - 8);
  });
}

// drawTicks shows renewals as short strokes, refusals and losses as crosses.
function drawTicks(c, l) {
  const px = scale.pixel();
  let last = -Infinity;
  for (let i = lower(l.ticks, 3, view.from - 4 * px); i * 3 < l.ticks.length && l.ticks[i * 3] <= view.to; i++) {
    const t = l.ticks[i * 3], what = l.ticks[i * 3 + 2], x = scale.x(t);
    if (x - last < 1.5 && what === 0) continue;
    last = x;
    c.strokeStyle = what ? color.bad : color.paper;
    c.lineWidth = what ? 2 : 1.5;
    if (what) cross(c, x, l.y + l.h / 2, 4);
    else line(c, x, l.y + 4, x, l.y + l.h - 4);
    c.lineWidth = 1;
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

const overlapSpans = spans(overlaps.filter((_, i) => i % 5 > 1), 3);
function eachOverlap(draw) {
  visible(overlapSpans, view.from, view.to, scale.pixel() / 2, (i, from, to) => draw(overlaps[i / 3 * 5], overlaps[i / 3 * 5 + 1], from, to));
}

// eachFault calls draw with the place of each fault in view.
function eachFault(draw) {
  for (let i = 0; i < faults.length; i += 7) {
    const from = faults[i + 1], to = faults[i + 2];
    if (to < view.from || from > view.to) continue;
    const x = Math.max(scale.x(from), box.left - 2), w = Math.max(Math.min(scale.x(to), box.left + box.width + 2) - x, 2);
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
  eachFault((i, at, x, w) => {
    const l = lanes[at], name = S[faults[i + 3]] + (faults[i + 6] ? " (not seen)" : ""), room = c.measureText(name).width + 12;
    c.strokeStyle = color.faultline;
    c.setLineDash(faults[i + 6] ? [3, 3] : []);
    c.strokeRect(x + 0.5, l.y + 1.5, w - 1, l.h - 3);
    c.setLineDash([]);
    if (w < room + 10) return;
    c.fillStyle = color.faultline;
    c.fillRect(x + (w - room) / 2, l.y + 1, room, l.h - 2);
    c.fillStyle = color.paper;
    c.fillText(name, x + (w - room) / 2 + 6, l.y + l.h / 2 + 0.5);
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

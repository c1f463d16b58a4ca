// The steps of the story above the lanes and the latency of acquisition beneath
// them, on one axis of time.
function badgePlaces() {
  const places = steps.map(s => scale.x(s.at)), gap = 19, right = box.left + box.width - 8;
  const inside = places.map(x => x >= box.left - 1 && x <= box.left + box.width + 1);
  const at = places.slice();
  for (let i = 0, last = -Infinity; i < at.length; i++) if (inside[i]) last = at[i] = Math.max(at[i], last + gap);
  for (let i = at.length - 1, next = right + gap; i >= 0; i--) if (inside[i]) next = at[i] = Math.min(at[i], next - gap);
  return { places, inside, at };
}

function drawBadges(c) {
  const { places, inside, at } = badgePlaces();
  c.font = "600 10.5px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  steps.forEach((s, i) => {
    if (!inside[i]) return;
    const on = i === view.step;
    c.strokeStyle = on ? color.accent : color.muted;
    c.globalAlpha = on ? 1 : 0.5;
    line(c, at[i], 18, places[i], box.top - 24);
    c.globalAlpha = 1;
    c.beginPath();
    c.arc(at[i], 11, 8.5, 0, 7);
    c.fillStyle = on ? color.accent : color.ink;
    c.fill();
    c.fillStyle = color.paper;
    c.fillText(i + 1, at[i], 11.5);
  });
}

// drawStep leads the eye from the chosen step through all lanes to its own.
function drawStep(c) {
  const s = steps[view.step];
  if (!s) return;
  const x = scale.x(s.at), l = lanes[s.lane];
  c.strokeStyle = color.accent;
  c.setLineDash([4, 3]);
  line(c, x, box.top - 4, x, box.height);
  c.setLineDash([]);
  c.lineWidth = 2;
  c.strokeRect(x - 12, l.y + 0.5, 24, l.h - 1);
  c.lineWidth = 1;
}

// heights of the chart of latency, on a logarithmic scale.
const low = Math.pow(10, Math.floor(Math.log10(reduce(points, 1, Math.min, 1e3))));
const high = Math.pow(10, Math.ceil(Math.log10(reduce(points, 1, Math.max, 1e4) + 1)));
function reduce(flat, field, pick, start) {
  let x = flat.length ? flat[field] : start;
  for (let i = field; i < flat.length; i += 4) x = pick(x, flat[i]);
  return Math.max(x, 1);
}

function drawLatency() {
  const c = chart.getContext("2d"), w = box.left + box.width + box.right, top = 30, bottom = 146;
  const y = us => bottom - (Math.log10(us) - Math.log10(low)) / (Math.log10(high) - Math.log10(low)) * (bottom - top);
  c.clearRect(0, 0, w, 158);
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (let us = low; us <= high * 1.01; us *= 10) {
    c.strokeStyle = color.line;
    line(c, box.left, Math.round(y(us)) + 0.5, box.left + box.width, Math.round(y(us)) + 0.5);
    c.fillStyle = color.muted;
    c.fillText(span(us), box.left - 6, y(us));
  }
  c.textAlign = "left";
  c.fillStyle = color.ink;
  c.font = "12px system-ui, sans-serif";
  c.fillText("acquire", 2, 8);
  drawKey(c);
  c.save();
  c.beginPath();
  c.rect(box.left, top - 2, box.width, bottom - top + 4);
  c.clip();
  drawFaultSpans(c, top, bottom - top);
  drawWaits(c, y);
  drawPoints(c, y);
  drawBands(c, y, 2, color.p50, []);
  drawBands(c, y, 3, color.p99, [5, 3]);
  c.restore();
}

// drawFaultSpans shades when any fault was in force, once however many victims.
function drawFaultSpans(c, top, height) {
  c.fillStyle = color.fault;
  c.globalAlpha = 0.13;
  for (const [from, to] of faultSpans) if (to >= view.from && from <= view.to) c.fillRect(scale.x(from), top, Math.max(scale.x(to) - scale.x(from), 2), height);
  c.globalAlpha = 1;
}

// drawWaits leads from the request of a long acquire to its end, so that a time
// in which all wait is not empty.
function drawWaits(c, y) {
  const px = scale.pixel();
  c.strokeStyle = color.muted;
  c.globalAlpha = 0.55;
  lanes.forEach(l => visible(l.waits, view.from, view.to, 24 * px, (i, a, b) => {
    const from = l.waits.flat[i], to = l.waits.flat[i + 1];
    if (b === to && to - from >= 24 * px) line(c, Math.max(scale.x(from), box.left - 2), y(Math.min(to - from, high)), Math.min(scale.x(to), box.left + box.width + 2), y(Math.min(to - from, high)));
  }));
  c.globalAlpha = 1;
}

// drawPoints shows each acquire where it ended, a cross if it was not granted.
// Dense ones become the range of what one pixel holds.
function drawPoints(c, y) {
  const grain = 2 * scale.pixel(), from = lower(points, 4, view.from), to = lower(points, 4, view.to);
  const dense = to - from > 3 * box.width;
  c.fillStyle = color.muted;
  c.globalAlpha = dense ? 0.35 : 0.6;
  for (let i = from; i < to;) {
    const x = scale.x(points[i * 4]);
    if (!dense) { if (points[i * 4 + 3]) c.fillRect(x - 1.5, y(points[i * 4 + 1]) - 1.5, 3, 3); i++; continue; }
    const end = Math.min(Math.max(lower(points, 4, points[i * 4] + grain), i + 1), to);
    let min = Infinity, max = 0;
    for (; i < end; i++) { min = Math.min(min, points[i * 4 + 1]); max = Math.max(max, points[i * 4 + 1]); }
    c.fillRect(x, y(max), 2, Math.max(y(min) - y(max), 1));
  }
  c.globalAlpha = 1;
  c.strokeStyle = color.bad;
  c.lineWidth = 1.5;
  for (let i = from, last = -Infinity; i < to; i++) {
    const x = scale.x(points[i * 4]);
    if (points[i * 4 + 3] || dense && x - last < 2) continue;
    last = x;
    cross(c, x, y(points[i * 4 + 1]), 3);
  }
  c.lineWidth = 1;
}

function drawBands(c, y, field, tint, dash) {
  c.strokeStyle = tint;
  c.lineWidth = 1.8;
  c.setLineDash(dash);
  c.beginPath();
  const inside = t => scale.x(Math.min(Math.max(t, view.from), view.to)); // a dashed line far out of sight costs as much as one in sight
  for (let i = 0, end = -1; i < bands.length; i += 4) {
    if (bands[i + 1] < view.from || bands[i] > view.to) continue;
    const x = inside(bands[i]), h = y(bands[i + field]);
    if (end >= bands[i] - 1) c.lineTo(x, h); else c.moveTo(x, h);
    c.lineTo(inside(bands[i + 1]), h);
    end = bands[i + 1];
  }
  c.stroke();
  c.setLineDash([]);
  c.lineWidth = 1;
}

function drawKey(c) {
  let x = box.left;
  for (const [name, tint, dash] of [["p50", color.p50, []], ["p99", color.p99, [5, 3]]]) {
    c.strokeStyle = tint;
    c.lineWidth = 1.8;
    c.setLineDash(dash);
    line(c, x, 8, x + 18, 8);
    c.setLineDash([]);
    c.lineWidth = 1;
    c.fillStyle = color.muted;
    c.font = "11px system-ui, sans-serif";
    c.fillText(name, x + 23, 8);
    x += 60;
  }
  c.strokeStyle = color.bad;
  c.lineWidth = 1.5;
  cross(c, x + 6, 8, 3);
  c.lineWidth = 1;
  c.fillText("not granted", x + 15, 8);
}

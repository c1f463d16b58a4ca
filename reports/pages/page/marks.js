// drawResource shows each write where both copies decided it: a disc for the
// unfenced copy, a square for the fenced one, full if accepted, empty if refused.
// Where it is tight, one stroke stands for those that share a pixel.
function drawResource(c, l) {
  const px = scale.pixel(), from = lower(l.marks, 7, view.from - 10 * px), to = lower(l.marks, 7, view.to + 10 * px), few = to - from < 250;
  const at = i => i < from || i >= to ? (i < from ? -Infinity : Infinity) : scale.x(l.marks[i * 7]);
  const special = m => l.marks[m + 4] || l.marks[m + 2] === 2 || l.marks[m + 3] === 2;
  if (few) eachPixel(l.marks, 7, 1, (m, x) => {
    if (special(m)) return;
    drawLink(c, l, l.marks, m, false);
    drawPair(c, l, l.marks, m, x, Math.min(x - at(m / 7 - 1), at(m / 7 + 1) - x) > 17);
  });
  else for (const k of [0, 1]) {
    c.fillStyle = k ? color.fenced : color.unfenced;
    eachRun(l.marks, 7, (x, w) => c.fillRect(x - 0.75, l.y + 4 + l.row * (k + 0.5) - 5, w, 10), m => !special(m) && l.marks[m + 2 + k]);
  }
  const late = lower(l.special, 7, view.to + 10 * px) - lower(l.special, 7, view.from - 10 * px) < 200;
  eachPixel(l.special, 7, late ? 0 : 2, (m, x) => {
    if (l.special[m + 4]) drawLink(c, l, l.special, m, true);
    drawPair(c, l, l.special, m, x, late);
  });
}

// drawPair shows what both copies made of a write; as strokes where it is tight.
function drawPair(c, l, marks, m, x, roomy) {
  for (const k of [0, 1]) {
    const outcome = marks[m + 2 + k], y = l.y + 4 + l.row * (k + 0.5);
    if (!outcome) continue;
    if (roomy) { drawMark(c, x, y, k, outcome === 1, marks[m + 4]); continue; }
    c.fillStyle = marks[m + 4] ? color.overlap : k ? color.fenced : color.unfenced;
    c.fillRect(x - 0.75, y - 5, 1.5, outcome === 1 ? 10 : 4);
  }
}

// drawLink leads from the writer to the resource.
function drawLink(c, l, marks, m, late) {
  const w = lanes[marks[m + 5]];
  if (!w || w === l) return;
  c.strokeStyle = late ? color.overlap : color.muted;
  c.globalAlpha = late ? 0.9 : 0.2;
  line(c, scale.x(marks[m + 6]), w.y + w.h - 3, scale.x(marks[m]), l.y + 4);
  c.globalAlpha = 1;
}

function drawMark(c, x, y, copy, accepted, late) {
  const tint = copy ? color.fenced : color.unfenced, r = 6.5;
  const shape = grow => {
    c.beginPath();
    if (copy) c.rect(x - r - grow, y - r - grow, 2 * (r + grow), 2 * (r + grow)); else c.arc(x, y, r + grow + 0.5, 0, 7);
  };
  shape(0);
  c.fillStyle = accepted ? tint : color.paper;
  c.fill();
  c.strokeStyle = tint;
  c.lineWidth = 1.5;
  c.stroke();
  c.strokeStyle = accepted ? color.paper : tint;
  c.lineWidth = 1.8;
  if (accepted) { c.beginPath(); c.moveTo(x - 3, y); c.lineTo(x - 0.8, y + 2.6); c.lineTo(x + 3.2, y - 2.8); c.stroke(); } else cross(c, x, y, 2.8);
  c.lineWidth = 1;
  if (!late) return;
  shape(2.5);
  c.strokeStyle = color.overlap;
  c.lineWidth = 2;
  c.stroke();
  c.lineWidth = 1;
}

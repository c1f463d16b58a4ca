// The data of the page, and how to search it: first what is drawn, then, when
// that is on the screen, the operations as they were recorded.

// lower is the first record whose field is at least x.
function lower(flat, width, x, field = 0) {
  let lo = 0, hi = flat.length / width;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (flat[mid * width + field] < x) lo = mid + 1; else hi = mid;
  }
  return lo;
}

// spans prepares records that last from field 0 to field 1: reach[i] is the
// latest end of the first i+1, filled[i] the time that the first i took.
function spans(flat, width) {
  const n = flat.length / width, reach = new Float64Array(n), filled = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    const end = flat[i * width + 1];
    reach[i] = Math.max(end, i ? reach[i - 1] : 0);
    filled[i + 1] = filled[i] + end - flat[i * width];
  }
  return { flat, width, n, reach, filled };
}

// visible calls draw(record, from, to, share, many) for what lies between two times.
// Records shorter than a grain are taken together, one grain's worth at a time, and
// share says in fifths how much of it they fill; neighbours that are filled alike are
// one. So cost follows what can be told apart, not records.
function visible(s, from, to, grain, draw) {
  let i = lower(s.reach, 1, from), first = -1, a0 = 0, b0 = 0, full0 = 0;
  const flush = () => { if (first >= 0) draw(first, a0, b0, full0, true); first = -1; };
  while (i < s.n && s.flat[i * s.width] <= to) {
    const a = s.flat[i * s.width], b = s.flat[i * s.width + 1];
    const j = b - a >= grain ? i + 1 : Math.max(lower(s.flat, s.width, a + grain), i + 1);
    if (j === i + 1) { draw(i * s.width, a, b, 1); i++; continue; }
    const share = Math.ceil(Math.min((s.filled[j] - s.filled[i]) / grain, 1) * 5) / 5;
    if (first < 0 || share !== full0 || a > b0 + grain / 2) { flush(); first = i * s.width; a0 = a; full0 = share; }
    b0 = a + grain;
    if (s.reach[j - 1] >= a + 2 * grain)
      for (let k = i + 1; k < j; k++) if (s.flat[k * s.width + 1] - s.flat[k * s.width] >= grain) draw(k * s.width, s.flat[k * s.width], s.flat[k * s.width + 1], 1);
    i = j;
  }
  flush();
}

// byRow parts records by their field 3: those of one row do not overlap.
function byRow(flat, rows) {
  return Array.from({ length: rows }, (_, row) => spans(rows === 1 ? flat : only(flat, 4, i => flat[i + 3] === row), 4));
}

function only(flat, width, fits) {
  const kept = [];
  for (let i = 0; i < flat.length; i += width) if (fits(i)) for (let k = 0; k < width; k++) kept.push(flat[i + k]);
  return kept;
}

const lanes = data.lanes ? data.lanes.map((l, index) => ({ index, name: l.name, role: l.role, rows: Math.max(l.rows, 1) })) : [];
const drawn = {};
let filling = -1, belief = null;
await unpack("drawn", data.drawn, (name, flat) => {
  if (name === "time") { opTime = flat; for (let i = 1; i < flat.length; i++) flat[i] += flat[i - 1]; return; }
  if (name === "waits") filling++;
  const l = lanes[filling];
  if (name === "waits") l.waits = spans(flat, 5);
  else if (name === "bars") l.bars = byRow(belief = flat, l.rows);
  else if (name === "valid") {
    for (let k = 0, b = 0; k < flat.length; k += 4) { // it is told how long before its belief it ends
      while (belief[b + 2] !== flat[k + 2]) b += 4;
      flat[k + 1] = belief[b + 1] - (flat[k + 1] - flat[k]);
    }
    l.valid = byRow(flat, l.rows);
  }
  else if (name === "ticks") { l.ticks = flat; l.renewed = only(flat, 3, i => flat[i + 2] === 0); l.told = only(flat, 3, i => flat[i + 2] !== 0); }
  else if (name === "marks") { l.marks = flat; l.special = only(flat, 7, i => flat[i + 4] || flat[i + 2] === 2 || flat[i + 3] === 2); }
  else drawn[name] = flat;
}).catch(fail);
const { faults, overlaps, stalls, bands } = drawn;

// points are the acquires by their ends: end, took, its operation, 1 if granted.
function acquires() {
  const lane = new Int32Array(data.count).fill(-1), record = new Int32Array(data.count), flat = [];
  for (const l of lanes) for (let k = 0; k < l.waits.flat.length; k += 5) {
    const end = l.waits.flat[k + 4];
    if (end >= 0) { lane[end] = l.index; record[end] = k; }
  }
  for (let end = 0; end < lane.length; end++) {
    if (lane[end] < 0) continue;
    const w = lanes[lane[end]].waits.flat, k = record[end];
    flat.push(w[k + 1], Math.max(w[k + 1] - w[k], 1), end, w[k + 3]);
  }
  return flat;
}
const points = acquires();
const faultReach = new Float64Array(faults.length / 7);
for (let i = 0; i < faultReach.length; i++) faultReach[i] = Math.max(faults[i * 7 + 2], i ? faultReach[i - 1] : 0);

// faultSpans is when any fault was in force: a partition has a record for each
// of its many victims.
const faultSpans = [];
for (const [from, to] of Array.from({ length: faults.length / 7 }, (_, i) => [faults[i * 7 + 1], faults[i * 7 + 2]]).sort((a, b) => a[0] - b[0])) {
  const last = faultSpans[faultSpans.length - 1];
  if (last && from <= last[1]) last[1] = Math.max(last[1], to); else faultSpans.push([from, to]);
}

// ops are the columns of the raw operations; null until they are read.
let ops = null;
async function readOps() {
  const o = { time: opTime };
  await unpack("raw", data.raw, (name, flat) => { o[name] = flat; });
  S = S.concat(JSON.parse(new TextDecoder().decode(await inflate("strings"))));
  const of = new Map(), processes = new Map();
  for (let i = 0; i < o.process.length; i++) processes.set(o.node[i], o.process[i] += processes.get(o.node[i]) || 0);
  for (let i = 0, last = 0; i < o.token.length; i++) {
    const t = o.token[i];
    if (t === 0) continue;
    if (t === 1) { o.token[i] = of.get(o.owner[i]); continue; }
    of.set(o.owner[i], last = o.token[i] = last + (t > 0 ? t - 2 : t));
  }
  ops = o;
}

// sparse is where the record of an operation begins in a table that most lack; -1: none.
function sparse(flat, width, i) {
  const at = lower(flat, width, i) * width;
  return at < flat.length && flat[at] === i ? at : -1;
}

function copyOf(at) {
  const c = ops.copies;
  if (!c[at]) return undefined;
  const copy = {};
  if (c[at] === 1) copy.accepted = true;
  ["value", "base", "previous"].forEach((name, k) => { if (c[at + 1 + k]) copy[name] = S[c[at + 1 + k]]; });
  if (c[at + 4]) copy.token = c[at + 4];
  return copy;
}

function tokenOf(i) { return data.tokens && data.tokens[i] || ops.token[i]; }

// rawOp is one operation as recorded, with times in seconds of the run.
function rawOp(i) {
  const o = ops, op = { index: i, time: sec(opTime[i], 6), node: S[o.node[i]], process: o.process[i], type: S[o.type[i]], f: S[o.f[i]] };
  for (const name of ["key", "owner", "value"]) if (o[name][i]) op[name] = S[o[name][i]];
  if (tokenOf(i)) op.token = tokenOf(i);
  const g = sparse(o.grants, 4, i), c = sparse(o.copies, 11, i), e = sparse(o.errors, 2, i), f = sparse(o.faults, 6, i), l = sparse(o.lengths, 2, i);
  if (g >= 0) {
    if (o.grants[g + 1] >= 0) op.sent = sec(opTime[i] - o.grants[g + 1], 6);
    if (o.grants[g + 2]) op.lease = span(o.grants[g + 2]);
    if (o.grants[g + 3] !== -1) op.deadline = sec(opTime[i] + o.grants[g + 3], 6);
  }
  if (c >= 0) { op.unfenced = copyOf(c + 1); op.fenced = copyOf(c + 6); }
  if (f >= 0) { const [id, kind, target, phase, proof] = o.faults.subarray(f + 1, f + 6); op.fault = { id, kind: S[kind], target: S[target], phase: S[phase], proof: S[proof] || undefined }; }
  if (l >= 0) op.length = span(o.lengths[l + 1]);
  if (e >= 0) op.error = S[o.errors[e + 1]];
  return op;
}

// rawText is one operation as lines of text.
function rawText(i) {
  if (!ops) return "operation " + i + ": still being read";
  return Object.entries(rawOp(i)).filter(([, v]) => v !== undefined).map(([k, v]) => k + ": " + (typeof v === "string" ? v : JSON.stringify(v))).join("\n");
}

function sec(us, digits = 3) { return (us / 1e6).toFixed(digits) + " s"; }

// span writes a duration of µs in the unit that suits it.
function span(us) {
  const abs = Math.abs(us);
  if (abs < 1e3) return +us.toFixed(1) + " µs";
  if (abs < 1e6) return +(us / 1e3).toPrecision(3) + " ms";
  return +(us / 1e6).toPrecision(abs < 1e8 ? 3 : 4) + " s";
}

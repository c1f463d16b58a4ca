"use strict";
// The data of the page, and how to search it. Times are µs since the first
// operation; records lie flat in arrays, in the order of their first field.
const data = JSON.parse(document.getElementById("data").textContent);
const S = data.strings;
const opTime = new Float64Array(data.ops.time.length);
for (let i = 0, t = 0; i < opTime.length; i++) opTime[i] = t += data.ops.time[i];

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
  flat = flat || [];
  const n = flat.length / width, reach = new Float64Array(n), filled = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    const end = flat[i * width + 1];
    reach[i] = Math.max(end, i ? reach[i - 1] : 0);
    filled[i + 1] = filled[i] + end - flat[i * width];
  }
  return { flat, width, n, reach, filled };
}

// visible calls draw(record, from, to, share) for what lies between two times.
// Records too short to see are taken together, one pixel's worth at a time, and
// share says how much of the pixel they fill: cost follows pixels, not records.
function visible(s, from, to, pixel, draw) {
  let i = lower(s.reach, 1, from);
  while (i < s.n && s.flat[i * s.width] <= to) {
    const a = s.flat[i * s.width], b = s.flat[i * s.width + 1];
    if (b - a < pixel) {
      const j = Math.max(lower(s.flat, s.width, a + pixel), i + 1);
      if (j > i + 1 && s.reach[j - 1] < a + 2 * pixel) {
        draw(i * s.width, a, a + pixel, Math.min((s.filled[j] - s.filled[i]) / pixel, 1));
        i = j;
        continue;
      }
    }
    draw(i * s.width, a, b, 1);
    i++;
  }
}

const lanes = (data.lanes || []).map((l, index) => ({
  index, name: l.name, role: l.role, rows: l.rows,
  waits: spans(l.waits, 4), bars: spans(l.bars, 4), valid: spans(l.valid, 4),
  ticks: l.ticks || [], marks: l.marks || [],
}));
const faults = data.faults || [], overlaps = data.overlaps || [], stalls = data.stalls || [];
const steps = data.steps || [], points = data.points || [], bands = data.bands || [];

// faultSpans is when any fault was in force: a partition has a record for each
// of its many victims.
const faultSpans = [];
for (const [from, to] of Array.from({ length: faults.length / 7 }, (_, i) => [faults[i * 7 + 1], faults[i * 7 + 2]]).sort((a, b) => a[0] - b[0])) {
  const last = faultSpans[faultSpans.length - 1];
  if (last && from <= last[1]) last[1] = Math.max(last[1], to); else faultSpans.push([from, to]);
}

// sparse finds the row of an operation in a column that most lack.
function sparse(rows, i) {
  if (!rows) return null;
  let lo = 0, hi = rows.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (rows[mid][0] < i) lo = mid + 1; else hi = mid;
  }
  return lo < rows.length && rows[lo][0] === i ? rows[lo] : null;
}

function copyOf(row, at) {
  if (!row[at]) return undefined;
  const c = {};
  if (row[at] === 1) c.accepted = true;
  ["value", "base", "previous"].forEach((name, k) => { if (row[at + 1 + k]) c[name] = S[row[at + 1 + k]]; });
  if (row[at + 4]) c.token = row[at + 4];
  return c;
}

// rawOp is one operation as recorded, with times in seconds of the run.
function rawOp(i) {
  const o = data.ops, op = { index: i, time: sec(opTime[i], 6), node: S[o.node[i]], process: o.process[i], type: S[o.type[i]], f: S[o.f[i]] };
  for (const name of ["key", "owner", "value"]) if (o[name][i]) op[name] = S[o[name][i]];
  if (o.token[i]) op.token = o.token[i];
  const g = sparse(o.grants, i), c = sparse(o.copies, i), e = sparse(o.errors, i), f = sparse(o.faults, i), l = sparse(o.lengths, i);
  if (g) {
    if (g[1] >= 0) op.sent = sec(opTime[i] - g[1], 6);
    if (g[2]) op.lease = span(g[2]);
    if (g[3] !== -1) op.deadline = sec(opTime[i] + g[3], 6);
  }
  if (c) { op.unfenced = copyOf(c, 1); op.fenced = copyOf(c, 6); }
  if (f) op.fault = { id: f[1], kind: S[f[2]], target: S[f[3]], phase: S[f[4]], proof: S[f[5]] || undefined };
  if (l) op.length = span(l[1]);
  if (e) op.error = S[e[1]];
  return op;
}

function sec(us, digits = 3) { return (us / 1e6).toFixed(digits) + " s"; }

// span writes a duration of µs in the unit that suits it.
function span(us) {
  const abs = Math.abs(us);
  if (abs < 1e3) return +us.toFixed(1) + " µs";
  if (abs < 1e6) return +(us / 1e3).toPrecision(3) + " ms";
  return +(us / 1e6).toPrecision(abs < 1e8 ? 3 : 4) + " s";
}

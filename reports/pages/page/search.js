// Search: every word must be met by the operation. A word is "field:text", a number
// (of an operation, or a token), or any text.
const field = document.getElementById("search"), found = { all: [], at: -1 };
const fields = {
  node: ["node"], client: ["node"], server: ["node"], key: ["key"], owner: ["owner"], value: ["value"], f: ["f"], type: ["type"],
  any: ["node", "key", "owner", "value", "f", "type"],
};

// meets makes a test of one word.
function meets(word) {
  const [, name, text] = /^(?:([a-z]+):)?(.*)$/i.exec(word), of = (name || "").toLowerCase(), number = /^#?\d+$/.test(text);
  if (of === "op" || of === "operation" || !of && text[0] === "#") { const n = +text.replace("#", ""); return i => i === n; }
  if (of === "token") return i => !!tokenOf(i) && String(tokenOf(i)) === text;
  if (of && !fields[of] && of !== "fault" && of !== "error") return meets("any:" + word);
  const low = text.toLowerCase(), like = new Uint8Array(S.length);
  for (let k = 1; k < S.length; k++) if (S[k].toLowerCase().includes(low)) like[k] = 1;
  const columns = (fields[of] || (of ? [] : fields.any)).map(f => ops[f]), rare = new Set();
  if (!of || of === "fault") each(ops.faults, 6, k => { if (like[ops.faults[k + 2]] || like[ops.faults[k + 3]] || like[ops.faults[k + 5]]) rare.add(ops.faults[k]); });
  if (!of || of === "error") each(ops.errors, 2, k => { if (like[ops.errors[k + 1]]) rare.add(ops.errors[k]); });
  return i => columns.some(c => like[c[i]]) || rare.has(i) || !of && number && (i === +text || String(tokenOf(i)) === text);
}

function each(flat, width, act) { for (let k = 0; k < flat.length; k += width) act(k); }

async function search(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  sought = text;
  if (!ops) await wholeRead;
  found.all = [];
  found.at = -1;
  if (words.length) {
    const tests = words.map(meets);
    for (let i = 0; i < data.count; i++) if (tests.every(t => t(i))) found.all.push(i);
  }
  const n = found.all.length, many = n === 1 ? "1 operation" : n.toLocaleString("en") + " operations";
  document.getElementById("matches").textContent = words.length ? (n ? many : "nothing found") : "";
  drawMatches();
  redraw();
}

// jump goes from match to match, beginning with the first in view.
function jump(by) {
  const n = found.all.length;
  if (!n) return;
  if (found.at < 0) { const first = found.all.findIndex(i => opTime[i] >= view.from); found.at = by > 0 ? Math.max(first, 0) : (first < 1 ? n : first) - 1; }
  else found.at = (found.at + by + n) % n;
  document.getElementById("matches").textContent = (found.at + 1).toLocaleString("en") + " of " + n.toLocaleString("en");
  focusOn(found.all[found.at]);
}

let typing = 0, sought = "";
field.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => search(field.value), 250); });
field.addEventListener("keydown", async e => {
  if (e.key === "Escape") { field.value = ""; search(""); }
  if (e.key !== "Enter") return;
  e.preventDefault();
  clearTimeout(typing);
  if (sought !== field.value) await search(field.value);
  jump(e.shiftKey ? -1 : 1);
});
addEventListener("keydown", e => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  e.preventDefault();
  field.focus();
});

// drawFound marks the matches in view beneath the axis; those that share a pixel once.
function drawFound(c) {
  c.fillStyle = color.accent;
  const px = scale.pixel(), all = found.all;
  let k = 0;
  for (let hi = all.length; k < hi;) { const mid = (k + hi) >> 1; if (opTime[all[mid]] < view.from) k = mid + 1; else hi = mid; }
  for (let last = -Infinity; k < all.length && opTime[all[k]] <= view.to; k++) {
    if (opTime[all[k]] - last < px) continue;
    last = opTime[all[k]];
    const x = scale.x(last);
    c.beginPath();
    c.moveTo(x - 4, box.top - 4); c.lineTo(x + 4, box.top - 4); c.lineTo(x, box.top + 3);
    c.fill();
  }
}

// The matches of the whole run, which do not change while the view does.
let strokes = new Set();
function drawMatches() { strokes = new Set(found.all.map(i => Math.round(opTime[i] / full.to * 2000))); }
function drawFoundMini(c) {
  c.fillStyle = color.accent;
  for (const s of strokes) c.fillRect(miniX(s / 2000 * full.to) - 0.5, 0, 1.5, 5);
}

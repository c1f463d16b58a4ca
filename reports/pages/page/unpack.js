// Reads what pack.go wrote: tables of numbers, column by column, deflated. Times
// are µs since the first operation; records lie flat in arrays.
const data = JSON.parse(document.getElementById("data").textContent);
let S = data.strings;
let opTime = new Float64Array(0);

async function inflate(id) {
  const text = document.getElementById(id).textContent;
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
  else {
    const letters = atob(text);
    bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// unpack reads the tables of one pack, in the order in which they were written. It
// lets the page answer in between.
async function unpack(id, tables, take) {
  const bytes = await inflate(id);
  let at = 0, pause = performance.now();
  const read = () => {
    let b = bytes[at++];
    if (b < 128) return (b >>> 1) ^ -(b & 1);
    let x = b & 127, unit = 128;
    do { b = bytes[at++]; x += (b & 127) * unit; unit *= 128; } while (b > 127);
    if (x <= 0x7fffffff) return (x >>> 1) ^ -(x & 1);
    return x % 2 ? -(x + 1) / 2 : x / 2;
  };
  for (const t of tables) {
    take(t.name, readTable(read, t));
    if (performance.now() - pause > 40) {
      await new Promise(done => setTimeout(done));
      pause = performance.now();
    }
  }
  if (at !== bytes.length) throw new Error("the data has " + bytes.length + " bytes where " + at + " belong");
}

function readTable(read, t) {
  const width = t.modes.length, small = width === 1 && t.modes === "m", n = t.count * width;
  const flat = small ? new Int32Array(t.count) : new Float64Array(n);
  for (let c = 0; c < width; c++) {
    const mode = t.modes[c];
    let last = 0;
    if (mode === "d") for (let k = c; k < n; k += width) flat[k] = last += read();
    else if (mode === "t") for (let k = c; k < n; k += width) { const x = read(); flat[k] = x && (last += x > 0 ? x - 1 : x); }
    else if (mode === "m") { const text = recent(); for (let k = c; k < n; k += width) flat[k] = text(read()); }
    else for (let k = c; k < n; k += width) flat[k] = read();
  }
  for (const mode of "xoeras") for (let c = t.modes.indexOf(mode); c >= 0; c = t.modes.indexOf(mode, c + 1)) undo(flat, t, mode, c);
  return flat;
}

// undo puts back what was taken off a column by the others of its record.
function undo(flat, t, mode, c) {
  const width = t.modes.length, n = flat.length;
  if (mode === "x") for (let k = 0; k < n; k += width) flat[k + c] += flat[k + t.op];
  if (mode === "o") for (let k = 0; k < n; k += width) flat[k + c] += opTime[flat[k + t.op]];
  if (mode === "e") for (let k = 0; k < n; k += width) if (flat[k + width - 1] >= 0) flat[k + c] += opTime[flat[k + width - 1]];
  if (mode === "r") for (let k = 0; k < n; k += width) flat[k + c] += flat[k + c - 1];
  if (mode === "a") for (let k = 0; k < n; k += width) flat[k + c] -= flat[k + 1];
  if (mode === "s") for (let k = 0; k < n; k += width) flat[k + c] = flat[k] - flat[k + c];
}

// recent gives back a text that was written as its place among those last used.
function recent() {
  const list = new Int32Array(64);
  let count = 0, last = 0;
  return code => {
    let at = code, x;
    if (code < 64) x = list[code];
    else {
      const z = code - 64;
      x = last += z % 2 ? -(z + 1) / 2 : z / 2;
      at = count < 64 ? count++ : 63;
    }
    for (; at > 0; at--) list[at] = list[at - 1];
    return list[0] = x;
  };
}

// fail says that there can be no drawing, and lets nothing run that needs one.
function fail(why) {
  const p = document.getElementById("broken");
  p.textContent = "The timeline cannot be drawn: " + (typeof DecompressionStream === "undefined" ? "this browser is too old for it." : "the data in this file is not whole (" + why.message + "). Make the report again: dlmtest check and the folder of the run.");
  p.hidden = false;
  return new Promise(() => {});
}

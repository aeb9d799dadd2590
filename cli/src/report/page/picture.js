"use strict";

// The picture: who refers on the left, who answers on the right, both by scope. The data
// hold paths and names that anybody may have chosen: they become text nodes and attribute
// values, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const report = data.report;
const picture = data.picture;

const NODE = { height: 38, gap: 6, title: 24, pad: 10 };
// More objects than this are drawn as one until somebody opens the group or searches.
const SHOWN = 24;
const SHOWN_OF_SEARCH = 60;

const svgName = "http://www.w3.org/2000/svg";

function svg(name, attributes, ...children) {
  const element = document.createElementNS(svgName, name);
  for (const [key, value] of Object.entries(attributes || {})) {
    element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

function plural(number, word, many) {
  const text = number.toLocaleString("en");
  return text + " " + (number === 1 ? word : many || word + "s");
}

function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

// The end of a name tells libraries apart as often as its beginning.
function shortened(text, length) {
  if (text.length <= length) return text;
  const end = Math.floor((length - 1) * 0.45);
  return text.slice(0, length - 1 - end) + "…" + text.slice(text.length - end);
}

function commonStart(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

// File names of at most this length, by path. Those that would be the same when shortened
// are cut so that the place where they begin to differ is seen.
function labels(paths, length) {
  const alike = new Map();
  for (const name of new Set(paths.map(baseName))) {
    const short = shortened(name, length);
    alike.set(short, (alike.get(short) || []).concat(name));
  }
  const label = new Map();
  const head = Math.floor(length * 0.3);
  for (const [short, names] of alike) {
    for (const name of names) {
      const others = names.filter((other) => other !== name);
      const from = Math.max(head, ...others.map((other) => commonStart(name, other) - 4));
      const cut = name.slice(0, head) + "…" + name.slice(from);
      label.set(name, others.length === 0 ? short : cut.length > length ? cut.slice(0, length - 1) + "…" : cut);
    }
  }
  return (path) => label.get(baseName(path));
}

const outgoing = picture.nodes.map(() => []);
const incoming = picture.nodes.map(() => []);
picture.edges.forEach((edge, at) => {
  outgoing[edge.from].push(at);
  incoming[edge.to].push(at);
  edge.lower = Array.from(new Set(edge.names)).map((name) => name.toLowerCase());
});
// The names that an object refers to or defines, whether or not an edge stands for them.
const namesOf = new Map();
for (const [path, names] of [...report.exporters.map((it) => [it.path, it.exported]), ...report.clients.map((it) => [it.path, it.names])]) {
  namesOf.set(path, (namesOf.get(path) || []).concat(names.map((name) => name.toLowerCase())));
}
const RANK = { conflict: 3, warning: 2, note: 1 };
picture.nodes.forEach((node, at) => {
  node.names = namesOf.get(node.path) || [];
  node.lower = (node.path + " " + (node.soname || "")).toLowerCase();
  // Whoever answers stands on the right, and so does what could.
  node.right = incoming[at].length > 0 || node.kind === "runtime" || node.kind === "exporter" || node.kind === "missing";
  node.wrong = outgoing[at].some((edge) => picture.edges[edge].wrong > 0);
  node.interest = (node.wrong ? 4 : 0) + (RANK[node.severity] || 0) * 2 + (node.kind === "client" ? 0 : 1);
});

// What a search leaves: places of nodes and edges.
function narrowed(query, trouble) {
  const wanted = query.trim().toLowerCase();
  const nodes = new Set();
  const edges = new Set();
  picture.nodes.forEach((node, at) => {
    if (wanted !== "" && !node.lower.includes(wanted)) return;
    if (trouble && !node.wrong && !RANK[node.severity]) return;
    nodes.add(at);
  });
  const found = new Set(nodes);
  const named = new Set();
  picture.nodes.forEach((node, at) => {
    if (wanted === "" || (trouble && !node.wrong && !RANK[node.severity])) return;
    if (!node.names.some((name) => name.includes(wanted))) return;
    nodes.add(at);
    named.add(at);
  });
  picture.edges.forEach((edge, at) => {
    if (trouble && edge.wrong === 0) return;
    const here = found.has(edge.from) || found.has(edge.to);
    // A need has no names: it is shown for who refers to what was searched.
    const meant = wanted !== "" && (edge.lower.some((name) => name.includes(wanted)) || (edge.need && named.has(edge.from)));
    if (!here && !meant) return;
    edges.add(at);
    nodes.add(edge.from);
    nodes.add(edge.to);
  });
  return { nodes, edges, searched: wanted !== "" || trouble };
}

// The rows of a column: groups, each with the objects that are drawn and the rest.
function column(view, right, opened) {
  const groups = picture.groups.map(() => []);
  for (const at of view.nodes) {
    if (picture.nodes[at].right === right) groups[picture.nodes[at].group].push(at);
  }
  const rows = [];
  groups.forEach((members, group) => {
    if (members.length === 0) return;
    const byInterest = members.slice().sort((a, b) => picture.nodes[b].interest - picture.nodes[a].interest || a - b);
    const key = group + (right ? "r" : "l");
    const limit = opened.has(key) ? Infinity : view.searched ? SHOWN_OF_SEARCH : SHOWN;
    // A remainder of one takes no less room than the object itself.
    const cut = members.length > limit + 1 ? limit : members.length;
    rows.push({ title: picture.groups[group], members, key, drawn: byInterest.slice(0, cut), rest: byInterest.slice(cut) });
  });
  return rows;
}

// Draws into the element; returns how many objects and edges have a mark of their own.
function draw(into, view, state, select, open) {
  const width = Math.max(into.clientWidth || 0, 720);
  const nodeWidth = Math.min(430, Math.floor(width * 0.36));
  const columns = [
    { x: NODE.pad, right: false, title: report.bindings.length ? "refers" : "needs" },
    { x: width - nodeWidth - 3 * NODE.pad, right: true, title: report.bindings.length ? "answers" : "is needed" },
  ];
  const label = labels(Array.from(view.nodes, (at) => picture.nodes[at].path), Math.floor((nodeWidth - 20) / 7.6));
  const places = new Map();
  const boxes = svg("g");
  const marks = svg("g");
  const wires = svg("g");
  let height = 0;
  let drawn = 0;
  for (const side of columns) {
    let y = 30;
    boxes.append(svg("text", { x: side.x + 2, y: 18, class: "column" }, side.title));
    for (const row of column(view, side.right, state.opened)) {
      const count = row.drawn.length + (row.rest.length ? 1 : 0);
      const boxHeight = NODE.title + count * (NODE.height + NODE.gap) + NODE.pad - NODE.gap;
      boxes.append(
        svg("rect", { x: side.x, y, width: nodeWidth + 2 * NODE.pad, height: boxHeight, rx: 8, class: "group-box" }),
        svg("text", { x: side.x + NODE.pad, y: y + 16, class: "group" }, row.title),
        svg("text", { x: side.x + NODE.pad + nodeWidth, y: y + 16, class: "caption", "text-anchor": "end" }, plural(row.members.length, "object")),
      );
      let top = y + NODE.title;
      const x = side.x + NODE.pad;
      const place = () => ({ left: x, end: x + nodeWidth, middle: top + NODE.height / 2 });
      for (const at of row.drawn) {
        places.set(at, place());
        marks.append(nodeMark(at, x, top, nodeWidth, label, state, select));
        drawn += 1;
        top += NODE.height + NODE.gap;
      }
      if (row.rest.length) {
        for (const at of row.rest) places.set(at, place());
        marks.append(moreMark(row, x, top, nodeWidth, open));
      }
      y += boxHeight + 12;
    }
    height = Math.max(height, y);
  }
  const wireCount = drawWires(wires, view, places, state);
  const all = svg("svg", { width, height: height + 4, viewBox: `0 0 ${width} ${height + 4}`, role: "group", "aria-label": "Objects and their bindings" }, boxes, wires, marks);
  if (state.selected !== null) all.classList.add("has-selection");
  into.replaceChildren(all);
  return { drawn, wires: wireCount };
}

function nodeMark(at, x, y, width, label, state, select) {
  const node = picture.nodes[at];
  const classes = ["node", node.kind];
  if (node.severity && node.severity !== "note") classes.push("is-" + node.severity);
  else if (node.wrong) classes.push("is-captured");
  if (state.selected === at) classes.push("selected");
  const caption = captionOf(at);
  const group = svg(
    "g",
    { class: classes.join(" "), tabindex: 0, role: "button", "data-node": at, "aria-label": node.path + (caption ? ", " + caption : "") + (node.severity ? ", " + node.severity : "") },
    svg("title", {}, node.path),
    svg("rect", { x, y, width, height: NODE.height, rx: 6 }),
    svg("text", { x: x + 10, y: y + 16 }, label(node.path)),
    svg("text", { x: x + 10, y: y + 31, class: "caption" }, shortened(caption, Math.floor((width - 20) / 6.1))),
  );
  group.addEventListener("click", () => select(at));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      select(at);
    }
  });
  return group;
}

function captionOf(at) {
  const node = picture.nodes[at];
  const wrong = outgoing[at].reduce((sum, edge) => sum + picture.edges[edge].wrong, 0);
  const parts = [];
  if (wrong) parts.push(`${wrong.toLocaleString("en")} wrong`);
  if (node.caption) parts.push(node.caption);
  const folder = node.path.slice(0, node.path.length - baseName(node.path).length);
  if (folder) parts.push(folder);
  return parts.join(" · ");
}

function moreMark(row, x, y, width, open) {
  const text = plural(row.rest.length, "more object") + ": show";
  const group = svg(
    "g",
    { class: "more", tabindex: 0, role: "button", "data-more": row.rest.length, "aria-label": `${text} (${row.title})` },
    svg("rect", { x, y, width, height: NODE.height, rx: 6 }),
    svg("text", { x: x + 10, y: y + 23 }, text),
  );
  group.addEventListener("click", () => open(row.key));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(row.key);
    }
  });
  return group;
}

// Edges between the same two places are one line.
function drawWires(into, view, places, state) {
  const wires = new Map();
  for (const at of view.edges) {
    const edge = picture.edges[at];
    const from = places.get(edge.from);
    const to = places.get(edge.to);
    if (!from || !to) continue;
    const key = `${from.left},${from.middle},${to.left},${to.middle}`;
    const wire = wires.get(key) || { from, to, names: 0, wrong: 0, lazy: 0, need: true, selected: false, edges: 0 };
    wire.names += edge.names.length;
    wire.wrong += edge.wrong;
    wire.lazy += edge.lazy;
    wire.need = wire.need && edge.need;
    wire.selected = wire.selected || edge.from === state.selected || edge.to === state.selected;
    wire.edges += 1;
    wires.set(key, wire);
  }
  // The wrong ones last: over the others.
  const ordered = Array.from(wires.values()).sort((a, b) => (a.wrong > 0) - (b.wrong > 0));
  for (const wire of ordered) {
    const classes = ["edge"];
    if (wire.need) classes.push("need");
    else if (wire.lazy === wire.names) classes.push("lazy");
    if (wire.wrong) classes.push("wrong");
    if (wire.selected) classes.push("selected");
    const thickness = Math.min(5, 1 + Math.log10(Math.max(1, wire.names)));
    const title = wire.need
      ? "needs"
      : plural(wire.names, "name") + (wire.wrong ? `, ${wire.wrong} wrong` : "") + (wire.lazy ? `, ${wire.lazy} not bound yet` : "");
    into.append(svg("path", { class: classes.join(" "), d: curve(wire.from, wire.to), "stroke-width": thickness.toFixed(1) }, svg("title", {}, title)));
  }
  return ordered.length;
}

function curve(from, to) {
  if (from.left === to.left) {
    // Within a column: out of the side that faces the other one, and back.
    const bulge = 26 + Math.min(60, Math.abs(to.middle - from.middle) / 8);
    const x = from.left;
    return `M${x},${from.middle + 6} C${x - bulge},${from.middle + 6} ${x - bulge},${to.middle - 6} ${x},${to.middle - 6}`;
  }
  const [start, end] = from.left < to.left ? [from.end, to.left] : [from.left, to.end];
  const middle = (start + end) / 2;
  return `M${start},${from.middle} C${middle},${from.middle} ${middle},${to.middle} ${end},${to.middle}`;
}

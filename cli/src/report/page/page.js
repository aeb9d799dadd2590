
// Puts the parts together: the search narrows picture and tables alike, a selected object
// shows its details. The search is kept in the address (#q=...), so that it can be handed on.

const by = (id) => document.getElementById(id);
// Findings that are named at the top, above the picture.
const WORST = 5;
const state = { selected: null, opened: new Set() };

function redraw() {
  const query = by("query").value;
  const trouble = by("trouble").checked;
  const view = narrowed(query, trouble);
  if (state.selected !== null && !view.nodes.has(state.selected)) choose(null);
  const focused = document.activeElement && document.activeElement.getAttribute("data-node");
  const drawn = draw(by("picture"), view, state, select, open);
  if (focused !== null) {
    const again = by("picture").querySelector(`[data-node="${focused}"]`);
    if (again) again.focus();
  }
  const rows = drawTables(by("tables"), query, trouble);
  const all = picture.nodes.length;
  const left = view.nodes.size;
  const collapsed = left - drawn.drawn;
  by("count").textContent =
    (left === all ? plural(all, "object") : `${left.toLocaleString("en")} of ${plural(all, "object")}`) +
    (collapsed > 0 ? `, ${collapsed.toLocaleString("en")} of them drawn as one` : "") +
    `; ${plural(rows, "row")} below`;
  by("picture").hidden = all === 0;
}

function choose(at) {
  state.selected = at;
  showDetails();
}

function select(at) {
  choose(state.selected === at ? null : at);
  redraw();
}

function open(key) {
  state.opened.add(key);
  redraw();
}

function showDetails() {
  const into = by("details");
  if (state.selected === null) return into.replaceChildren();
  const at = state.selected;
  const node = picture.nodes[at];
  const parts = [html("h3", { class: "path" }, node.path)];
  const facts = [node.soname ? `SONAME ${node.soname}` : "", picture.groups[node.group], node.caption];
  if (node.own) facts.push(`${plural(node.own, "reference")} bound to itself`);
  parts.push(html("p", { class: "dim" }, facts.filter(Boolean).join(" · ")));
  parts.push(...report.findings.filter((finding) => finding.object === node.path).map(findingMark));
  const ends = (edges, end) =>
    edges
      .map((edge) => picture.edges[edge])
      .sort((a, b) => b.wrong - a.wrong || b.names.length - a.names.length)
      .map((edge) => {
        const names = Array.from(new Set(edge.names));
        const text = names.slice(0, 12).join(" ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
        return { wrong: edge.wrong > 0, cells: [picture.nodes[edge[end]].path, edge.need ? "needs" : edge.names.length, edge.wrong || "", text] };
      });
  const heads = (first) => [[first, "path"], ["names"], ["wrong"], ["which", "code"]];
  for (const [edges, end, title] of [
    [outgoing[at], "to", "Bound to"],
    [incoming[at], "from", "Answers"],
  ]) {
    const rows = ends(edges, end);
    if (rows.length) parts.push(html("h3", {}, `${title} ${plural(rows.length, "object")}`), table(heads("object"), rows, rows.length, () => {}));
  }
  into.replaceChildren(...parts);
}

function verdict() {
  const worst = ["conflict", "warning", "note"];
  const parts = [];
  for (const severity of worst) {
    const number = report.findings.filter((finding) => severityOf(finding) === severity).length;
    if (number) parts.push(html("span", { class: severity }, plural(number, severity)), " ");
  }
  if (!parts.length) parts.push(html("span", { class: "clean" }, "clean"), " ");
  const wrong = picture.edges.reduce((sum, edge) => sum + edge.wrong, 0);
  const facts = [
    plural(report.objects, "object") + " read",
    plural(report.runtimes.length, "runtime"),
    plural(report.exporters.length, "other exporter"),
    report.bindings.length ? `${plural(report.bindings.length, "binding")}, ${wrong.toLocaleString("en")} of them wrong` : "",
  ];
  by("verdict").append(...parts, html("span", { class: "dim" }, "· " + facts.filter(Boolean).join(", ")));
  // In the order of the report, the worst first; all of them are below.
  for (const finding of report.findings.slice(0, WORST)) {
    const severity = severityOf(finding);
    const line = `${finding.rule}: ${baseName(finding.object)}: ${finding.detail}`;
    by("worst").append(html("li", { title: line }, html("span", { class: severity }, severity), " " + line));
  }
  if (report.findings.length > WORST) {
    by("worst").append(html("li", { class: "dim" }, `and ${plural(report.findings.length - WORST, "more finding")} below`));
  }
  by("tool").textContent = `${report.tool} ${report.command} · ${report.names}`;
  by("subject").textContent = report.subject;
}

function legend() {
  const sign = (style, text) => {
    const mark = html("i");
    mark.className = style.includes("wire") ? "wire" : "";
    Object.assign(mark.style, SIGNS[style]);
    return html("span", {}, mark, text);
  };
  const SIGNS = {
    runtime: { background: "var(--runtime-fill)", borderColor: "var(--runtime)" },
    conflict: { background: "var(--conflict-fill)", borderColor: "var(--conflict)" },
    warning: { background: "var(--warning-fill)", borderColor: "var(--warning)" },
    "wire bound": { borderColor: "var(--edge)" },
    "wire lazy": { borderColor: "var(--edge)", borderTopStyle: "dashed" },
    "wire need": { borderColor: "var(--edge)", borderTopStyle: "dotted" },
    "wire wrong": { borderColor: "var(--conflict)" },
  };
  const signs = [sign("runtime", "runtime"), sign("conflict", "conflict"), sign("warning", "warning")];
  if (report.bindings.length) {
    signs.push(sign("wire bound", "bound"), sign("wire lazy", "not bound yet"), sign("wire wrong", "bound to the wrong object"));
  } else if (picture.edges.length) {
    signs.push(sign("wire need", "needs"));
  }
  by("legend").append(...signs);
  by("picture-title").textContent = report.bindings.length ? "Who is bound to whom" : "Who needs what";
}

function step(distance) {
  const marks = Array.from(document.querySelectorAll("#picture [tabindex]"));
  const at = marks.indexOf(document.activeElement);
  const next = at < 0 ? marks[0] : marks[at + distance];
  if (next) next.focus();
}

function clear() {
  by("query").value = "";
  by("trouble").checked = false;
  choose(null);
  changed();
}

function changed() {
  const query = by("query").value;
  const address = query ? "#q=" + encodeURIComponent(query) : location.pathname + location.search;
  try {
    history.replaceState(null, "", address);
  } catch {
    // A page without an address of its own, such as one in a frame.
  }
  redraw();
}

function fromAddress() {
  const match = /^#q=(.*)$/.exec(location.hash);
  if (!match) return;
  try {
    by("query").value = decodeURIComponent(match[1]);
  } catch {
    // Not ours.
  }
}

let waiting = 0;
by("query").addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(changed, 60);
});
by("trouble").addEventListener("change", changed);
by("search").addEventListener("submit", (event) => {
  event.preventDefault();
  changed();
});
addEventListener("hashchange", () => {
  fromAddress();
  redraw();
});
addEventListener("resize", redraw);
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.key === "Escape") clear();
  else if (event.key === "/" && !typing) {
    event.preventDefault();
    by("query").focus();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const inPicture = event.target instanceof Element && event.target.closest("#picture");
    if (!inPicture && !typing) return;
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});

by("main").hidden = false;
verdict();
legend();
fromAddress();
redraw();

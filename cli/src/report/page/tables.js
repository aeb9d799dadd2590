
// The tables below the picture. A row is kept with the text that a search looks in.

const ROWS_SHOWN = 200;
// Who needs a library: the first of them.
const NEEDS = 3;
const rules = new Map(report.rules.map((rule) => [rule.id, rule]));

function scopeText(scope) {
  if (!scope) return "";
  if (scope === "local") return "local";
  if (scope === "unknown") return "not known";
  if (scope.global) return `global, place ${scope.global.position}`;
  if (scope.namespace) return `namespace ${scope.namespace.number}`;
  return "";
}

function versionOf(runtime) {
  if (runtime.at_least) return `at least ${runtime.at_least}`;
  return runtime.version || (runtime.major === null ? "" : `major ${runtime.major}`);
}

function firstOf(names) {
  return names.slice(0, 6).join(" ") + (names.length > 6 ? " …" : "");
}

function cell(value, kind) {
  if (value instanceof Node) return html("td", {}, value);
  const text = value === null || value === undefined ? "" : String(value);
  return html("td", kind ? { class: kind } : {}, text);
}

function chains(all) {
  const texts = all.map((chain) => chain.map(baseName).join(" → "));
  const shown = texts.length > NEEDS + 1 ? NEEDS : texts.length;
  const more = texts.length - shown;
  return texts.slice(0, shown).join("; ") + (more ? ` and ${more.toLocaleString("en")} more` : "");
}

// What stands in a binding's place of the provider, where that is no object.
const PLACES = { lazy: "not known", "no-library": "memory of no library", unmapped: "memory that is no longer mapped" };

const WRONG = { "no-runtime": "no runtime", "other-copy": "another copy", "other-library": "another library", unmapped: "gone" };

// A section: its title, the heads of its columns with the class of their cells, its rows.
function sections() {
  const bindings = report.bindings.map((binding) => {
    return {
      wrong: binding.wrong !== null,
      object: binding.object,
      cells: [
        binding.object,
        binding.node ? `${binding.name}@${binding.node}` : binding.name,
        binding.state,
        binding.provider || PLACES[binding.state] || "nobody",
        binding.wrong ? WRONG[binding.wrong] : "",
        binding.expected,
      ],
    };
  });
  // Wrong ones first, the rest in the order of the report.
  bindings.sort((a, b) => b.wrong - a.wrong);
  return [
    {
      title: "Runtimes",
      heads: [["file", "path"], ["what"], ["version"], ["SONAME", "code"], ["scope"], ["build id", "code"], ["needed by"]],
      rows: report.runtimes.map((it) => ({
        cells: [it.path, it.kind, versionOf(it), it.soname, scopeText(it.scope), it.build_id, chains(it.needed_by)],
        search: it.needed_by.flat().join(" "),
      })),
    },
    {
      title: "Exporters",
      heads: [["file", "path"], ["names"], ["without a node"], ["scope"], ["needed by"], ["first names", "code"]],
      rows: report.exporters.map((it) => ({
        cells: [it.path, it.exported.length, it.unversioned, scopeText(it.scope), chains(it.needed_by), firstOf(it.exported)],
        search: [...it.exported, ...it.needed_by.flat()].join(" "),
      })),
    },
    {
      title: "Bindings",
      heads: [["object", "path"], ["reference", "code"], ["state"], ["bound to", "path"], ["wrong"], ["should be", "path"]],
      rows: bindings,
    },
    {
      title: "What the next library gets",
      heads: [["reference", "code"], ["from", "path"], ["why"]],
      rows: report.forecast.map((it) => ({ cells: [it.node ? `${it.name}@${it.node}` : it.name, it.provider || (it.known ? "nobody" : "not known"), it.why] })),
    },
    {
      title: "What clients were built for",
      heads: [["file", "path"], ["references"], ["without a node"], ["needs", "code"], ["structs"], ["differs from the runtime"], ["first names", "code"]],
      rows: report.clients.map((it) => ({
        cells: [it.path, it.references, it.unversioned, it.needs.join(" "), it.structs.join(" "), it.breaks.join(", "), firstOf(it.names)],
        search: it.names.join(" "),
      })),
    },
    { title: "Hazards", heads: [["what"], ["here"]], rows: report.hazards.map((it) => ({ cells: [it.what, it.detail] })) },
    { title: "Could not be looked at", heads: [["what", "path"], ["why"]], rows: report.unreadable.map((it) => ({ cells: [it.path, it.why] })) },
    {
      title: "All objects",
      closed: true,
      heads: [["file", "path"], ["scope"]],
      rows: (report.loaded || []).map((it) => ({ cells: [it.path, scopeText(it.scope)] })),
    },
  ].filter((section) => section.rows.length > 0);
}

const allSections = sections();
for (const section of allSections) {
  for (const row of section.rows) {
    row.lower = (row.cells.join(" ") + " " + (row.search || "")).toLowerCase();
  }
}
for (const finding of report.findings) {
  finding.lower = [finding.rule, finding.object, finding.detail, ...finding.evidence].join(" ").toLowerCase();
}

function table(heads, rows, shown, more) {
  const body = html("tbody");
  // A column that says nothing in any row is left out.
  const columns = heads.map((_, at) => at).filter((at) => rows.some((row) => row.cells[at] !== "" && row.cells[at] !== null && row.cells[at] !== undefined));
  for (const row of rows.slice(0, shown)) {
    const line = html("tr", row.wrong ? { class: "is-wrong" } : {});
    for (const at of columns) {
      const element = cell(row.cells[at], heads[at][1]);
      if (row.wrong && at >= 3) element.classList.add("conflict");
      line.append(element);
    }
    body.append(line);
  }
  const all = html("div", { class: "scroll" }, html("table", {}, html("thead", {}, html("tr", {}, ...columns.map((at) => html("th", { scope: "col" }, heads[at][0])))), body));
  if (rows.length > shown) {
    const button = html("button", { type: "button" }, `Show all ${rows.length.toLocaleString("en")} rows`);
    button.addEventListener("click", more);
    all.append(html("p", {}, button, html("span", { class: "dim" }, ` ${plural(shown, "row")} shown; a search narrows them`)));
  }
  return all;
}

function link(url) {
  // Only what is one becomes a link.
  if (!/^https:\/\//.test(url)) return document.createTextNode(url);
  const anchor = html("a", { rel: "noreferrer noopener" }, url);
  anchor.href = url;
  return anchor;
}

function findingMark(finding) {
  const rule = rules.get(finding.rule);
  const terms = html("dl");
  const term = (name, ...values) => terms.append(html("dt", {}, name), html("dd", {}, ...values));
  term("meaning", rule.meaning);
  if (rule.now !== "none") term("now", rule.now);
  term("owner", rule.owner);
  if (rule.threads.length) {
    term("threads", ...rule.threads.flatMap((url, at) => (at ? [", ", link(url)] : [link(url)])));
  }
  const mark = html(
    "article",
    { class: `finding is-${rule.severity}` },
    html("p", {}, html("span", { class: rule.severity }, rule.severity), " ", html("code", {}, finding.rule), " ", html("span", { class: "path" }, finding.object)),
    html("p", {}, finding.detail),
    terms,
  );
  if (finding.evidence.length) {
    mark.append(html("details", {}, html("summary", { class: "dim" }, `evidence, ${plural(finding.evidence.length, "line")}`), html("pre", {}, finding.evidence.join("\n"))));
  }
  return mark;
}

function severityOf(finding) {
  return rules.get(finding.rule).severity;
}

const unfolded = new Set();
const folded = new Set(allSections.filter((section) => section.closed).map((section) => section.title));

// Draws the findings and tables that a search leaves; returns how many rows those are.
function drawTables(into, query, trouble) {
  const wanted = query.trim().toLowerCase();
  const found = (it) => wanted === "" || it.lower.includes(wanted);
  const parts = [];
  let rows = 0;
  if (report.preface && report.preface.length) {
    parts.push(html("h2", {}, "The search"), html("pre", {}, report.preface.join("\n")));
  }
  const findings = report.findings.filter(found);
  if (report.findings.length) {
    const shown = unfolded.has("Findings") ? findings.length : 50;
    const section = html("section", {}, html("h2", {}, titled("Findings", findings.length, report.findings.length)));
    section.append(...findings.slice(0, shown).map(findingMark));
    if (findings.length > shown) {
      const button = html("button", { type: "button" }, `Show all ${plural(findings.length, "finding")}`);
      button.addEventListener("click", () => unfold("Findings", into, query, trouble));
      section.append(button);
    }
    parts.push(section);
    rows += findings.length;
  }
  for (const section of allSections) {
    const left = section.rows.filter((row) => found(row) && (!trouble || section.title !== "Bindings" || row.wrong));
    rows += left.length;
    const shown = unfolded.has(section.title) ? left.length : ROWS_SHOWN;
    const more = () => unfold(section.title, into, query, trouble);
    const part = html("details", folded.has(section.title) ? {} : { open: "" }, html("summary", {}, html("h2", {}, titled(section.title, left.length, section.rows.length))));
    if (left.length) part.append(table(section.heads, left, shown, more));
    part.addEventListener("toggle", () => (part.open ? folded.delete(section.title) : folded.add(section.title)));
    parts.push(part);
  }
  into.replaceChildren(...parts);
  return rows;
}

function titled(title, left, all) {
  const number = (it) => it.toLocaleString("en");
  return left === all ? `${title} (${number(all)})` : `${title} (${number(left)} of ${number(all)})`;
}

function unfold(title, into, query, trouble) {
  unfolded.add(title);
  drawTables(into, query, trouble);
}

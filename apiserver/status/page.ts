import { type Component, components, type Status } from "#core/schema/status/vocabulary.ts";
import type { IncidentNote, IncidentRow } from "#core/storage/status/incidents.ts";
import { escaped } from "../http/markup.ts";
import { type Bar, barsOf, recordOf, uptimeOf } from "./bars.ts";
import type { Look } from "./board.ts";
import { style } from "./style.ts";

/** The status page: no script, nothing that is loaded, light or dark as the reader has it. Times are UTC. */
export const page = (look: Look): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Service status: ${words[look.status]}</title>
<link rel="icon" href="data:,">
<link rel="alternate" type="application/atom+xml" title="Incidents" href="feed.atom">
<style>${style}</style>
</head>
<body>
<main>
<h1>Service status</h1>
<p class="overall ${look.status}" role="status">${overall[look.status]}</p>
<p class="checked">Checked at ${time(look.checkedAt)}</p>
<h2>Components</h2>
<ul class="components">
${components.map((name) => component(name, look)).join("\n")}
</ul>
<p class="legend" aria-hidden="true">
<span class="operational"></span>operational <span class="degraded"></span>degraded
<span class="major_outage"></span>outage <span class="unknown"></span>not recorded
</p>
<h2>Incidents of the last 90 days</h2>
${look.incidents.length === 0 ? "<p>None.</p>" : look.incidents.map(incident).join("\n")}
<p class="links"><a href="feed.atom">Atom feed</a> <a href="../status.json">As JSON</a></p>
</main>
</body>
</html>
`;

const words: Record<Status, string> = {
  operational: "operational",
  degraded: "degraded",
  major_outage: "major outage",
};

const overall: Record<Status, string> = {
  operational: "Everything works",
  degraded: "Some things work less well than usual",
  major_outage: "Something important does not work",
};

const names: Record<Component, string> = {
  api: "API",
  dashboard: "Dashboard",
  worker: "Processing",
  delivery: "Delivery",
  sdk: "Devices",
};

const component = (name: Component, { states, days, checkedAt }: Look): string => {
  const bars = barsOf(name, days, checkedAt);
  const uptime = uptimeOf(name, days);
  const says = uptime === null ? "nothing is recorded yet" : `${uptime} % available, ${recordOf(name, days)}`;
  return `<li>
<span class="name">${names[name]}</span> <span class="state ${states[name]}">${words[states[name]]}</span>
<span class="bars" role="img" aria-label="${names[name]}, last 90 days: ${says}">${bars.map(bar).join("")}</span>
<span class="uptime">${says}</span>
</li>`;
};

const bar = ({ day, status, minutes }: Bar): string =>
  `<i class="${status}" title="${day}: ${status === "unknown" ? "not recorded" : minutes}"></i>`;

const incident = (
  row: IncidentRow,
): string => `<article id="${escaped(row._id)}" itemscope itemtype="https://schema.org/Article">
<h3 itemprop="headline">${escaped(row.title)}</h3>
<p class="about"><span class="severity ${row.severity}">${row.severity}</span>
${row.components.map((name) => names[name]).join(", ")}; began ${time(row.started_at, "datePublished")}${ended(row)}</p>
<ol>
${row.updates.map(update).join("\n")}
</ol>
</article>`;

const ended = ({ resolved_at: end }: StatusEnd): string => (end === null ? ", still open" : `, ended ${time(end)}`);

type StatusEnd = Pick<IncidentRow, "resolved_at">;

const update = ({ status, message, created_at: at }: IncidentNote): string =>
  `<li><strong>${status}</strong> ${time(at)}<p itemprop="articleBody">${escaped(message)}</p></li>`;

const time = (at: Date, property?: "datePublished"): string => {
  const text = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<time datetime="${at.toISOString()}"${property === undefined ? "" : ` itemprop="${property}"`}>${text}</time>`;
};

import { escaped } from "../../http/markup.ts";
import { code, folded } from "../html.ts";
import type { Listed, Reference } from "../model.ts";

/** A page: what is its own, and where it stands. */
export type Page = {
  title: string;
  /** Its address below `/docs/`; empty for the first one. */
  path: string;
  content: string;
};

/** The way from a page to the folder of all of them. */
export const rootOf = (path: string): string => "../".repeat(path.split("/").length - 1);

/** A page with its head, the search and the list of everything that there is. */
export const layout = ({ title, path, content }: Page, reference: Reference): string => {
  const root = rootOf(path);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Herald API reference</title>
<link rel="icon" href="${root}logo.svg">
<link rel="stylesheet" href="${root}style.css">
<script src="${root}script.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${root}./"><img src="${root}logo.svg" alt="" width="24" height="24">Herald API</a>
<search hidden>
<label for="search">Search</label>
<input id="search" type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false" aria-controls="found">
<p id="count" role="status"></p>
<ul id="found" hidden></ul>
</search>
<a class="to-contents" href="#contents">Contents</a>
<button id="theme" type="button" hidden>Theme</button>
</header>
<div class="columns">
<main id="content" tabindex="-1">
${content}
</main>
<nav id="contents" aria-label="Contents">
${contents(path, root, reference)}
</nav>
</div>
</body>
</html>
`;
};

const contents = (path: string, root: string, { groups, events }: Reference): string => {
  const link = (to: string, label: string): string =>
    `<li><a href="${to === "" ? `${root}./` : root + to}"${to === path ? ' aria-current="page"' : ""}>${label}</a></li>`;
  const group = (label: string, links: readonly { to: string; label: string }[], isFirst = false): string => {
    const isOpen = (isFirst && path === "") || links.some(({ to }) => to === path);
    const items = links.map(({ to, label }) => link(to, label)).join("\n");
    return folded(escaped(label), `<ul>\n${items}\n</ul>`, isOpen ? " open" : "");
  };
  return [
    `<ul>${link("", "Introduction")}</ul>`,
    ...groups.map(({ tag, operations }, n) => group(tag, operations.map(linkOf), n === 0)),
    group(
      "Events to your endpoints",
      events.map(({ summary }) => ({ to: `events/${summary}`, label: code(summary) })),
    ),
    `<ul>${link("errors", "Errors")}${link("schemas", "Schemas")}</ul>`,
  ].join("\n");
};

const linkOf = ({ operationId, method, summary }: Listed) => ({
  to: `operations/${operationId}`,
  label: `${badge(method)} ${escaped(summary)}`,
});

/** A method as its own colour. */
export const badge = (method: string): string => `<span class="method ${method.toLowerCase()}">${method}</span>`;

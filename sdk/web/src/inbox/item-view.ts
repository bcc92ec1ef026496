import { button, icon, make } from "../view/dom.ts";
import { imageOf, linkOf } from "../view/links.ts";
import type { InboxItem } from "./inbox.ts";
import { said, type Words } from "./words.ts";

const open = "M4 6h16v12H4zM4 7l8 6 8-6";
const closed = "M5 12l5 5L20 7";
const box = "M4 7h16M6 7v12h12V7M10 11h4M5 4h14l1 3H4z";

/** One item: a title that opens it, its text, its links, and what can be done with it. */
export const itemView = (item: InboxItem, words: Words): HTMLLIElement => {
  const name = item.title ?? item.body ?? words.untitled;
  const isRead = item.read_at !== null;
  const image = imageOf(item.image_url);
  return make(
    "li",
    { part: isRead ? "item" : "item unread", "data-id": item.id },
    ...(image === null
      ? []
      : [make("img", { part: "image", src: image, alt: "", loading: "lazy", referrerpolicy: "no-referrer" })]),
    make("div", { part: "text" }, titleOf(item, name), ...textOf(item), ...linksOf(item), timeOf(item.created_at)),
    isRead
      ? actionOf("unread", said(words.markUnread, name), open)
      : actionOf("read", said(words.markRead, name), closed),
    actionOf("archived", said(words.archive, name), box),
  );
};

const titleOf = ({ url }: InboxItem, name: string): HTMLElement => {
  const href = linkOf(url);
  if (href !== null) return make("a", { part: "title", href, "data-act": "open" }, name);
  return button("open", { part: "title" }, name);
};

const textOf = ({ title, body }: InboxItem): HTMLElement[] =>
  title === null || body === null ? [] : [make("p", { part: "body" }, body)];

const linksOf = ({ actions }: InboxItem): HTMLElement[] => {
  const links = actions.flatMap(({ id, text, url }) => {
    const href = linkOf(url);
    return href === null ? [] : [make("a", { part: "link", href, "data-act": "open", "data-action": id }, text)];
  });
  return links.length === 0 ? [] : [make("div", { part: "links" }, ...links)];
};

const actionOf = (act: string, label: string, line: string): HTMLElement =>
  button(act, { part: "action", "aria-label": label, title: label }, icon(line));

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const timeOf = (at: string): HTMLElement => {
  const seconds = (Date.parse(at) - Date.now()) / 1_000;
  const [unit, size] = units.find(([, one]) => -seconds >= one) ?? ["minute", 60];
  const language = document.documentElement.lang || undefined;
  const text = new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(Math.ceil(seconds / size), unit);
  return make("time", { part: "time", datetime: at }, text);
};

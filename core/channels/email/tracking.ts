import { afterTag, hrefOf, readTag } from "./html-tags.ts";
import { plainText } from "./plain-text.ts";

/** What is recorded of a mail's readers. */
export type Tracking = { opens: boolean; clicks: boolean };

/** What stands in a mail in place of a link, or the picture that is loaded when the mail is opened. */
export type Tracker = { kind: "click"; to: string } | { kind: "open" };

/** A text with places for addresses of our own: between two pieces stands one. */
export type Tracked = { pieces: readonly string[]; trackers: readonly Tracker[] };

/** The text for one recipient. */
export const withAddresses = ({ pieces, trackers }: Tracked, addressOf: (tracker: Tracker) => string): string =>
  trackers.reduce((text, tracker, i) => `${text}${addressOf(tracker)}${pieces[i + 1] ?? ""}`, pieces[0] ?? "");

const mark = "\0"; // stands for an address of ours; no text of a sender has it

/** A body whose links, but for those of {@link isTracked}, have become places, as has the picture at its end. */
export const trackedHtml = (html: string, { opens, clicks }: Tracking): Tracked => {
  const body = opens ? withPicture(unmarked(html)) : unmarked(html);
  const pieces: string[] = [];
  const trackers: Tracker[] = [];
  let begin = 0;
  const place = (from: number, to: number, tracker: Tracker): void => {
    pieces.push(body.slice(begin, from));
    trackers.push(tracker);
    begin = to;
  };
  for (let open = body.indexOf("<"); open !== -1; ) {
    const tag = readTag(body, open);
    const href = clicks && tag !== null && /^(a|area)$/.test(tag.name) ? hrefOf(tag.text) : null;
    if (href !== null && tag !== null && isTracked(href.address, tag.text)) {
      place(open + href.from, open + href.to, { kind: "click", to: href.address });
    }
    const picture = tag?.name === "img" ? tag.text.indexOf(mark) : -1;
    if (picture !== -1) place(open + picture, open + picture + 1, { kind: "open" });
    open = body.indexOf("<", tag === null ? open + 1 : afterTag(body, tag));
  }
  return { pieces: [...pieces, body.slice(begin)], trackers };
};

/** The text alternative of a body, with places for its links. */
export const trackedText = (html: string, { clicks }: Tracking): Tracked => {
  const trackers: Tracker[] = [];
  const text = plainText(unmarked(html), (address, tag) => {
    if (!clicks || !isTracked(address, tag)) return address;
    trackers.push({ kind: "click", to: address });
    return mark;
  });
  return { pieces: text.split(mark), trackers };
};

/** The longest address that is tracked: in a link of ours it becomes a third longer. */
const maxLength = 2_000;

/**
 * Left as they are: what is no web address, what leads to a page for leaving, and what says so itself.
 * Source: docs/reference/email.md#clicks.
 */
const isTracked = (address: string, tag: string): boolean =>
  /^https?:/i.test(address) &&
  Buffer.byteLength(address) <= maxLength &&
  URL.canParse(address) &&
  !/unsubscribe|opt-?out/i.test(address) &&
  !/\sclicktracking\s*=\s*["']?off\b/i.test(tag);

const picture = `<img src="${mark}" width="1" height="1" alt="" style="border:0">`;

/** At the end of the body: a mail that is cut off in the middle was not read. */
const withPicture = (html: string): string => {
  const end = [...html.matchAll(/<\/body\s*>/gi)].at(-1)?.index ?? html.length;
  return html.slice(0, end) + picture + html.slice(end);
};

const unmarked = (html: string): string => html.replaceAll(mark, "");

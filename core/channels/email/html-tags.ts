/** A tag as it stands in a text. `text` is cut off where it is of no more use. */
export type Tag = { name: string; closes: boolean; text: string; end: number };

/** The tag at `open`, or null when the `<` begins none (`a < b`). */
export const readTag = (html: string, open: number): Tag | null => {
  if (html.startsWith("<!--", open)) return { name: "!--", closes: false, text: "", end: open + 4 };
  const name = /^<(\/?)([a-z!?][a-z0-9]{0,20})/i.exec(html.slice(open, open + 24));
  if (name === null) return null;
  const close = endOfTag(html, open);
  const text = html.slice(open, Math.min(close, open + 4_000)); // longer attributes are of no use to a reader
  return { name: (name[2] ?? "").toLowerCase(), closes: name[1] === "/", text, end: close + 1 };
};

/** Position of the `>` that ends a tag; one inside a quoted attribute does not. */
const endOfTag = (html: string, open: number): number => {
  let quote = "";
  let before = ""; // the last character that is no blank
  for (let i = open + 1; i < html.length; i++) {
    const character = html.charAt(i);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return i;
    else if ((character === '"' || character === "'") && before === "=") quote = character;
    if (character.trim() !== "") before = character;
  }
  return html.length;
};

/** Where the content of the body element begins; 0 without one. */
export const startOfBody = (html: string): number => {
  let open = html.indexOf("<");
  while (open !== -1) {
    const tag = readTag(html, open);
    if (tag?.name === "body" && /^<body(?=[\s/]|$)/i.test(tag.text)) return tag.end > html.length ? 0 : tag.end;
    open = html.indexOf("<", tag === null ? open + 1 : behind(html, tag));
  }
  return 0;
};

/** The end tag of a head may be left out. */
const behind = (html: string, tag: Tag): number => (tag.name === "head" ? tag.end : afterTag(html, tag));

const hidden = new Set(["script", "style", "head", "title", "template", "noscript", "!--"]);

/** Where what follows a tag is shown: behind all of an element whose content is not. */
export const afterTag = (html: string, tag: Tag): number =>
  hidden.has(tag.name) && !tag.closes ? afterHidden(html, tag) : tag.end;

const afterHidden = (html: string, { name, end }: Tag): number => {
  const closing = name === "!--" ? "-->" : `</${name}`;
  const found = indexOfIgnoringCase(html, closing, end);
  if (found === -1) return html.length;
  return name === "!--" ? found + 3 : endOfTag(html, found) + 1;
};

const indexOfIgnoringCase = (text: string, wanted: string, from: number): number => {
  const pattern = new RegExp(wanted.replace(/[!-]/g, "\\$&"), "gi"); // names are letters, digits and the comment's dashes
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
};

/** An address that a reader can follow, and where in the tag's text it stands as it is written; null without one. */
export const hrefOf = (tag: string): { address: string; from: number; to: number } | null => {
  const href = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/di.exec(tag);
  const [from, to] = href?.indices?.[1] ?? href?.indices?.[2] ?? href?.indices?.[3] ?? [0, 0];
  const address = decode(tag.slice(from, to).trim());
  return /^(https?:|mailto:|tel:)/i.test(address) ? { address, from, to } : null;
};

/** The named entities that mails use; another one stays as it is written. */
const named = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
  ["shy", ""],
  ["zwnj", ""],
  ["copy", "©"],
  ["reg", "®"],
  ["trade", "™"],
  ["euro", "€"],
  ["pound", "£"],
  ["hellip", "…"],
  ["mdash", "—"],
  ["ndash", "–"],
  ["bull", "•"],
  ["middot", "·"],
  ["times", "×"],
  ["lsquo", "‘"],
  ["rsquo", "’"],
  ["ldquo", "“"],
  ["rdquo", "”"],
  ["laquo", "«"],
  ["raquo", "»"],
]);

/** A text with its entities as characters. */
export const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name: string | undefined) => {
    if (name !== undefined) return named.get(name.toLowerCase()) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
  });

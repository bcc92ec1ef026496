import { hash } from "node:crypto";
import { escaped } from "../../http/markup.ts";
import type { OutsideReply } from "../../http/outside.ts";
import { uncached } from "../recording.ts";
import type { Look } from "./look.ts";
import { styleIn } from "./style.ts";

/** Whose page it is: a masked address, and what is held back from it. */
export type Reader = { who: string | null; isOut: boolean; unwanted: readonly string[] };

/** The page where people choose their mails and unsubscribe: no script, nothing that is loaded but the app's picture. */
export const choicePage = (look: Look, reader: Reader, isSaved = false): OutsideReply => {
  const { texts, categories } = look;
  const say = saying(look, reader);
  const button = `<form method="post"><button type="submit">${texts.unsubscribe}</button></form>`;
  const leave = `<p>${say(texts.question)}</p>\n${button}`;
  if (categories.length === 0) return shown(look, texts.unsubscribe, leave);
  const boxes = categories.map(({ category, name }) => box(category, name, !reader.unwanted.includes(category)));
  const state = [
    ...(isSaved ? [`<p role="status">${texts.saved}</p>`] : []),
    ...(reader.isOut ? [`<p>${say(texts.isOut)}</p>`] : []),
  ];
  const form = `<form method="post">
<fieldset><legend>${say(texts.chooseText)}</legend>
${boxes.join("\n")}
</fieldset>
<button type="submit" name="form" value="categories">${texts.save}</button>
</form>
<h2>${texts.unsubscribe}</h2>
${leave}`;
  return shown(look, texts.choose, [...state, form].join("\n"));
};

/** What people see once they have unsubscribed. */
export const donePage = (look: Look, reader: Reader): OutsideReply =>
  shown(look, look.texts.done, `<p>${saying(look, reader)(look.texts.doneText)}</p>`);

const saying =
  ({ sender, texts }: Look, { who }: Reader) =>
  (text: string): string =>
    text.replace(/\{(who|sender)\}/g, (_, name) => escaped(name === "who" ? (who ?? texts.you) : sender));

const box = (category: string, name: string, isWanted: boolean): string =>
  `<label><input type="checkbox" name="category" value="${escaped(category)}"${isWanted ? " checked" : ""}>${escaped(name)}</label>`;

const shown = (look: Look, title: string, content: string): OutsideReply => {
  const style = styleIn(look.colour);
  const { href: logo, origin } = (look.logoUrl === null ? null : URL.parse(look.logoUrl)) ?? { href: null, origin: "" };
  const picture = logo === null ? "" : `<img src="${escaped(logo)}" alt="${escaped(look.sender)}">\n`;
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash("sha256", style, "base64")}'`,
    ...(logo === null ? [] : [`img-src ${origin}`]),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  const headers = {
    ...uncached,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Language": look.language,
    Vary: "Accept-Language",
    "Content-Security-Policy": policy.join("; "),
    "X-Content-Type-Options": "nosniff",
  };
  const body = `<!doctype html>
<html lang="${look.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
${picture}<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
  return { status: 200, headers, body };
};

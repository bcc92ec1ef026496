import { hash } from "node:crypto";

/** A text taken apart at its links: `texts` has one more than `links`, and stands around them. */
export type LinkedText = { texts: readonly string[]; links: readonly string[] };

/** Takes a text apart at its links (http and https). What ends a sentence or closes a bracket is no part of a link. */
export const linkedText = (text: string): LinkedText => {
  const [texts, links]: [string[], string[]] = [[], []];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(/\bhttps?:\/\/[^\s<>"]+/gi)) {
    const link = withoutEnd(found);
    if (!URL.canParse(link)) continue;
    texts.push(text.slice(from, index));
    links.push(link);
    from = index + link.length;
  }
  return { texts: [...texts, text.slice(from)], links };
};

const withoutEnd = (found: string): string => {
  const link = found.replace(/[.,;:!?'*_~]+$/, "");
  const isClosing = link.endsWith(")") && !link.includes("(");
  return isClosing ? withoutEnd(link.slice(0, -1)) : link;
};

/** The text with each link replaced. */
export const withLinks = ({ texts, links }: LinkedText, replace: (link: string, index: number) => string): string =>
  texts.map((text, index) => text + (links[index] === undefined ? "" : replace(links[index], index))).join("");

/**
 * The code of a delivery's n-th link: the same in every try. 11 letters and digits, so that nobody guesses one, and that no
 * phone takes its end for the end of a sentence.
 */
export const shortCode = (deliveryId: string, index: number): string =>
  hash("sha256", `${deliveryId} ${index}`, "base64url").slice(0, 11).replaceAll("-", "x").replaceAll("_", "y");

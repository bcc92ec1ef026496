import { localised } from "../domain/messages/languages.ts";
import type { Channel } from "../schema/vocabulary/channels.ts";
import { definitionOf } from "./all.ts";
import type { Rendering } from "./kit/rendering.ts";

/**
 * A message for one language as its provider takes it: while it is too large, what only spreads reports is left out, then its body, then its subtitle, then its title
 * is cut between two characters and ends with an ellipsis. Data is never cut: what is still too large stays so, for the
 * provider to refuse. Source: docs/reference/channels.md#payload-limits.
 */
export const fitted = (channel: Channel, rendering: Rendering): Rendering => {
  const limit = definitionOf(channel).limit ?? null;
  if (limit === null) return rendering;
  const fits = (one: Rendering): boolean => Buffer.byteLength(limit.body(one)) <= limit.maxBytes;
  if (fits(rendering)) return rendering; // asked once of what fits: this renders the whole payload, of a template for each recipient
  let one: Rendering = { ...rendering, recipients: 0 };
  for (const member of cuttable) {
    if (fits(one)) return one;
    one = cut(one, member, fits);
  }
  return one;
};

const cuttable = ["contents", "subtitle", "headings"] as const;

/** With as much of this text as fits, and nothing but the ellipsis when none of it does. */
const cut = (rendering: Rendering, member: (typeof cuttable)[number], fits: (one: Rendering) => boolean): Rendering => {
  const { content, language } = rendering;
  const text = localised(content[member], language);
  if (!text) return rendering;
  const upTo = (end: number): Rendering => ({
    ...rendering,
    content: { ...content, [member]: { en: `${text.slice(0, end).trimEnd()}…` } },
  });
  characters ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const ends = Array.from(characters.segment(text), ({ index }) => index);
  let [fitting, beyond] = [0, ends.length];
  while (beyond - fitting > 1) {
    const middle = (fitting + beyond) >> 1;
    if (fits(upTo(ends[middle] ?? 0))) fitting = middle;
    else beyond = middle;
  }
  return upTo(ends[fitting] ?? 0);
};

/** Characters as people see them (UAX 29). Made when it is first needed: its tables take a tenth of a second of CPU. */
let characters: Intl.Segmenter | undefined;

import { languagesOf, localised } from "../../domain/messages/languages.ts";
import type { FieldError } from "../../errors.ts";
import type { Content } from "../../schema/messages/notification.ts";
import type { ContentRule } from "./channel.ts";
import type { Rendering } from "./rendering.ts";

/** What every push channel carries: texts, data, or nothing but the wish to start the app in the background. */
export const pushContent: ContentRule = {
  isReplaceable: true,
  isIn: (content) =>
    hasTexts(content) || content.content_available === true || Object.keys(content.data ?? {}).length > 0,
  empty: (content) => emptyPush(content),
};

const hasTexts = ({ headings, contents }: Content): boolean => headings !== undefined || contents !== undefined;

/** A push without a title and a body shows nothing, which is asked for by `content_available`. */
const emptyPush = (content: Content): FieldError[] => {
  const { headings, contents, content_available: isSilent } = content;
  if (isSilent === true || !hasTexts(content)) return [];
  const language = languagesOf(content).findLast((one) => !localised(headings, one) && !localised(contents, one));
  if (language === undefined) return [];
  const [member, texts] = contents === undefined ? ["headings", headings] : ["contents", contents];
  const field = language !== null && texts?.[language] !== undefined ? `${member}.${language}` : member;
  return [{ field, message: "has no text; content_available asks for a push that shows nothing" }];
};

/** The same renderer, which gives again what it made of the last rendering: its size is judged right before it is sent. */
export const lastKept = <Push>(render: (rendering: Rendering) => Push): ((rendering: Rendering) => Push) => {
  let last: { of: Rendering; push: Push } | undefined;
  return (rendering) => {
    if (last?.of !== rendering) last = { of: rendering, push: render(rendering) };
    return last.push;
  };
};

/**
 * Over how many seconds those who get a message to so many report that it came, so that not all do at once: 1,000 of them a
 * second where that takes no longer than {@link longestReportSeconds}. Undefined: each at once.
 */
export const reportWithinSeconds = (recipients = 0): number | undefined =>
  Math.min(longestReportSeconds, Math.floor(recipients / 1_000)) || undefined;

/** What was woken by a push is ended after 20 seconds on Android, and after 30 by browsers and iOS. */
const longestReportSeconds = 20;

/** The last 8 characters of a token: enough to recognise it, too few to use it. */
export const maskToken = (token: string): string => `•••${token.slice(-8)}`;

import { contactsOf } from "#core/channels/contacts.ts";
import { emptyTexts, hasContent } from "#core/channels/content.ts";
import type { FieldError } from "#core/errors.ts";
import type { FallbackStep } from "#core/schema/messages/fallback.ts";
import type { Content, Target } from "#core/schema/messages/notification.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";

type First = { channels: Channel[]; asked: Channel[] | null; errors: FieldError[] };
type Said = { content: Content; target: Target };

/**
 * The channels that a message goes over first, where it falls back to others: when it names none, those that have content
 * without those of its steps. What is wrong with the steps is added. Source: docs/reference/fallback.md#channels.
 */
export const beforeFallback = (first: First, steps: readonly FallbackStep[], said: Said): First => {
  const later = steps.map(({ channel }) => channel);
  const channels = first.asked ?? first.channels.filter((channel) => !later.includes(channel));
  const named = contactsOf(said.target).map(({ channel }) => channel);
  const errors = steps.flatMap(({ channel }, i): FieldError[] => {
    const field = `fallback[${i}].channel`;
    const before = [...(first.asked ?? named), ...later.slice(0, i)];
    if (before.includes(channel)) return [{ field, message: `makes a circle: ${circle(before, channel)}` }];
    return hasContent(channel, said.content) ? [] : [{ field, message: "has no content in this message" }];
  });
  const isNothingFirst = first.errors.length === 0 && errors.length === 0 && channels.length === 0;
  const nothingFirst = { field: "fallback", message: "leaves no channel with content to send to first" };
  return {
    ...first,
    channels,
    errors: [
      ...first.errors,
      ...errors,
      ...(isNothingFirst ? [nothingFirst] : []),
      ...(errors.length === 0 ? emptyTexts(said.content, later) : []),
    ],
  };
};

const circle = (before: readonly Channel[], again: Channel): string =>
  [...before.slice(before.indexOf(again)), again].join(", ");

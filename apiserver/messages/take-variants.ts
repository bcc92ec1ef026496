import { impossible } from "#core/channels/content.ts";
import { mergedContent } from "#core/domain/content/merge.ts";
import { minuteMs } from "#core/domain/durations.ts";
import { type FieldError, refuse, ValidationError } from "#core/errors.ts";
import type { CreateNotification, Variant } from "#core/schema/messages/notification.ts";
import { type AskedWinner, winnerDefaults } from "#core/schema/messages/winner.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow, MessageVariant } from "#core/storage/messages/message-row.ts";
import { contentOf, type Draft, draftOf } from "./draft.ts";

type Judged = { draft: Draft; channels: readonly Channel[]; accounts: AppRow["channels"] };

/**
 * The forms of a message that has several. Each has to say something on every channel that the message goes over.
 * @throws ValidationError. Source: docs/reference/variants.md.
 */
export const splitOf = (
  body: CreateNotification,
  judged: Judged,
  now: Date,
): Pick<MessageRow, "variants" | "winner"> => {
  const { variants = [], winner = null } = body;
  refuse(winner === null ? [] : comparison(body, winner));
  refuse(together(variants));
  const judge = said(body, judged, now);
  refuse(variants.flatMap((variant, i) => (variant.is_control ? control(variant, i) : judge(variant, i))));
  const startMs = (judged.draft.scheduledFor ?? now).getTime();
  return {
    variants: variants.map(rowOf),
    ...(winner !== null && {
      winner: { ...winnerDefaults, ...winner, decides_at: new Date(startMs + winner.after_minutes * minuteMs) },
    }),
  };
};

/** What is wrong with the search for a winner. */
const comparison = ({ variants = [] }: CreateNotification, winner: AskedWinner): FieldError[] => {
  const sent = variants.flatMap(({ is_control: isControl, weight_percent: weight }, i) =>
    isControl ? [] : [{ weight, i }],
  );
  const hasControl = sent.length < variants.length;
  return [
    ...(sent.length < 2 ? [{ field: "winner", message: "needs two variants that are sent" }] : []),
    ...sent.flatMap(({ weight, i }) =>
      weight === 0 ? [{ field: `variants[${i}].weight_percent`, message: "is 0, so that it could not win" }] : [],
    ),
    ...(winner.rule === "bandit" && winner.if_undecided !== undefined
      ? [{ field: "winner.if_undecided", message: "has no effect with the rule bandit, which sends every variant" }]
      : []),
    ...(winner.if_undecided === "control" && !hasControl
      ? [{ field: "winner.if_undecided", message: "is control, and no variant is one" }]
      : []),
  ];
};

const rowOf = (variant: Variant, i: number): MessageVariant => ({
  id: String.fromCharCode(firstId + i),
  name: variant.name,
  weight_percent: variant.weight_percent,
  is_control: variant.is_control === true,
  content: contentOf(variant),
});

const firstId = "a".charCodeAt(0); // there are ten at most

/** Weights that were rounded to two digits make a little more or less than 100. */
const tolerance = 0.01;

/** What is wrong with all of them together. */
const together = (variants: readonly Variant[]): FieldError[] => {
  if (variants.length < 2) return [{ field: "variants", message: "must be two at least" }];
  const controls = variants.flatMap(({ is_control: isControl }, i) => (isControl ? [i] : []));
  const names = variants.map(({ name }) => name);
  const twice = names.findIndex((name, i) => names.indexOf(name) < i);
  const sum = variants.reduce((all, { weight_percent: weight }) => all + weight, 0);
  const isWhole = Math.abs(sum - 100) <= tolerance + Number.EPSILON * 100;
  return [
    ...(isWhole ? [] : [{ field: "variants", message: `the weights make ${Number(sum.toFixed(4))}, not 100` }]),
    ...controls.slice(1).map((i) => ({ field: `variants[${i}].is_control`, message: "there is a control before it" })),
    ...(twice < 0 ? [] : [{ field: `variants[${twice}].name`, message: "is that of another variant" }]),
  ];
};

/** The people of a control get nothing. */
const control = (variant: Variant, i: number): FieldError[] =>
  Object.keys(contentOf(variant)).map((member) => ({
    field: `variants[${i}].${member}`,
    message: "has no effect: the people of a control get nothing",
  }));

/** What is wrong with a form by itself: it is judged as a message that says all that. */
const said =
  (body: CreateNotification, { draft, channels, accounts }: Judged, now: Date) =>
  (variant: Variant, i: number): FieldError[] => {
    const inVariant = ({ field, message }: FieldError): FieldError => ({ field: `variants[${i}].${field}`, message });
    try {
      const whole = { ...body, ...mergedContent(contentOf(variant), contentOf(body)) };
      const own = draftOf(whole, now, draft.taken);
      const [ofOwn, ofAll] = [own, draft].map((one) => [...one.channels, ...one.fallback]) as [Channel[], Channel[]]; // two each
      const silent = channels.find((channel) => !ofOwn.includes(channel));
      if (silent !== undefined) return [{ field: `variants[${i}]`, message: `says nothing on ${silent}` }];
      const more = ofOwn.find((channel) => !ofAll.includes(channel));
      if (more !== undefined)
        return [{ field: `variants[${i}]`, message: `speaks on ${more}, over which the message does not go` }];
      return impossible(own.meant, channels, accounts).map(inVariant);
    } catch (error) {
      if (error instanceof ValidationError) return error.errors.map(inVariant);
      throw error;
    }
  };

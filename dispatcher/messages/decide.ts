import type { Clock } from "#core/domain/clock.ts";
import { chosenIn, type Question, verdictOf } from "#core/domain/experiments/verdict.ts";
import type { Experiments } from "#core/storage/messages/experiments.ts";
import type { MessageRow, MessageWinner } from "#core/storage/messages/message-row.ts";

export type DecideDeps = { experiments: Pick<Experiments, "tally" | "decide" | "hasten" | "read">; clock: Clock };

/** Looks by the rule `anytime`, at equal distances; other rules look once. */
const looks = 30;

/** When a message is looked at next to choose the variant that its rest gets; null when there is nothing to choose. */
export const nextLook = (
  { winner, variants, started_at: startedAt, created_at }: MessageRow,
  now: Date,
): Date | null => {
  if (winner === undefined || variants === undefined || winner.decided_at !== undefined) return null;
  const startMs = (startedAt ?? created_at).getTime();
  const everyMs = (winner.decides_at.getTime() - startMs) / looks;
  if (winner.rule !== "anytime" || everyMs <= 0) return winner.decides_at;
  const passed = Math.floor((now.getTime() - startMs) / everyMs);
  return new Date(Math.min(winner.decides_at.getTime(), startMs + (passed + 1) * everyMs));
};

/**
 * Chooses the variant that the rest of a message's audience gets, once its time has come, or by the rule `anytime` as soon as
 * one is better. It follows from what was reported until the instant of the look, and only the first who decides is heard:
 * two dispatchers never choose differently. Gives the message as it is then. Source: docs/reference/variants.md#winner.
 */
export const decide =
  ({ experiments, clock }: DecideDeps) =>
  async (message: MessageRow): Promise<MessageRow> => {
    const { winner, variants } = message;
    if (winner === undefined || variants === undefined) return message;
    const now = clock.now();
    if (winner.decided_at === undefined) await look({ experiments, clock }, { message, winner, now });
    const after = await experiments.read(message._id);
    if (after?.winner?.decided_at === undefined) return message;
    if (after.winner.decided_at < winner.decides_at) await experiments.hasten(message, now); // again after a kill, too
    return { ...message, winner: after.winner };
  };

type Look = { message: MessageRow; winner: MessageWinner; now: Date };

const look = async ({ experiments }: DecideDeps, { message, winner, now }: Look): Promise<void> => {
  const isLast = now >= winner.decides_at;
  if (!isLast && winner.rule !== "anytime") return;
  const at = isLast ? winner.decides_at : now;
  const found = new Map((await experiments.tally(message._id, winner.metric, at)).map((one) => [one.id, one]));
  const contenders = (message.variants ?? []).flatMap(({ id, is_control: isControl, weight_percent: weight }) =>
    isControl ? [] : [{ assigned: 0, n: 0, conversions: 0, ...found.get(id), id, weight }],
  );
  const question: Question = { ...winner, contenders };
  const verdict = verdictOf(question);
  if (!verdict.decided && !isLast) return;
  await experiments.decide(message, { verdict, chosen: chosenIn(verdict, question), decided_at: now });
};

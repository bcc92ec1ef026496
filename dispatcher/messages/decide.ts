import type { Clock } from "#core/domain/clock.ts";
import { movedWeights, stepAt, stepBy, stepsOf } from "#core/domain/experiments/bandit.ts";
import { mismatch } from "#core/domain/experiments/statistics.ts";
import { type Contender, chosenIn, type Question, verdictOf } from "#core/domain/experiments/verdict.ts";
import type { Experiments } from "#core/storage/messages/experiments.ts";
import type { MessageRow, MessageWinner } from "#core/storage/messages/message-row.ts";
import { isTimed } from "./timing/by-local-time.ts";

export type DecideDeps = {
  experiments: Pick<Experiments, "tally" | "decide" | "move" | "hasten" | "read">;
  clock: Clock;
};

/** Looks by the rule `anytime`, at equal distances; other rules look once. */
const looks = 30;

/** When a message is looked at next to choose the variant that its rest gets; null when there is nothing to choose. */
export const nextLook = (
  { winner, variants, started_at: startedAt, created_at }: MessageRow,
  now: Date,
): Date | null => {
  if (winner === undefined || variants === undefined || winner.decided_at !== undefined) return null;
  if (winner.rule === "bandit") return stepAt(winner, Math.min(stepsOf(winner), stepBy(winner, now) + 1));
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
    if (after?.winner?.decided_at === undefined) return { ...message, winner: after?.winner ?? winner };
    const isEarly = after.winner.decided_at < winner.decides_at;
    if (isEarly && !isTimed(message)) await experiments.hasten(message, now); // again after a kill, too
    return { ...message, winner: after.winner };
  };

type Look = { message: MessageRow; winner: MessageWinner; now: Date };

const look = async ({ experiments }: DecideDeps, { message, winner, now }: Look): Promise<void> => {
  const isLast = now >= winner.decides_at;
  if (winner.rule === "bandit") return moveOn({ experiments }, { message, winner, now });
  if (!isLast && winner.rule !== "anytime") return;
  const question: Question = {
    ...winner,
    contenders: await contendersOf({ experiments }, message, isLast ? winner.decides_at : now),
  };
  const verdict = verdictOf(question);
  if (!verdict.decided && !isLast) return;
  await experiments.decide(message, { verdict, chosen: chosenIn(verdict, question), decided_at: now });
};

const contendersOf = async (
  { experiments }: Pick<DecideDeps, "experiments">,
  { _id, variants = [], winner }: MessageRow,
  at: Date,
): Promise<Contender[]> => {
  const tallies = winner === undefined ? [] : await experiments.tally(_id, winner.metric, at);
  const found = new Map(tallies.map((one) => [one.id, one]));
  return variants.flatMap(({ id, is_control: isControl, weight_percent: weight }) =>
    isControl ? [] : [{ assigned: 0, n: 0, conversions: 0, ...found.get(id), id, weight }],
  );
};

/**
 * Makes the weights by which the people of the steps are sent to whose time has come, and with the last of them the verdict.
 * They stay those of the message while a variant has too few people, and where the division cannot be believed.
 */
const moveOn = async (
  { experiments }: Pick<DecideDeps, "experiments">,
  { message, winner, now }: Look,
): Promise<void> => {
  const step = stepBy(winner, now);
  const missing = Array.from({ length: step }, (_, i) => i + 1).filter((one) => winner.steps?.[one] === undefined);
  if (missing.length === 0) return;
  const contenders = await contendersOf({ experiments }, message, stepAt(winner, step));
  const question: Question = { ...winner, contenders, pSrm: winner.p_srm };
  const verdict = verdictOf(question);
  const isKnown = verdict.p_srm >= mismatch && verdict.needs_more === 0;
  const weights = isKnown ? movedWeights(contenders) : askedWeights(contenders);
  const isLast = step === stepsOf(winner);
  await experiments.move(
    message,
    {
      steps: Object.fromEntries(missing.map((one) => [one, weights])),
      p_srm: verdict.p_srm,
      ...(isLast && { verdict, chosen: verdict.winner, decided_at: now }),
    },
    now,
  );
};

const askedWeights = (contenders: readonly Contender[]): number[] => {
  const whole = contenders.reduce((sum, { weight }) => sum + weight, 0);
  return contenders.map(({ weight }) => (100 * weight) / whole);
};

import type { Winner } from "../../schema/messages/winner.ts";
import { minuteMs } from "../durations.ts";
import { partOf, parts, placeOf } from "./shares.ts";
import { posterior, type Sample } from "./statistics.ts";

/** A search by the rule `bandit`: the rest of an audience is divided into steps, each sent by weights of its own. */
export type Bandit = Pick<Winner, "after_minutes"> & { decides_at: Date };

const stepMinutes = 15;
const mostSteps = 30; // each counts all deliveries of the message

export const stepsOf = ({ after_minutes: minutes }: Pick<Bandit, "after_minutes">): number =>
  Math.min(mostSteps, Math.floor(minutes / stepMinutes));

/** When the weights of a step, 1 to all, are made, and its people are sent to. */
export const stepAt = (bandit: Bandit, step: number): Date => {
  const wholeMs = bandit.after_minutes * minuteMs;
  return new Date(bandit.decides_at.getTime() - wholeMs + (wholeMs * step) / stepsOf(bandit));
};

/** The last step whose time has come; 0 before the first. */
export const stepBy = (bandit: Bandit, now: Date): number => {
  const steps = stepsOf(bandit);
  const sinceMs = now.getTime() - stepAt(bandit, 0).getTime();
  return Math.max(0, Math.min(steps, Math.floor((sinceMs * steps) / (bandit.after_minutes * minuteMs))));
};

/** The step that somebody of the rest is in. */
export const stepOf = (messageId: string, bandit: Bandit, person: string): number =>
  1 + Math.floor((partOf(`${messageId}/step`, person) * stepsOf(bandit)) / parts);

/** Which of the variants that are sent somebody of the rest gets, by the weights of their step. */
export const drawnBy = (messageId: string, weights: readonly number[], person: string): number =>
  placeOf(weights, partOf(`${messageId}/bandit`, person));

/**
 * The weights of a step, in per cent: each variant's is how probable it is that it is the best, and 1 at least, so that one
 * that began badly is not given up. Source: Thompson 1933, as in Scott, Applied Stochastic Models 26 (2010).
 */
export const movedWeights = (samples: readonly Sample[]): number[] => {
  const free = 100 - leastPercent * samples.length;
  return posterior(samples).map(({ pBest }) => leastPercent + free * pBest);
};

const leastPercent = 1;

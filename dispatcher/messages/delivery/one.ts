import type { Random } from "#core/domain/backoff.ts";
import { heldOut } from "#core/domain/experiments/held-out.ts";
import { NotBegun, type Outcome, type Recipient } from "#core/domain/messages/outcome.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { triesBefore } from "#core/storage/messages/chunks.ts";
import { collapseKeys } from "#core/storage/messages/collapse.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Capacity } from "../../channels/registry.ts";
import type { Check } from "../gates/gate.ts";
import type { Caps } from "../timing/caps.ts";
import type { Quiet } from "../timing/quiet.ts";
import type { Slots } from "../timing/throttle.ts";
import type { Badges } from "./badges.ts";
import type { Shares } from "./by-variant.ts";
import type { DeliverDeps } from "./deliver-deps.ts";
import { type Attempt, deliveryIdOf, expire, resultOf, suppress } from "./delivery-row.ts";
import { type FoundGone, foundGone } from "./gone.ts";
import type { WriteItem } from "./inbox.ts";
import type { Aborted, Prepare } from "./prepare.ts";
import { nextTry } from "./retry.ts";
import type { Delivered, Work } from "./work.ts";

/** What the recipients of one run share. */
export type Run = {
  deps: DeliverDeps;
  work: Work;
  isOver: () => boolean;
  delivered: Delivered;
  ids: ReadonlyMap<string, string>;
  /** What gates say now. */
  suppressed: Check;
  slots: Slots | null;
  quiet: Quiet | null;
  caps: Caps | null;
  shares: Shares | null;
  badges: Badges;
  /** Puts what somebody is sent into their inbox, too; null where the message does not ask for that. */
  inbox: WriteItem | null;
  prepare: Prepare;
  provider: string;
  capacity: Capacity | undefined;
  expiresAt: Date;
  isReplaceable: boolean;
  gone: FoundGone[];
  /** Drawn once: recipients who fail alike stay one chunk, however often they are tried again. */
  random: Random;
};

/** Whether nothing keeps it from being sent to now: of most that is known, and costs no promise. */
export const isFree = ({ suppressed, quiet, caps, deps, expiresAt }: Run, subscription: Reached): boolean => {
  const now = deps.clock.now();
  return (
    now < expiresAt &&
    suppressed(subscription) === null &&
    (quiet?.untilOf(subscription, now) ?? null) === null &&
    (caps?.isFree(subscription) ?? true)
  );
};

/** Stores that it is suppressed when a gate says so now, or expired when its time is over. */
export const isEnded = async (run: Run, subscription: Reached): Promise<boolean> => {
  if (await isSuppressed(run, subscription)) return true;
  if (await isQuiet(run, subscription)) return true;
  const isExpired = run.deps.clock.now() >= run.expiresAt;
  if (isExpired) await store(run, expire(attemptOf(run, subscription)));
  return isExpired || isCapped(run, subscription);
};

/** Stores that it is suppressed where a frequency cap is full. */
const isCapped = async (run: Run, subscription: Reached): Promise<boolean> => {
  const cap = run.caps === null ? null : await run.caps.heldBackBy(subscription);
  if (cap !== null) await store(run, suppress(attemptOf(run, subscription), "frequency_cap", cap));
  return cap !== null;
};

/**
 * Leaves it for the end of its quiet hours, or stores that it is suppressed because of them. A message that waits for those
 * has begun: it cannot be cancelled any more.
 */
const isQuiet = async (run: Run, subscription: Reached): Promise<boolean> => {
  const { quiet, deps, delivered, work } = run;
  const until = quiet?.untilOf(subscription, deps.clock.now()) ?? null;
  if (until === null) return false;
  if (quiet?.isDropped === true) await store(run, suppress(attemptOf(run, subscription), "quiet_hours"));
  else if ((await work.begin?.()) === false) delivered.halted = true;
  else (delivered.later ??= []).push({ subscription, at: until });
  return true;
};

/** Stores that it is suppressed when a gate says so now. */
const isSuppressed = async (run: Run, subscription: Reached): Promise<boolean> => {
  const reason = run.suppressed(subscription);
  if (reason !== null) await store(run, suppress(attemptOf(run, subscription), reason));
  return reason !== null;
};

/** Hands it to the provider, and stores what became of it or has it tried again. */
export const attempt = async (run: Run, subscription: Reached): Promise<void> => {
  const { deps, work, delivered, gone } = run;
  const made = attemptOf(run, subscription);
  const heldOut = run.shares?.heldOutBy(subscription) ?? null;
  if (heldOut !== null) return store(run, suppress(made, "control_group", heldOut));
  const outcome = await send(run, subscription, made.deliveryId);
  if (outcome !== null && "aborted" in outcome) return store(run, suppress(made, "template_abort", outcome.aborted));
  if (outcome === null) return void (delivered.halted = !(await isSuppressed(run, subscription)) || delivered.halted);
  const now = deps.clock.now();
  if (outcome.kind === "token_invalid") gone.push(foundGone(outcome, { ...made, now }));
  const result = resultOf(outcome, { ...made, now });
  if (result.kind === "final") return store(run, result.row);
  const at = nextTry(result.at, triesBefore(work.chunk), now, run.random);
  delivered.again.push({ ...result.again, subscriptionId: subscription._id, at });
};

/**
 * Null when it was given up while it waited for its turn at the provider, because the lease is over or a gate says so by
 * now: nothing of it was handed over.
 */
const send = async (run: Run, to: Reached, deliveryId: string): Promise<Outcome | Aborted | null> => {
  const { deps, prepare } = run;
  const isOver = (): boolean => run.isOver() || run.suppressed(to) !== null;
  const ready = await prepare(to, deps.clock.now());
  if (!("send" in ready)) return ready;
  await run.inbox?.(to, ready.said);
  try {
    return await ready.send(recipientOf(to, deliveryId, run.badges.get(to._id)), deps.cut, isOver);
  } catch (error) {
    if (error instanceof NotBegun) return null;
    throw error;
  }
};

const store = async (run: Run, made: DeliveryRow): Promise<void> => {
  const { deps, work, delivered } = run;
  const [key] = made.status === "sent" ? collapseKeys(work.message, work.chunk, [made.subscription_id]) : [];
  const row = { ...made, ...(key !== undefined && { collapse_key: key }), ...measuredSince(run, made) };
  if ((await deps.deliveries.record(row)) === "new") delivered.fresh.push(row);
  delivered.stored.push(row);
};

/** Who was tried to be sent to, and who would have been. */
const measuredSince = (
  { shares }: Run,
  { attempts, suppression_reason: reason, error_message: said, created_at: at }: DeliveryRow,
): Pick<DeliveryRow, "measured_at"> => {
  const isHeld = reason === "control_group" && said !== heldOut.undecided;
  return shares?.isMeasured === true && (attempts > 0 || isHeld) ? { measured_at: at } : {};
};

const attemptOf = (run: Run, subscription: Reached): Attempt => ({
  deliveryId: run.ids.get(subscription._id) ?? deliveryIdOf(run.work.chunk.message_id, subscription._id),
  chunk: run.work.chunk,
  subscription,
  provider: run.provider,
  now: run.deps.clock.now(),
  expiresAt: run.expiresAt,
  isReplaceable: run.isReplaceable,
  isRedacted: run.work.message.options.redact_payload,
  message: run.work.message,
  campaignId: run.work.message.campaign_id,
  activityId: run.work.message.live_activity?.activity_id,
  variantId: run.shares?.variantOf(subscription)?.id,
});

const recipientOf = (to: Reached, deliveryId: string, badge: number | undefined): Recipient => ({
  deliveryId,
  subscriptionId: to._id,
  address: to.token,
  ...(to.web === null ? {} : { webKeys: to.web }),
  ...(badge === undefined ? {} : { badge }),
});

import { definitionOf } from "#core/channels/all.ts";
import { isReplaceable } from "#core/channels/content.ts";
import type { BadgeChange } from "#core/channels/kit/channel.ts";
import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import { isTranslated } from "#core/domain/messages/languages.ts";
import { NotBegun, type Outcome, type Recipient } from "#core/domain/messages/outcome.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow, triesBefore } from "#core/storage/messages/chunks.ts";
import { collapseKeys } from "#core/storage/messages/collapse.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Gone } from "#core/storage/people/ended.ts";
import type { Capacity, Senders } from "../../channels/registry.ts";
import type { Guard } from "../../suppressions/guard.ts";
import type { MessageTemplates } from "../../templates/open.ts";
import type { Lease } from "../../work/lease.ts";
import { whileOpen } from "../gates/all.ts";
import type { Check, Gate } from "../gates/gate.ts";
import type { Quiet } from "../timing/quiet.ts";
import type { Slots } from "../timing/throttle.ts";
import { type Attempt, deliveryIdOf, expire, resultOf, suppress } from "./delivery-row.ts";
import { expiry } from "./expiry.ts";
import { type FoundGone, foundGone, goneBefore, judged } from "./gone.ts";
import type { Instead } from "./instead.ts";
import type { Later } from "./later.ts";
import { inLanguages, reachedFirst } from "./order.ts";
import { type Aborted, type Prepare, prepared } from "./prepare.ts";
import type { Recorded } from "./record.ts";
import { type Again, nextTry } from "./retry.ts";
import type { Window } from "./window.ts";

export type DeliverDeps = {
  recipients: {
    load: (ids: readonly string[]) => Promise<Reached[]>;
    /** The languages of those of these users who have one. */
    languages: (userIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
    /** Changes the badges of their apps, once for each message; gives those that it added to. */
    badges: (messageId: string, ids: readonly string[], change: BadgeChange) => Promise<ReadonlyMap<string, number>>;
  };
  deliveries: {
    existing: (ids: readonly string[]) => Promise<DeliveryRow[]>;
    record: (row: DeliveryRow) => Promise<Recorded>;
  };
  /** What messages say that take a template. */
  templates: MessageTemplates;
  gates: readonly Gate[];
  /** How often they are opened anew, ms; left out: as they say themselves. */
  gatesEveryMs?: number;
  senders: Pick<Senders, "of">;
  guard: Pick<Guard, "ofAnswers">;
  /** Bounds the recipients that are sent to and not stored. */
  window: Pick<Window, "slot">;
  /** The quiet hours for the recipients of a run; null where there are none. */
  quietHours: (work: Work, recipients: readonly Reached[]) => Promise<Quiet | null>;
  /** Gives the recipients of a chunk instants of their own, where its message is throttled. */
  throttle: (message: MessageRow, chunk: ChunkRow, recipients: number) => Slots | null;
  /** Aborts when nothing new is to be begun: nobody waits for the pace of an account any more. */
  stopping: AbortSignal;
  /** Aborts when the program can wait no longer: what is under way is cut off, and stored as what is known of it. */
  cut: AbortSignal;
  clock: Clock;
  random: Random;
};

/** A piece of work: a chunk, the message that it is a part of, and the app that sends it. */
export type Work = {
  chunk: ChunkRow;
  message: MessageRow;
  app: AppRow;
  /** The recipients, when they were read a moment ago. */
  rows?: readonly Reached[] | undefined;
  /** Awaited before a recipient is handed to the provider: false when none may be any more. */
  begin?: (() => Promise<boolean>) | undefined;
};

/** Sends a piece of work to its recipients, and stores what became of each. */
export type Deliver = (work: Work, lease: Pick<Lease, "isOver">) => Promise<Delivered>;

/**
 * What a run left behind: every delivery that is stored, those among them that this run stored, whom to try again,
 * whose address is gone, how many more would be if that could be believed, and whether it was halted before it reached
 * everyone.
 */
export type Delivered = {
  stored: DeliveryRow[];
  fresh: DeliveryRow[];
  again: Again[];
  /** Whom to send to at a later instant, for the first time. Left out: nobody. */
  later?: Later[];
  invalid: Gone[];
  doubted: number;
  halted: boolean;
  /** Who is sent to in the place of those who could not be. */
  instead?: readonly Instead[];
};

/** Recipients of one chunk under way at once: two chunks fill the window, so that a small message finds room. */
const chunkConcurrency = 64;

/**
 * Sends a chunk to each recipient that has no delivery yet, and stores each outcome as it comes. Once the lease is over
 * no further recipient is begun, and what is under way is finished and stored.
 */
export const deliver =
  (deps: DeliverDeps) =>
  async (given: Work, { isOver }: Pick<Lease, "isOver">): Promise<Delivered> => {
    const opened = await deps.templates.open(given.message, given.app);
    const work = opened === null ? given : { ...given, message: opened.message };
    const { chunk, message, app } = work;
    const ids = new Map(chunk.recipients.map((id) => [id, deliveryIdOf(chunk.message_id, id)]));
    const [stored, subscriptions, sender] = await Promise.all([
      isFirstRun(chunk) ? [] : deps.deliveries.existing([...ids.values()]),
      work.rows ?? deps.recipients.load(chunk.recipients),
      deps.senders.of(app, chunk.channel),
    ]);
    const done = new Set(stored.map((row) => row.subscription_id));
    const rest = subscriptions.filter((row) => ids.has(row._id) && !done.has(row._id));
    const expiresAt = expiry(chunk, message, deps.clock.now());
    const ttlSeconds = Math.max(0, Math.floor((expiresAt.getTime() - deps.clock.now().getTime()) / 1000));
    const speaks = opened?.speaksLanguages ?? isTranslated(message.content);
    const recipients = reachedFirst(speaks ? await inLanguages(deps, rest) : rest, sender);
    const drawn = deps.random();
    const run: Omit<Run, "suppressed" | "slots" | "badges"> = {
      deps,
      work,
      isOver,
      delivered: { stored, fresh: [], again: [], invalid: [], doubted: 0, halted: false },
      ids,
      quiet: await deps.quietHours(work, rest),
      prepare: await prepared(sender, { message, ttlSeconds, opened }, recipients),
      provider: sender.name,
      capacity: sender.capacity,
      expiresAt,
      isReplaceable: isReplaceable(chunk.channel, message.options),
      gone: goneBefore(stored, subscriptions),
      random: () => drawn,
    };
    await whileOpen(
      deps.gates,
      { message, recipients: rest, chunk, everyMs: deps.gatesEveryMs },
      async (suppressed) => {
        const sendable = rest.reduce((count, one) => count + (suppressed(one) === null ? 1 : 0), 0);
        const slots = deps.throttle(message, chunk, sendable);
        const open = { ...run, suppressed, slots, badges: await badgesOf({ ...run, suppressed }, rest) };
        await mapBounded(recipients, chunkConcurrency, (subscription) => serve(open, subscription));
      },
    );
    return { ...run.delivered, ...(await judged(deps.guard, run, deps.clock.now())) };
  };

/** Adds to the badges of those who are going to be sent to, where the message asks for it. */
const badgesOf = async (
  { deps, work: { chunk, message }, suppressed, expiresAt }: Omit<Run, "slots" | "badges">,
  recipients: readonly Reached[],
): Promise<Badges> => {
  const change = definitionOf(chunk.channel).badge?.(message.content) ?? null;
  const isNone = change === null || deps.clock.now() >= expiresAt;
  const ids = isNone ? [] : recipients.filter((row) => suppressed(row) === null).map(({ _id }) => _id);
  if (change === null || ids.length === 0) return new Map();
  const isAdded = triesBefore(chunk) > 0 && "add" in change; // before the first try
  return deps.recipients.badges(message._id, ids, isAdded ? { add: 0 } : change);
};

/** Nobody ran these recipients before, so that none of them can have a delivery. */
const isFirstRun = ({ fence, may_overlap }: ChunkRow): boolean => fence === 1 && !may_overlap;

/** Those that were added to, by subscription. */
type Badges = ReadonlyMap<string, number>;

/** What the recipients of one run share. */
type Run = {
  deps: DeliverDeps;
  work: Work;
  isOver: () => boolean;
  delivered: Delivered;
  ids: ReadonlyMap<string, string>;
  /** What gates say now. */
  suppressed: Check;
  slots: Slots | null;
  quiet: Quiet | null;
  badges: Badges;
  prepare: Prepare;
  provider: string;
  capacity: Capacity | undefined;
  expiresAt: Date;
  isReplaceable: boolean;
  gone: FoundGone[];
  /** Drawn once: recipients who fail alike stay one chunk, however often they are tried again. */
  random: Random;
};

/** Serves one recipient: it is suppressed, expired, or attempted and stored within the window of unsaved ones. */
const serve = async (run: Run, subscription: Reached): Promise<void> => {
  const { isOver, delivered } = run;
  if (isOver()) return void (delivered.halted = true);
  if (await isEnded(run, subscription)) return;
  if ((await run.slots?.take()) === false) return void (delivered.halted = true);
  await handOver(run, subscription).finally(() => run.slots?.answered());
};

/** Waits for a place, and attempts it if that is still wanted. */
const handOver = async (run: Run, subscription: Reached): Promise<void> => {
  const { deps, work, isOver, delivered, capacity } = run;
  if ((await capacity?.turn?.(deps.stopping)) === false) return void (delivered.halted = true);
  const begin = async (): Promise<void> => {
    if (isOver())
      delivered.halted = true; // while it waited for its slot
    else if (await isEnded(run, subscription)) return;
    else if ((await work.begin?.()) === false) delivered.halted = true;
    else await attempt(run, subscription);
  };
  return deps.window.slot(`${work.app._id}/${work.chunk.channel}`, begin, capacity?.atOnce);
};

/** Stores that it is suppressed when a gate says so now, or expired when its time is over. */
const isEnded = async (run: Run, subscription: Reached): Promise<boolean> => {
  if (await isSuppressed(run, subscription)) return true;
  if (await isQuiet(run, subscription)) return true;
  const isExpired = run.deps.clock.now() >= run.expiresAt;
  if (isExpired) await store(run, expire(attemptOf(run, subscription)));
  return isExpired;
};

/** Leaves it for the end of its quiet hours, or stores that it is suppressed because of them. */
const isQuiet = async (run: Run, subscription: Reached): Promise<boolean> => {
  const { quiet, deps, delivered } = run;
  const until = quiet?.untilOf(subscription, deps.clock.now()) ?? null;
  if (until === null) return false;
  if (quiet?.isDropped === true) await store(run, suppress(attemptOf(run, subscription), "quiet_hours"));
  else (delivered.later ??= []).push({ subscription, at: until });
  return true;
};

/** Stores that it is suppressed when a gate says so now. */
const isSuppressed = async (run: Run, subscription: Reached): Promise<boolean> => {
  const reason = run.suppressed(subscription);
  if (reason !== null) await store(run, suppress(attemptOf(run, subscription), reason));
  return reason !== null;
};

const attempt = async (run: Run, subscription: Reached): Promise<void> => {
  const { deps, work, delivered, gone } = run;
  const made = attemptOf(run, subscription);
  const outcome = await send(run, subscription, made.deliveryId);
  if (outcome !== null && "aborted" in outcome) return store(run, suppress(made, "template_abort", outcome.aborted));
  if (outcome === null) return void (delivered.halted = !(await isSuppressed(run, subscription)) || delivered.halted);
  const now = deps.clock.now();
  if (outcome.kind === "token_invalid") gone.push(foundGone(outcome, { ...made, now }));
  const result = resultOf(outcome, { ...made, now });
  if (result.kind === "final") return store(run, result.row);
  const at = nextTry(result.at, triesBefore(work.chunk), now, run.random);
  delivered.again.push({ subscriptionId: subscription._id, at, mayHaveArrived: result.mayHaveArrived });
};

/**
 * Null when it was given up while it waited for its turn at the provider, because the lease is over or a gate says so by
 * now: nothing of it was handed over.
 */
const send = async (run: Run, to: Reached, deliveryId: string): Promise<Outcome | Aborted | null> => {
  const { deps, prepare } = run;
  const isOver = (): boolean => run.isOver() || run.suppressed(to) !== null;
  const ready = await prepare(to, deps.clock.now());
  if (typeof ready !== "function") return ready;
  try {
    return await ready(recipientOf(to, deliveryId, run.badges.get(to._id)), deps.cut, isOver);
  } catch (error) {
    if (error instanceof NotBegun) return null;
    throw error;
  }
};

const store = async ({ deps, work, delivered }: Run, made: DeliveryRow): Promise<void> => {
  const [key] = made.status === "sent" ? collapseKeys(work.message, work.chunk, [made.subscription_id]) : [];
  const row = key === undefined ? made : { ...made, collapse_key: key };
  if ((await deps.deliveries.record(row)) === "new") delivered.fresh.push(row);
  delivered.stored.push(row);
};

const attemptOf = (run: Run, subscription: Reached): Attempt => ({
  deliveryId: run.ids.get(subscription._id) ?? deliveryIdOf(run.work.chunk.message_id, subscription._id),
  chunk: run.work.chunk,
  subscription,
  provider: run.provider,
  now: run.deps.clock.now(),
  expiresAt: run.expiresAt,
  isReplaceable: run.isReplaceable,
  activityId: run.work.message.live_activity?.activity_id,
});

const recipientOf = (to: Reached, deliveryId: string, badge: number | undefined): Recipient => ({
  deliveryId,
  subscriptionId: to._id,
  address: to.token,
  ...(to.web === null ? {} : { webKeys: to.web }),
  ...(badge === undefined ? {} : { badge }),
});

import { checkAddress } from "#core/channels/addresses.ts";
import type { Callback } from "#core/channels/kit/callbacks.ts";
import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { falseWhenAway } from "#core/errors.ts";
import type { CallbackBatch, CallbackOf, CallbackQueue } from "#core/queue/callbacks.ts";
import type { HandlerContext, Settlement } from "#core/queue/jetstream/worker.ts";
import { isContact } from "#core/schema/vocabulary/channels.ts";
import type { Sessions } from "#core/storage/people/sessions.ts";
import type { Words } from "#core/storage/suppressions/words.ts";
import type { Received } from "../conversations/open.ts";
import type { Cause, Suppressor } from "../suppressions/suppress.ts";
import type { Report } from "./apply.ts";
import type { Bodies, Loaded } from "./bodies.ts";
import type { Checked } from "./check.ts";
import { isYoung } from "./check.ts";
import type { Content } from "./read.ts";

export type HandleDeps = {
  check: (batch: CallbackBatch, signal: AbortSignal) => Promise<Checked>;
  read: (batch: CallbackBatch) => Content[];
  /** Reads the bodies that wait in files. */
  bodies: Bodies;
  /** Reads mails of people. */
  mails: (contents: readonly Content[], signal: AbortSignal) => Promise<Content[]>;
  /** Removes the files of mails that did not become messages. */
  dropLost: (contents: readonly Content[], signal: AbortSignal) => Promise<void>;
  /** Gives the receipts whose delivery is not stored yet. */
  apply: (report: Report) => Promise<Receipt[]>;
  suppressor: Suppressor;
  sessions: Pick<Sessions, "open">;
  /** Puts messages of people into conversations, of apps that have these; false of others. May be done twice. */
  receive: (received: Received) => Promise<boolean>;
  /** Words that were followed already: one that comes again, or is played again, changes nothing. */
  words: {
    known: (words: Words) => Promise<ReadonlySet<string>>;
    remember: (words: Words, now: Date) => Promise<void>;
  };
  /** Fetches an address of a provider's, to confirm that its callbacks are wanted. */
  confirm: (url: string, appId: string, signal: AbortSignal) => Promise<void>;
  queue: CallbackQueue;
  /** Counts and tells of receipts that were given up. */
  unmatched: (of: CallbackOf, receipts: readonly Receipt[]) => void;
  clock: Clock;
};

const pauseMs = { first: 1_000, most: 60_000 };
const done: Settlement = { kind: "done" };

/** What cannot be done yet: without its certificate or its delivery, or a confirmation that was not answered. */
type Left = { of: CallbackOf; callback: Callback };

/**
 * Handles callbacks of one tenant: words first, as nobody is to wait with a STOP, then receipts and confirmations. What
 * cannot be done yet goes back into the queue without the rest, so that words are not followed again, and is tried there for
 * a quarter of an hour.
 */
export const handleCallbacks =
  (deps: HandleDeps) =>
  (batch: CallbackBatch, context: HandlerContext): Promise<Settlement> =>
    deps.bodies(batch, (loaded) => handleLoaded(deps, loaded, context), context.signal);

const handleLoaded = async (
  deps: HandleDeps,
  { batch, forget }: Loaded,
  { attempt, isRepeated, signal }: HandlerContext,
): Promise<Settlement> => {
  const { signed, pending } = await deps.check(batch, signal);
  const contents = await deps.mails(deps.read({ callbacks: signed }), signal);
  const groups = [...Map.groupBy(contents, ({ of }) => `${of.appId} ${of.provider}`).values()];
  for (const group of groups) await followWords(deps, group);
  for (const group of groups) await receiveMessages(deps, group, isRepeated);
  await deps.dropLost(contents, signal);
  const undone = await Promise.all([
    ...groups.map((group) => applyGroup(deps, group, isRepeated)),
    ...contents.map((content) => confirm(deps, content, signal)),
  ]);
  const left = [...pending.map(({ callback, ...of }): Left => ({ of, callback })), ...undone.flat()];
  if (left.length > 0 && contents.every(mayWait))
    return { kind: "retry", delayMs: delayOf(attempt), reason: "it cannot be done yet" };
  for (const { of, callback } of left) await deps.queue.keep(of, callback);
  await forget(new Set(left.flatMap(({ callback }) => callback.file ?? [])));
  return done;
};

/** Whether there is nothing in it but what waits there. */
const mayWait = ({ of, confirm: address }: Content): boolean => of.provider === ownProvider || address !== undefined;

const delayOf = (attempt: number): number => Math.min(pauseMs.first * 2 ** (attempt - 1), pauseMs.most);

/** Follows what people wrote to one app over one provider. */
const followWords = async ({ suppressor, words, clock }: HandleDeps, group: readonly Content[]): Promise<void> => {
  const [first] = group;
  if (first === undefined || !isContact(first.channel)) return;
  const { of, channel } = first;
  const inbound = group.flatMap((content) => content.inbound);
  const wishes = inbound.filter(({ word }) => word === "stop" || word === "start");
  if (wishes.length === 0) return;
  const said = { of, provider: of.provider, ids: wishes.map(({ providerId }) => providerId) };
  const known = await words.known(said);
  const inOrder = wishes.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  for (const { word, address, at } of inOrder.filter(({ providerId }) => !known.has(providerId))) {
    const cause = { of, channel, address, at };
    await (word === "stop" ? suppressor.suppress([{ ...cause, said: optOut }]) : suppressor.lift(cause));
  }
  await words.remember(said, clock.now());
};

/** Puts what people wrote to one app over one provider into conversations, which begins their sessions on WhatsApp. */
const receiveMessages = async (deps: HandleDeps, group: readonly Content[], isRepeated: boolean): Promise<void> => {
  const inbound = group.flatMap((content) => content.inbound);
  const [first] = group;
  if (first === undefined || inbound.length === 0 || !isContact(first.channel)) return;
  const { of, channel } = first;
  const arrivals = inbound.map((message) => ({ of, provider: of.provider, channel, message }));
  const isTaken = await deps.receive({ of, arrivals, isRepeated });
  if (!isTaken && channel === "whatsapp") await deps.sessions.open(of, inbound, deps.clock.now());
};

const optOut = {
  reason: "carrier_opt_out",
  source: "keyword",
  categories: null,
  note: null,
  expires_at: null,
} as const;

const mostKept = 1_000; // receipts in one callback of ours, some 300 KB

/** Applies the receipts of one app and provider. */
const applyGroup = async (deps: HandleDeps, group: readonly Content[], isRepeated: boolean): Promise<Left[]> => {
  const receipts = group.flatMap((content) => content.receipts);
  const [first] = group;
  if (first === undefined || receipts.length === 0) return [];
  const { of, callback } = first;
  const missing = await deps.apply({ tenantId: of.tenantId, appId: of.appId, receipts, isRepeated });
  await deps.suppressor.suppress(missing.flatMap((receipt) => wishOf(first, receipt)));
  if (missing.length > 0 && !isYoung(callback, deps.clock.now())) deps.unmatched(of, missing);
  if (missing.length === 0 || !isYoung(callback, deps.clock.now())) return [];
  const pages = Array.from({ length: Math.ceil(missing.length / mostKept) }, (_, n) => n * mostKept);
  return pages.map((from) => ({
    of: { ...of, provider: ownProvider },
    callback: ownCallback(missing.slice(from, from + mostKept), callback.receivedAt),
  }));
};

/** Whoever leaves is heard also when their mail is so old that its delivery is gone. */
const wishOf = ({ of, channel }: Content, receipt: Receipt): Cause[] => {
  if (receipt.kind !== "unsubscribed" || receipt.address === null || !isContact(channel)) return [];
  const { address, at, source, categories } = receipt;
  if (!checkAddress(channel, address).ok) return []; // of another channel, before it waited as a receipt of ours
  const said = { reason: "unsubscribe", source, categories, note: null, expires_at: null } as const;
  return [{ of, channel, address, at, said }];
};

/** Confirms that callbacks are wanted, where one asks for it. */
const confirm = async (deps: HandleDeps, content: Content, signal: AbortSignal): Promise<Left[]> => {
  const { of, callback, confirm: address } = content;
  if (address === undefined) return [];
  const isDone = await deps.confirm(address, of.appId, signal).then(() => true, falseWhenAway);
  return isDone || !isYoung(callback, deps.clock.now()) ? [] : [{ of, callback }];
};

import { fitted } from "#core/channels/fitted.ts";
import type { Clock } from "#core/domain/clock.ts";
import { saidIn } from "#core/domain/messages/neutral.ts";
import { type Outcome, unusable } from "#core/domain/messages/outcome.ts";
import { paced } from "#core/runtime/batching/paced.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { inSpan, type Span, type Tracer } from "#core/runtime/tracing/tracer.ts";
import { type Channel, channels } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Peers } from "../work/peers.ts";
import { type AccountBreakers, accountBreakers } from "./account-breakers.ts";
import type { OpenAccount } from "./accounts.ts";
import type { Account, Send } from "./kit/provider.ts";

export type Sender = Omit<ReturnType<typeof guarded>, "capacity"> & { capacity?: Capacity };

export type SendersDeps = {
  open: OpenAccount;
  clock: Clock;
  metrics: DispatcherMetrics;
  tracer: Pick<Tracer, "child">;
  /** Dispatchers that share what an account takes a second. */
  peers: Pick<Peers, "count">;
  log: Log;
};

export type Senders = ReturnType<typeof senders>;

type Opened = {
  account: Account;
  breakers: AccountBreakers;
  capacity: Capacity;
  revision: number;
  usedAtMs: number;
  channel: Channel;
};

/** What recipients of an account wait for before they take a place of the process. */
export type Capacity = {
  /** Places at once; as many as anybody may have when left out. */
  atOnce?: number | undefined;
  /** False when it was given up meanwhile. */
  turn?: (signal: AbortSignal) => Promise<boolean>;
};

const capacityOf = (
  { takes }: Pick<Account, "takes">,
  { isOpen }: AccountBreakers,
  peers: SendersDeps["peers"],
): Capacity => {
  const { atOnce, perSecond } = takes ?? {};
  if (perSecond === undefined) return { atOnce };
  const turn = paced(() => perSecond / peers.count());
  return { atOnce, turn: async (signal) => isOpen() || turn(signal) }; // what is cut off is answered at once
};

const mostAccounts = 500; // each has a few connections; as many may be closing, each within its provider's deadline
const idleMs = 600_000;

/**
 * The open provider accounts of this process, one for each (app, channel), each behind its breakers. `close` also waits
 * for those that are being closed already; `openBreakers` counts those whose provider is cut off, by channel.
 */
export const senders = (deps: SendersDeps) => {
  const opened = new Map<string, Opened>();
  const closing = new Set<Promise<void>>();
  const nowMs = (): number => deps.clock.now().getTime();

  /** An account finishes what is under way before it closes: whoever needs another one does not wait for that. */
  const closeOne = (key: string, { account: { name, close } }: Opened): void => {
    opened.delete(key);
    const ending = close()
      .catch((err: unknown) => deps.log.warn({ provider: name, err }, "account.close_failed"))
      .finally(() => closing.delete(ending));
    closing.add(ending);
  };
  const closeAll = (isOver: (one: Opened) => boolean): void => {
    for (const [key, one] of opened) if (isOver(one)) closeOne(key, one);
  };

  const open = (app: AppRow, channel: Channel): Omit<Opened, "usedAtMs"> => {
    const [account, revision] = [openOr(deps, app, channel), app.channels_revision];
    const breakers = accountBreakers(deps.clock, account.origins);
    const capacity = capacityOf(account, breakers, deps.peers);
    return { account, breakers, capacity, revision, channel };
  };

  const use = (key: string, app: AppRow, channel: Channel): Opened => {
    const kept = opened.get(key);
    const { channels_revision: revision } = app;
    if (kept?.revision === revision) return kept;
    if (kept !== undefined) closeOne(key, kept);
    const one = { ...open(app, channel), usedAtMs: nowMs() };
    opened.set(key, one);
    return one;
  };

  const makeRoom = async (): Promise<void> => {
    if (opened.size <= mostAccounts) return;
    const [oldest] = [...opened].sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    if (oldest !== undefined) closeOne(...oldest);
    if (closing.size > mostAccounts) await Promise.race(closing);
  };

  return {
    of: async (app: AppRow, channel: Channel): Promise<Sender> => {
      const one = use(`${app._id}/${channel}`, app, channel);
      one.usedAtMs = nowMs();
      await makeRoom();
      return guarded(one, deps);
    },
    closeIdle: (): void => closeAll(({ usedAtMs }) => nowMs() - usedAtMs > idleMs),
    close: async (): Promise<void> => {
      closeAll(() => true);
      await Promise.all(closing);
    },
    openBreakers: (): Record<string, number> => {
      const cutOff = [...opened.values()].filter(({ breakers }) => breakers.isOpen());
      return Object.fromEntries(channels.map((of) => [of, cutOff.filter((one) => one.channel === of).length]));
    },
  };
};

/** The account behind its breakers, every call measured. */
const guarded = (one: Opened, deps: SendersDeps) => {
  const { account, breakers, channel } = one;
  const { name } = account;
  return {
    name,
    capacity: one.capacity,
    hasReached: breakers.hasReached,
    /** The content rendered for one language, cut to what fits, with what is left of its ttl; returns the call that sends it. */
    prepare: (message: MessageRow, language: string | null, ttlSeconds: number): Send => {
      const { _id: messageId, email_html: html, options, category, live_activity: activity, accepted } = message;
      const { recipients_estimate: recipients } = accepted;
      const live = activity && { ...activity, at: message.created_at };
      const said = saidIn(message.content);
      const content = html === undefined ? said : { ...said, email_body: html };
      const send = account.prepare(
        fitted(channel, {
          messageId,
          content,
          options,
          category,
          language,
          ttlSeconds,
          recipients,
          ...(live && { live }),
        }),
      );
      let spans = 0;
      return async (...given) => {
        one.usedAtMs = deps.clock.now().getTime();
        const startedMs = performance.now();
        const span = spans++ < mostSpans ? deps.tracer.child(`send ${name}`, "client", message.traceparent) : null;
        const call = () => breakers.run(given[0], () => send(...given));
        const outcome = await inSpan(span, call, about(channel, name));
        deps.metrics.deliveries.inc({ channel, provider: name, outcome: outcome.kind });
        const seconds = (performance.now() - startedMs) / 1000;
        deps.metrics.providerSeconds.observe({ channel, provider: name }, seconds, span?.traceparent);
        return outcome;
      };
    },
  };
};

/** Calls of one chunk that have a span each: those of a small message; the first ones stand for a large one's. */
const mostSpans = 8;

const about =
  (channel: Channel, provider: string) =>
  (span: Span, { kind }: Outcome): void => {
    span.set({ "herald.channel": channel, "herald.provider": provider, "herald.outcome": kind });
    if (kind !== "sent") span.fail(kind);
  };

/** Opens an account; one that cannot be opened refuses everything. */
export const openOr = ({ open, log }: Pick<SendersDeps, "open" | "log">, app: AppRow, channel: Channel): Account => {
  try {
    return open(app, channel) ?? refusing(`the app has no account for ${channel}`);
  } catch (err) {
    log.error({ app: app._id, channel, err }, "account.open_failed");
    return refusing(`the credentials of ${channel} cannot be used`);
  }
};

/** An account that cannot send: every delivery says why. */
const refusing = (reason: string): Account => ({
  name: "none",
  prepare: () => async () => unusable(reason),
  check: async () => unusable(reason),
  close: async () => undefined,
});

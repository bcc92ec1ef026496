import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { Senders } from "../../../../../dispatcher/channels/registry.ts";
import { deliver } from "../../../../../dispatcher/messages/delivery/deliver.ts";
import type { DeliverDeps } from "../../../../../dispatcher/messages/delivery/deliver-deps.ts";
import { gates } from "../../../../../dispatcher/messages/gates/all.ts";
import { aChunk, aMessage, anApp, aSubscription, handClock } from "../../../../support/rows/work.ts";

export type Reads = DeliverDeps["recipients"];
/** What is other than usual. */
export type Change = Partial<
  Reads &
    DeliverDeps["deliveries"] &
    Pick<
      DeliverDeps,
      "gates" | "gatesEveryMs" | "quietHours" | "caps" | "inbox" | "throttle" | "window" | "clock" | "stopping" | "cut"
    >
> & {
  sender?: Senders["of"];
};

export const aSender = { name: "apns", hasReached: () => true };

/** A run of sending, and whom it sends to. */
export const given = (
  change: Change = {},
  answer: (id: string) => Outcome = () => ({ kind: "sent", providerId: null }),
) => {
  const sent: string[] = [];
  const languages: (string | null)[] = [];
  const sender: Senders["of"] = async () => ({
    name: "apns",
    hasReached: (address) => !address.startsWith("new"),
    prepare: (_message, language) => {
      languages.push(language);
      return async (to) => {
        sent.push(to.subscriptionId);
        return answer(to.subscriptionId);
      };
    },
  });
  const load = async (ids: readonly string[]) => ids.map((id) => aSubscription({ _id: id }));
  const deps: DeliverDeps = {
    recipients: {
      load,
      languages: async () => new Map(),
      people: async () => new Map(),
      badges: async () => new Map(),
      ...change,
    },
    templates: { open: async () => null },
    deliveries: { existing: async () => [], record: async () => "new", ...change },
    gates:
      change.gates ??
      gates({ newer: async () => new Set(), suppressions: { gate: () => () => null }, clock: handClock() }),
    ...(change.gatesEveryMs === undefined ? {} : { gatesEveryMs: change.gatesEveryMs }),
    senders: { of: change.sender ?? sender },
    guard: { ofAnswers: async ({ gone }) => new Set(gone.filter(({ code }) => code !== "TOKEN_UNREGISTERED")) },
    quietHours: change.quietHours ?? (async () => null),
    caps: change.caps ?? (() => null),
    inbox: change.inbox ?? (() => null),
    throttle: change.throttle ?? (() => null),
    window: change.window ?? { slot: (_account, run) => run() },
    stopping: change.stopping ?? new AbortController().signal,
    cut: change.cut ?? new AbortController().signal,
    clock: change.clock ?? handClock(),
    random: () => 0.5,
  };
  return { sent, languages, run: deliver(deps) };
};

export const work = (recipients: string[], message = aMessage(), chunk = {}) => ({
  chunk: aChunk({ recipients, ...chunk }),
  message,
  app: anApp(),
});

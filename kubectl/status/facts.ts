import type { Seen } from "../kit/cluster.ts";
import { type Node, partOf } from "./node.ts";

/** What the status of a kind says beside its conditions, in a few words. */
export const factsOf = ({ kind, spec, status }: Seen): string => (facts[kind] ?? (() => ""))(spec, status ?? {});

type Members = Record<string, unknown>;

const facts: Record<string, (spec: Members, status: Members) => string> = {
  Tenant: ({ plan }, { usage }) => listed([`plan ${word(plan)}`, ...usageFacts(usage)]),
  Webhook: (_, { state, health }) => listed([word(state), ...healthFacts(health)]),
  ApiKey: ({ scopes }) => (Array.isArray(scopes) ? scopes.join(", ") : ""),
  Incident: ({ severity }) => word(severity),
};

const listed = (parts: readonly string[]): string => parts.filter((part) => part !== "").join(", ");

const usageFacts = (usage: unknown): string[] => {
  const { lastHour, webhookBacklog } = membersOf(usage);
  const { deliveries } = membersOf(lastHour);
  return [
    deliveries === undefined ? "" : `${word(deliveries)} deliveries in the last hour`,
    Number(webhookBacklog ?? 0) > 0 ? `${word(webhookBacklog)} webhooks waiting` : "",
  ];
};

const healthFacts = (health: unknown): string[] => {
  const { successRate1h, lastErrorClass } = membersOf(health);
  if (successRate1h === undefined) return [];
  return [`${word(successRate1h)} succeed`, lastErrorClass === undefined ? "" : `last error ${word(lastErrorClass)}`];
};

/** The channels of an App, each with what the last test of its account came to. */
export const channelsOf = (app: Seen): Node[] => {
  const accounts = app.status?.["accounts"];
  return Array.isArray(accounts) ? accounts.map((account: unknown) => channelOf(app, membersOf(account))) : [];
};

const channelOf = (app: Seen, { channel, provider, result }: Members): Node =>
  partOf(app, "Channel", word(channel), { ...(results[word(result)] ?? untested), facts: word(provider) });

type State = Pick<Node, "ready" | "reason" | "message">;

const untested: State = { ready: "Unknown", reason: "Untested", message: "" };

const results: Record<string, State> = {
  verified: { ready: "True", reason: "Verified", message: "" },
  refused: { ready: "False", reason: "AccountRefused", message: "the provider does not take the account" },
  unreached: { ready: "Unknown", reason: "ProviderUnreached", message: "the provider could not be asked" },
};

const membersOf = (value: unknown): Members => (typeof value === "object" && value !== null ? { ...value } : {});

/** A value of a status as people read it; nothing for what another release may have made of it. */
const word = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";

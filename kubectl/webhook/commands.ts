import type { Command, Option, Permission } from "../kit/command.ts";
import { waitOptions } from "../kit/waiting.ts";
import { restOptions, restPermissions } from "../rest/options.ts";

const { app: _, ...ofKey } = restOptions; // a Webhook says itself of which App it is

const windowOptions = {
  since: {
    type: "string",
    value: "INSTANT",
    description: "from when on: an instant, or a duration before now, e.g. 2h",
  },
  until: { type: "string", value: "INSTANT", description: "until when; now when left out" },
} as const satisfies Record<string, Option>;

const permissions: Permission[] = [
  { group: "herald.dev", resource: "webhooks", verbs: ["get"], why: "the Webhook's id and App" },
  ...restPermissions("both"),
];

/** `kubectl herald webhook recover`. */
export const webhookRecover: Command = {
  name: "webhook recover",
  summary: "send an endpoint again, once for each event, what failed or was missed",
  operands: "WEBHOOK",
  mostOperands: 1,
  details:
    "Sends an endpoint again what failed, was given up or was missed in a window of time, once for each event. WEBHOOK is the\n" +
    "name of the resource. Nothing that arrived is sent again.",
  options: { ...windowOptions, ...waitOptions("all of it is queued"), ...ofKey },
  examples: [{ says: "after an outage of two hours", line: "webhook recover events --since 2h --wait -n shop" }],
  exits: { 0: "it was begun; with --wait: it has ended", 1: "with --wait: it had not ended in time" },
  permissions,
  load: async () => (await import("./again.ts")).runRecover,
};

/** `kubectl herald webhook replay`. */
export const webhookReplay: Command = {
  name: "webhook replay",
  summary: "send an endpoint again the deliveries of a window, or one of them",
  operands: "WEBHOOK",
  mostOperands: 1,
  details:
    "Sends an endpoint again every delivery of a window of time that fits, those that arrived included, or with --delivery one.\n" +
    "WEBHOOK is the name of the resource.",
  options: {
    delivery: { type: "string", value: "ID", description: "one delivery, instead of a window" },
    ...windowOptions,
    status: { type: "string", choices: ["success", "failed", "dead"], description: "only those that ended so" },
    "event-type": { type: "string", value: "KIND", description: "only of this kind of event, e.g. delivery.sent" },
    ...waitOptions("all of it is queued"),
    ...ofKey,
  },
  examples: [
    { says: "all that was given up today", line: "webhook replay events --since 24h --status dead -n shop" },
    { says: "one delivery", line: "webhook replay events --delivery whd_01J9ZK3V5T8Q2N7R4W6X1Y0ABC -n shop" },
  ],
  exits: { 0: "it was begun; with --wait: it has ended", 1: "with --wait: it had not ended in time" },
  permissions,
  load: async () => (await import("./again.ts")).runReplay,
};

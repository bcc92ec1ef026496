import { expect } from "chai";
import { makeEvent } from "#core/domain/events.ts";
import type { EventEnvelope, EventKind } from "#core/schema/event.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import { matchEvents, wants } from "../../../../dispatcher/webhooks/match.ts";
import { aWebhook } from "../../../support/webhooks.ts";

const now = new Date("2026-11-21T12:00:00Z");
const anEvent = (
  kind: EventKind,
  of: { app?: string; from?: string; data?: Record<string, unknown> } = {},
): EventEnvelope =>
  makeEvent({ kind, appId: of.app ?? "app_1", subjectId: "s", data: of.data ?? {}, at: now, from: [of.from ?? "a"] });

describe("an endpoint wants an event", () => {
  const rows: { it: string; endpoint: Partial<WebhookRow>; event: EventEnvelope; expected: boolean }[] = [
    { it: "of a kind it subscribed to", endpoint: {}, event: anEvent("delivery.sent"), expected: true },
    { it: "while it is failing", endpoint: { status: "failing" }, event: anEvent("delivery.sent"), expected: true },
    {
      it: "not when it is disabled",
      endpoint: { status: "disabled" },
      event: anEvent("delivery.sent"),
      expected: false,
    },
    { it: "not of another kind", endpoint: {}, event: anEvent("delivery.failed"), expected: false },
    {
      it: "of a custom name it listed",
      endpoint: { events: ["event.received"], event_names: ["buy"] },
      event: anEvent("event.received", { data: { name: "buy" } }),
      expected: true,
    },
    {
      it: "not of a custom name it did not list",
      endpoint: { events: ["event.received"], event_names: ["buy"] },
      event: anEvent("event.received", { data: { name: "sell" } }),
      expected: false,
    },
    {
      it: "not of a custom event without a name",
      endpoint: { events: ["event.received"], event_names: ["buy"] },
      event: anEvent("event.received"),
      expected: false,
    },
  ];
  for (const { it: name, endpoint, event, expected } of rows) {
    it(name, () => expect(wants(aWebhook(endpoint), event)).to.equal(expected));
  }
});

/** What matching these events does, in order. */
const run = async (endpoints: WebhookRow[], events: EventEnvelope[]) => {
  const calls: string[] = [];
  const kept: WebhookDeliveryRow[] = [];
  const settlement = await matchEvents({
    webhooksOf: async (app) => endpoints.filter(({ app_id }) => app_id === app),
    keep: async (rows) => {
      calls.push("keep");
      kept.push(...rows);
    },
    wake: async (ids) => void calls.push(`wake ${ids.join()}`),
    ring: async (id) => calls.push(`ring ${id}`),
    clock: { now: () => now },
  })(events);
  return { settlement, calls, kept };
};

describe("matching a batch of events", () => {
  it("makes one delivery for each endpoint and event, then wakes and rings each endpoint once", async () => {
    const endpoints = [
      aWebhook({ _id: "whk_1" }),
      aWebhook({ _id: "whk_2" }),
      aWebhook({ _id: "whk_3", events: ["user.created"] }),
    ];
    const events = [anEvent("delivery.sent", { from: "a" }), anEvent("delivery.sent", { from: "b" })];
    const { settlement, calls, kept } = await run(endpoints, events);
    expect(settlement).to.deep.equal({ kind: "done" });
    expect(calls).to.deep.equal(["keep", "wake whk_1,whk_2", "ring whk_1", "ring whk_2"]);
    expect(new Set(kept.map(({ _id }) => _id)).size).to.equal(4);
    expect(kept[0]).to.deep.include({
      status: "pending",
      attempt: 0,
      due_at: now,
      event_id: events[0]?.id,
      payload: events[0],
    });
  });

  it("makes the same deliveries from the same events", async () => {
    const [first, second] = [
      await run([aWebhook()], [anEvent("delivery.sent")]),
      await run([aWebhook()], [anEvent("delivery.sent")]),
    ];
    expect(first.kept).to.deep.equal(second.kept);
  });

  it("writes nothing when no endpoint wants them", async () => {
    expect((await run([aWebhook({ events: ["user.created"] })], [anEvent("delivery.sent")])).calls).to.deep.equal([]);
  });

  it("never shows an app's events to another's endpoints", async () => {
    const { kept } = await run(
      [aWebhook({ _id: "whk_1" }), aWebhook({ _id: "whk_2", app_id: "app_2" })],
      [anEvent("delivery.sent", { app: "app_2" })],
    );
    expect(kept.map(({ endpoint_id }) => endpoint_id)).to.deep.equal(["whk_2"]);
  });
});

import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import type { EventEnvelope, EventKind } from "#core/schema/events/envelope.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { accepting } from "../../../../../dispatcher/webhooks/accept/accept.ts";
import { matchEvents } from "../../../../../dispatcher/webhooks/match/match.ts";
import { partitionOf, testPartitioning } from "../../../../support/rows/partitioning.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const now = new Date("2026-11-21T12:00:00Z");
const anEvent = (
  kind: EventKind,
  of: { app?: string; from?: string; data?: Record<string, unknown> } = {},
): EventEnvelope =>
  makeEvent({ kind, appId: of.app ?? "app_1", subjectId: "s", data: of.data ?? {}, at: now, from: [of.from ?? "a"] });

type Given = { isRepeated?: boolean; known?: string[]; partition?: number; subject?: string };

/** What becomes of these events in a process that owns all endpoints. */
const run = async (
  endpoints: WebhookRow[],
  events: EventEnvelope[],
  { isRepeated = false, known = [], partition, subject }: Given = {},
) => {
  const placed: WebhookDeliveryRow[] = [];
  const grouped: { endpoint: string; events: number }[] = [];
  const accept = accepting({
    deliveries: { known: async () => new Set(known), grouped: async () => new Set() },
    queues: {
      place: async ({ _id }, _count, make, how) => {
        const rows = make();
        if (how === undefined) return void placed.push(...rows);
        grouped.push({ endpoint: _id, events: rows.flatMap(({ event_ids: ids = [] }) => ids).length });
      },
    },
    clock: { now: () => now },
  });
  const settlement = await matchEvents({
    partitioning: testPartitioning,
    directory: {
      webhooksOf: async (app) => endpoints.filter(({ app_id }) => app_id === app),
      forgetWebhooksOf: () => undefined,
    },
    changed: () => undefined,
    accept,
  })(partition)(events, { isRepeated, ...(subject !== undefined && { subject }) });
  return { settlement, placed, grouped };
};

const ofBot = {
  events: ["event.received" as const],
  event_names: ["hs.conversation.message_received", "hs.conversation.closed"],
  audience: "bot" as const,
};
const written = (by: "bot" | "human"): EventEnvelope =>
  anEvent("event.received", { data: { name: "hs.conversation.message_received", properties: { handled_by: by } } });

describe("an endpoint wants an event", () => {
  const rows: { it: string; endpoint: Partial<WebhookRow>; event: EventEnvelope; expected: boolean }[] = [
    { it: "of a kind it subscribed to", endpoint: {}, event: anEvent("delivery.sent"), expected: true },
    { it: "while it is failing", endpoint: { status: "failing" }, event: anEvent("delivery.sent"), expected: true },
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
    ...(["bot", "human"] as const).map((by) => ({
      it: `of a message of a person that a ${by} is to answer, with the audience bot`,
      endpoint: ofBot,
      event: written(by),
      expected: by === "bot",
    })),
    {
      it: "of what else becomes of conversations, with an audience",
      endpoint: ofBot,
      event: anEvent("event.received", {
        data: { name: "hs.conversation.closed", properties: { handled_by: "human" } },
      }),
      expected: true,
    },
    {
      it: "not when its filters refuse it",
      endpoint: { filters: { match: "all", conditions: [{ field: "data.n", op: "eq", value: 1 }] } },
      event: anEvent("delivery.sent", { data: { n: 2 } }),
      expected: false,
    },
    {
      it: "not of a custom event without a name",
      endpoint: { events: ["event.received"], event_names: ["buy"] },
      event: anEvent("event.received"),
      expected: false,
    },
    {
      it: "once, though it listed a name twice",
      endpoint: { events: ["event.received"], event_names: ["buy", "buy"] },
      event: anEvent("event.received", { data: { name: "buy" } }),
      expected: true,
    },
  ];
  for (const { it: name, endpoint, event, expected } of rows) {
    it(name, async () => {
      const { placed } = await run([aWebhook(endpoint)], [event]);
      expect(placed).to.have.length(expected ? 1 : 0);
    });
  }
});

describe("matching a batch of events", () => {
  it("heeds a change of an endpoint in all events that come after it, and in those of its batch", async () => {
    let stored = [aWebhook({ _id: "whk_1" })];
    let known = stored;
    const [wanted, changes]: [string[][], string[]] = [[], []];
    const match = matchEvents({
      partitioning: testPartitioning,
      directory: { webhooksOf: async () => known, forgetWebhooksOf: () => void (known = stored) },
      changed: (id) => void changes.push(id),
      accept: async (all) => void wanted.push(all.map(({ endpoint }) => endpoint._id)),
    })();
    const handle = (...events: EventEnvelope[]) => match(events, { isRepeated: false });
    const change = anEvent("audit.created", { data: { target: { type: "webhook", id: "whk_2" } } });
    stored = [...stored, aWebhook({ _id: "whk_2" })]; // nobody has announced it
    await handle(anEvent("delivery.sent"));
    await handle(anEvent("audit.created", { data: { target: { type: "template", id: "tpl_1" } } }));
    await Promise.all([handle(change), handle(anEvent("delivery.sent"))]);
    expect(wanted).to.deep.equal([["whk_1"], ["whk_1", "whk_2"]]);
    expect(changes).to.deep.equal(["whk_2"]);
  });

  it("makes one delivery for each endpoint and event", async () => {
    const endpoints = [
      aWebhook({ _id: "whk_1" }),
      aWebhook({ _id: "whk_2" }),
      aWebhook({ _id: "whk_3", events: ["user.created"] }),
    ];
    const events = [anEvent("delivery.sent", { from: "a" }), anEvent("delivery.sent", { from: "b" })];
    const { settlement, placed } = await run(endpoints, events);
    expect(settlement).to.deep.equal({ kind: "done" });
    expect(new Set(placed.map(({ _id }) => _id)).size).to.equal(4);
    const expected = { status: "pending", attempt: 0, due_at: now, event_id: events[0]?.id };
    expect(placed[0]).to.include({ ...expected, payload: JSON.stringify(events[0]) });
  });

  it("makes deliveries for the endpoints of the partition that it reads alone, and in the first for those out of reach", async () => {
    const first = partitionOf("app_1");
    const [near, far] = [(first + 4) % 16, (first + 8) % 16];
    const endpoints = [first, near, far].map((partition) => aWebhook({ _id: `whk_${partition}`, partition }));
    const read = async (partition: number, groups: number) => {
      const subject = `herald.app-events.${groups}.${first % groups}.ten_1`;
      const { placed } = await run(endpoints, [anEvent("delivery.sent")], { partition, subject });
      return placed.map(({ endpoint_id: id }) => id);
    };
    expect(await read(first, 4)).to.deep.equal([`whk_${first}`]);
    expect(await read(near, 4)).to.deep.equal([`whk_${near}`]);
    expect(await read(first, 16)).to.deep.equal(endpoints.map(({ _id }) => _id));
  });

  it("makes the same deliveries from the same events", async () => {
    const first = await run([aWebhook()], [anEvent("delivery.sent")]);
    const second = await run([aWebhook()], [anEvent("delivery.sent")]);
    expect(first.placed).to.deep.equal(second.placed);
  });

  it("leaves out what is stored already when the batch comes again", async () => {
    const events = [anEvent("delivery.sent", { from: "a" }), anEvent("delivery.sent", { from: "b" })];
    const known = (await run([aWebhook()], events)).placed.slice(0, 1).map(({ _id }) => _id);
    const { placed } = await run([aWebhook()], events, { isRepeated: true, known });
    expect(placed.map(({ event_id }) => event_id)).to.deep.equal([events[1]?.id]);
  });

  it("makes nothing when no endpoint wants them", async () => {
    expect((await run([aWebhook({ events: ["user.created"] })], [anEvent("delivery.sent")])).placed).to.deep.equal([]);
  });

  it("groups deliveries' events for an endpoint that wants that, and no others", async () => {
    const endpoint = aWebhook({ batch: true, events: ["delivery.sent", "user.deleted"] });
    const events = [anEvent("delivery.sent"), anEvent("delivery.sent", { from: "b" }), anEvent("user.deleted")];
    const { placed, grouped } = await run([endpoint], events);
    expect(grouped).to.deep.equal([{ endpoint: "whk_1", events: 2 }]);
    expect(placed.map(({ event_type }) => event_type)).to.deep.equal(["user.deleted"]);
  });

  it("keeps what a disabled endpoint misses, one by one", async () => {
    const endpoint = aWebhook({ batch: true, status: "disabled" });
    const { placed, grouped } = await run([endpoint], [anEvent("delivery.sent")]);
    expect([placed.length, grouped.length]).to.deep.equal([1, 0]);
  });

  it("never shows an app's events to another's endpoints", async () => {
    const { placed } = await run(
      [aWebhook({ _id: "whk_1" }), aWebhook({ _id: "whk_2", app_id: "app_2" })],
      [anEvent("delivery.sent", { app: "app_2" })],
    );
    expect(placed.map(({ endpoint_id }) => endpoint_id)).to.deep.equal(["whk_2"]);
  });
});

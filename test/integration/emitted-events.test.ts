import { expect } from "chai";
import { eventTypes } from "#core/schema/event-data.ts";
import { parser } from "#core/schema/parser.ts";
import { type ReadEvents, readEvents } from "../support/events.ts";
import { exercise } from "../support/exercise.ts";
import { type Sending, startSending } from "../support/sending.ts";
import { testServers } from "../support/servers.ts";
import { until } from "../support/until.ts";

describe("the events of the running service", function () {
  this.timeout(120_000);
  let sending: Sending;
  let stream: ReadEvents;

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers);
    const { system } = sending;
    stream = await readEvents(servers.natsUrl, system.prefix);
    const env = { HERALD_ALLOWED_RANGES: "127.0.0.0/8" };
    const [api] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
    await exercise(sending, api);
  });
  after(async () => {
    await stream?.close();
    await sending?.close();
  });

  it("fit the schemas of their kinds", async () => {
    const kinds = () => new Set(stream.all().map(({ type }) => type));
    await until(() => expected.every((kind) => kinds().has(kind)), 20_000);
    for (const kind of kinds()) {
      const { data: schema, emitted } = eventTypes[kind];
      expect(emitted, `${kind} is emitted`).to.equal(true);
      const parse = parser(schema, { prefix: kind });
      for (const { data, type } of stream.all()) if (type === kind) expect(() => parse(data), kind).not.to.throw();
    }
  });
});

const expected = [
  "message.queued",
  "message.completed",
  "delivery.sent",
  "delivery.failed",
  "subscription.created",
  "subscription.unsubscribed",
  "subscription.invalidated",
  "user.created",
  "user.updated",
  "user.deleted",
  "event.received",
] as const;

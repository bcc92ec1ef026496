import { expect } from "chai";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { parser } from "#core/schema/json/parser.ts";
import { exercise } from "../../../support/api/exercise.ts";
import { exerciseEnv } from "../../../support/api/exercise-env.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type ReadEvents, readEvents } from "../../../support/system/events.ts";
import { type Sending, startSending } from "../../../support/system/sending.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";

describe("the events of the running service", function () {
  this.timeout(120_000);
  let sending: Sending;
  let stream: ReadEvents;

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers);
    const { system } = sending;
    stream = await readEvents(servers.natsUrl, system.prefix);
    const env = await exerciseEnv(sending);
    const [api] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
    await exercise(sending, api);
    await changeSettings(sending, api);
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

/** An endpoint is made, changed and removed. */
const changeSettings = async ({ system }: Sending, api: SystemProgram): Promise<void> => {
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/webhooks${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return String(((await reply.json()) as { id?: string }).id);
  };
  const id = await ask("POST", "", { url: "http://127.0.0.1:9/", events: ["user.created"], headers: { "X-Key": "k" } });
  await ask("PATCH", `/${id}`, { paused: true, filters: null, description: "changed" });
  await ask("DELETE", `/${id}`);
};

const expected = [
  "message.queued",
  "message.completed",
  "delivery.sent",
  "delivery.failed",
  "delivery.delivered",
  "delivery.opened",
  "delivery.clicked",
  "delivery.bounced",
  "delivery.complained",
  "delivery.unsubscribed",
  "subscription.created",
  "subscription.unsubscribed",
  "subscription.invalidated",
  "user.created",
  "user.updated",
  "user.deleted",
  "event.received",
  "conversion.created",
  "audit.created",
] as const;

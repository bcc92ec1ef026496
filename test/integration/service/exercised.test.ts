import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { BSON } from "mongodb";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import { allCollections } from "#core/storage/collections.ts";
import { liveActivityTypeCollection } from "#core/storage/live-activities/types.ts";
import { webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { bundleVariable } from "../../../dev/processes/programs.ts";
import { exercise } from "../../support/api/exercise.ts";
import { exerciseEnv } from "../../support/api/exercise-env.ts";
import { faultsOf, fill, type QueryException } from "../../support/queries/plans.ts";
import { queriesVariable, type RecordedQuery } from "../../support/queries/record-queries.ts";
import { shardFaults } from "../../support/queries/shards.ts";
import { testServers } from "../../support/servers/servers.ts";
import { readEvents } from "../../support/system/events.ts";
import { type Sending, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** One installation does everything that it can do, as that costs much: what it asked of the store and what it published. */
describe("the running service", function () {
  this.timeout(300_000);
  let sending: Sending;
  let dir: string;
  let queries: RecordedQuery[];
  let events: readonly EventEnvelope[];

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers, { messages_per_month: 1_000_000 });
    const { system } = sending;
    const stream = await readEvents(servers.natsUrl, system.prefix);
    dir = await mkdtemp(join(testDir, "queries-"));
    const file = join(dir, "queries.jsonl");
    const recorder = new URL("../../support/queries/record-queries.ts", import.meta.url).pathname;
    const env = {
      NODE_OPTIONS: `--import=${recorder}`,
      [queriesVariable]: file,
      [bundleVariable]: "", // the recorder wraps the driver in node_modules
      ...(await exerciseEnv(sending)),
    };
    const [api, dispatcher] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
    await exercise(sending, api);
    await changeSettings(sending, api);
    const isWhole = async (): Promise<boolean> => unasked((queries = await recordedIn(file))).length === 0;
    await until(isWhole, 30_000).catch(() => undefined); // dispatchers write some things later; a test says what is missing
    const areThere = () => emitted.every((kind) => stream.all().some(({ type }) => type === kind));
    await until(areThere, 20_000).catch(() => undefined);
    await stream.close();
    events = stream.all();
    await Promise.all([api.kill(), dispatcher.kill()]); // they would work on what comes now
    await fill(system.db, 4_000);
  });

  /** Queries that count, of one collection or of all: as the driver counts, or devices of an activity by their state. */
  const countsOf = (of: string): RecordedQuery[] =>
    queries.filter(
      ({ collection, pipeline = [] }) =>
        [collection, ""].includes(of) && pipeline.some((step) => counting.some((how) => isDeepStrictEqual(step, how))),
    );

  after(async () => {
    await sending?.system.db.dropDatabase(); // it is large
    await sending?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("publishes events that fit the schemas of their kinds", () => {
    const kinds = new Set(events.map(({ type }) => type));
    expect([...kinds]).to.include.members(emitted);
    for (const kind of kinds) {
      const { data: schema, emitted: isEmitted } = eventTypes[kind];
      expect(isEmitted, `${kind} is emitted`).to.equal(true);
      const parse = parser(schema, { prefix: kind });
      for (const { data, type } of events) if (type === kind) expect(() => parse(data), kind).not.to.throw();
    }
  });

  it("has queries that are found in an index, and sorted by it", async () => {
    const faults = await faultsOf(sending.system.db, queries, exceptions);
    expect(faults, faults.map((fault) => JSON.stringify(fault)).join("\n")).to.deep.equal([]);
  });

  it("has queries that have the key of their shard, or a reason to ask all, and inserts that say where they belong", () => {
    expect(shardFaults(queries)).to.deep.equal({ unexplained: [], unneeded: [], misplaced: [] });
  });

  it("has queries that are ended by the server when a request waits for them too long", () => {
    const endless = queries.filter(({ isEndless }) => isEndless);
    expect(new Set(endless.map(({ collection }) => collection))).to.have.all.keys(atStart);
  });

  it("counts no further than somebody asked for", () => {
    const counts = countsOf("");
    expect(counts.map(({ collection }) => collection)).to.include.members([
      "subscriptions",
      "live_activity_recipients",
    ]);
    const endless = counts.filter(({ pipeline = [] }) => !pipeline.some((step) => "$limit" in step));
    expect(endless.filter(({ collection }) => !few.includes(collection))).to.deep.equal([]);
  });

  it("counts subscriptions by what the indexes of audiences have, so that no document is read", () => {
    const matched = countsOf("subscriptions").flatMap(({ pipeline = [] }) => pipeline.slice(0, 1));
    const asked = matched.flatMap((step) => Object.keys("$match" in step ? (step.$match ?? {}) : {}));
    expect(["app_id", "channel", "status", "_id", "test_device"]).to.include.members(asked);
  });

  it("finds what was made in a time by its ids, which are in the order of time, but for what is counted by quarters", () => {
    const ofBoth = queries.filter(({ collection }) => collection === "messages" || collection === "deliveries");
    const ofLists = ofBoth.filter(({ hint }) => hint !== "made");
    expect(ofLists.filter(({ filter }) => filter !== undefined && "created_at" in filter)).to.deep.equal([]);
  });

  it("asks of every collection", () => {
    expect(unasked(queries)).to.deep.equal([]);
  });
});

/** What the apiserver reads before it serves anybody. */
const atStart = ["data_version", "cursor_secrets", "key_uses", "tenants", "webhook_shares"];

/** How the driver counts documents, and how states of devices are counted. */
const counting = [{ $group: { _id: 1, n: { $sum: 1 } } }, { $group: { _id: "$state", count: { $sum: 1 } } }];
/** Settings of an app, of which it has some hundred at most. */
const few: readonly string[] = [webhookCollection.name, liveActivityTypeCollection.name];

/** Queries that may read more than an index gives them, and why. */
const exceptions: readonly QueryException[] = [
  {
    of: ({ collection, filter }) => collection === "plans" && isDeepStrictEqual(filter, {}),
    because: "there are a handful of plans, and a dispatcher serves them all",
  },
  {
    of: ({ collection, hint }) => collection === "tenants" && hint === "suspended",
    because: "the index holds the suspended tenants alone, and all of them are asked for",
  },
  {
    of: ({ collection, filter }) => collection === "subscriptions" && filter !== undefined && "user_id" in filter,
    because: "a user has 100 subscriptions at most: they are sorted when they are found",
  },
  {
    of: ({ collection, filter }) => collection === "deliveries" && filter !== undefined && "user_id" in filter,
    because: "people are sent a few messages in some days: they are sorted when they are found",
  },
  {
    of: ({ collection, filter }) => collection === "suppressions" && filter !== undefined && "subject" in filter,
    because: "an address has an entry for each channel at most: they are sorted when they are found",
  },
  {
    of: ({ collection, filter }) => collection === "webhook_deliveries" && filter !== undefined && "people" in filter,
    because: "a person's deliveries are read once, when they are erased: they are sorted when they are found",
  },
  {
    of: ({ collection, filter }) => collection === "messages" && filter !== undefined && "idempotency_key" in filter,
    because: "a key has one message",
  },
  {
    of: ({ collection, pipeline }) =>
      collection === "webhooks" && isDeepStrictEqual(pipeline?.[0], { $match: { status: "active" } }),
    because: "nearly all endpoints are active, and one process counts them once a minute",
  },
  {
    of: ({ collection, command }) => collection === "webhook_backlogs" && command === "delete",
    because: "there is a row for each tenant with a backlog, and all that were not counted again are removed",
  },
  {
    of: ({ collection, command, sort }) => collection === "cap_takes" && command === "find" && sort !== undefined,
    because: "all of them are looked through once a day, a page after another: docs/decisions/0118",
  },
];

const recordedIn = async (file: string): Promise<RecordedQuery[]> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .slice(0, -1) // behind the last end of a line there is nothing, or a line that is being written
    .map((line) => BSON.EJSON.parse(line) as RecordedQuery);

/** Collections of which nothing was asked. */
const unasked = (queries: readonly RecordedQuery[]): string[] => {
  const asked = new Set(queries.map(({ collection }) => collection));
  return allCollections.map(({ name }) => name).filter((name) => !asked.has(name));
};

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

/** Kinds of events that come of it; there may be others. */
const emitted = [
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

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { StreamInfo } from "@nats-io/jetstream";
import { expect } from "chai";
import { Redis } from "ioredis";
import { dayMs } from "#core/domain/durations.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Delivery } from "#core/schema/messages/delivery.ts";
import type { PersonalData } from "#core/schema/people/data.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import type { RemovalRow } from "#core/storage/work/removals.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { allFiles } from "../../support/files/all-files.ts";
import { testKeyRing } from "../../support/rows/fixtures.ts";
import { anInAppEvent } from "../../support/rows/in-app-event.ts";
import { aWebhook } from "../../support/rows/webhooks.ts";
import { testServers } from "../../support/servers/servers.ts";
import { aToken, deliveriesOf, type Sending, seedDevices, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("a user who is deleted or erased", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dir: string;
  let nats: Nats;
  let redis: Redis;

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    const secret = keyRing(testKeyRing).seal(
      `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
      "webhooks/whk_1/secret",
    );
    const webhook = aWebhook({
      tenant_id: system.tenantId,
      app_id: system.app._id,
      url: "http://127.0.0.1:9/", // nobody listens: deliveries wait for their next request
      secret,
      events: ["user.created", "subscription.created", "message.queued", "delivery.sent", "user.deleted"],
    });
    await system.db.collection<WebhookRow>(webhookCollection.name).insertOne(webhook);
    nats = await connectNats({ url: (await testServers()).natsUrl, name: "erasure" });
    redis = new Redis((await testServers()).redisUrl);
    dir = await mkdtemp(join(testDir, "erasure-"));
    const env = { HERALD_ALLOWED_RANGES: "127.0.0.0/8", HERALD_FILES_DIR: dir };
    [api] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
  });
  after(async () => {
    await nats?.close();
    redis?.disconnect();
    await sending?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const send = async (method: string, path: string, type: string | null, body?: string | FormData) => {
    const reply = await fetch(`${api.url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${sending.system.token}`, ...(type !== null && { "content-type": type }) },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    expect(reply.ok, text).to.equal(true);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const ask = (method: string, path: string, body?: object) =>
    send(method, path, "application/json", body && JSON.stringify(body));
  const history = () =>
    sending.system.db.collection<WebhookDeliveryRow>(webhookDeliveryCollection.name).find().toArray();

  it("leaves no trace in the history of webhooks but the news of it, and no other's history changes", async () => {
    const users = `apps/${sending.system.app._id}/users`;
    const token = aToken();
    const [gone, kept] = ["erased-person", "another-person"];
    for (const external_id of [gone, kept]) {
      const subscriptions = [{ channel: "ios_push", token: external_id === gone ? token : aToken() }];
      await ask("POST", users, { external_id, tags: { note: `tag of ${external_id}` }, subscriptions });
      await ask("POST", "notifications", {
        app_id: sending.system.app._id,
        target: { include_external_ids: [external_id] },
        contents: { en: "Hi" },
      });
    }
    const about = async (person: string) => (await history()).filter(({ payload }) => payload.includes(person));
    await until(async () => (await about(gone)).length === 4 && (await about(kept)).length === 4);
    await ask("DELETE", `${users}/by/external_id/${gone}`);

    const traces = async () => (await history()).filter((row) => JSON.stringify(row).includes(gone));
    const isNews = ({ event_type }: WebhookDeliveryRow): boolean => event_type === "user.deleted";
    await until(async () => (await history()).some(isNews) && (await traces()).every(isNews));
    const rows = await history();
    expect(rows.filter(({ payload }) => payload.includes('"erased":true'))).to.have.length(4);
    expect(JSON.stringify(rows)).not.to.include(token.slice(-8));
    expect(await about(kept)).to.have.length(4);
  });

  /** Everything that is stored and says the word: of each collection, stream, file and key of Redis. */
  const placesOf = async (word: string): Promise<string[]> => {
    const { db, prefix } = sending.system;
    const inRows = (await db.listCollections().toArray()).map(async ({ name }) => {
      const rows = await db.collection(name).find().toArray();
      return rows.filter((row) => JSON.stringify(row).includes(word)).map(() => `collection ${name}`);
    });
    const names = await allFiles(dir);
    const inFiles = names
      .filter((one) => one.isFile())
      .map(async ({ parentPath, name }) => {
        const bytes = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0)); // it was removed meanwhile
        const text = name.endsWith(".gz") ? gunzipSync(bytes).toString() : bytes.toString();
        return text.includes(word) ? [`file ${name}`] : [];
      });
    const found = await Promise.all([...inRows, ...inFiles, inStreams(nats, prefix, word), inRedis(redis, word)]);
    return found.flat().toSorted();
  };

  it("is in no collection, stream, file or key of Redis any more, but in what the reference names", async () => {
    const { app, ended, tenantId: tenant_id } = sending.system;
    const [users, mark] = [`apps/${app._id}/users`, "mallory7"];
    const [externalId, mail, token] = [`${mark}-ext`, `${mark}@example.com`, aToken()];
    const user = await ask("POST", users, {
      external_id: externalId,
      aliases: { crm: `${mark}-crm` },
      tags: { note: `${mark}-tag` },
      properties: { note: `${mark}-property` },
      subscriptions: [
        { channel: "ios_push", token },
        { channel: "email", token: mail },
      ],
    });
    await ask("POST", users, { external_id: "bystander", subscriptions: [{ channel: "ios_push", token: aToken() }] });
    const seen = { _id: `evt_${mark}`, tenant_id, app_id: app._id, user_id: String(user["id"]) };
    await sending.system.db.collection<{ _id: string }>("in_app_events").insertOne(anInAppEvent(seen));
    const list = await ask("POST", `apps/${app._id}/segments`, { name: "list", kind: "list" });
    await ask("POST", `apps/${app._id}/segments/${String(list["id"])}/members`, {
      users: [{ label: "external_id", id: externalId }],
    });
    await ask("POST", `apps/${app._id}/suppressions`, {
      channel: "email",
      address: mail,
      reason: "manual",
      note: mark,
    });
    await ask("POST", `apps/${app._id}/events`, {
      events: [{ name: "bought", external_id: externalId, properties: { mail } }],
    });
    const targets = [
      { include_external_ids: [externalId, "bystander"] },
      { include_aliases: { crm: [`${mark}-crm`] } },
      { include_subscription_ids: (user["subscriptions"] as { id: string }[]).map(({ id }) => id) },
      { all: true },
    ];
    const sent: string[] = [];
    for (const target of targets) {
      const { id } = await ask("POST", "notifications", {
        app_id: app._id,
        target,
        contents: { en: "Hi" },
        add_to_inbox: true,
      });
      sent.push(String(id));
    }
    await Promise.all(sent.map((id) => ended(id, 30_000)));
    const later = { send_after: new Date(Date.now() + dayMs).toISOString(), target: targets[0] };
    const { id: waiting } = await ask("POST", "notifications", {
      app_id: app._id,
      ...later,
      contents: { en: "Later" },
    });
    for (const type of ["users", "subscriptions", "deliveries", "events"] as const)
      await ask("POST", `apps/${app._id}/exports`, {
        type,
        compression: type === "users" ? "gzip" : "none",
        ...(type === "events" && { filters: { name: "bought" } }),
      });
    const form = new FormData();
    form.append("type", "csv_users");
    form.append("file", new Blob([`external_id,channel,token\n${externalId},email,no address\n`]), "users.csv");
    await send("POST", `apps/${app._id}/imports`, null, form);
    const isMade = async (name: string, count: number) =>
      (await readdir(dir, { recursive: true })).filter((path) => path.includes(name)).length === count;
    await until(async () => (await isMade(".csv", 5)) && (await isMade("report.csv", 1)), 40_000);
    expect(await placesOf(mark)).to.include.members([
      "collection deliveries",
      "collection events",
      "collection messages",
      "collection subscriptions",
      "collection suppressions",
      "collection users",
      "collection webhook_deliveries",
      "file report.csv",
    ]);
    expect((await placesOf(String(user["id"]))).filter((one) => one.startsWith("file exp_"))).to.have.length(4);

    expect(await placesOf(String(user["id"]))).to.include.members(["collection inbox_items", "collection inboxes"]);
    const shown = (await ask("GET", `${users}/by/external_id/${externalId}/data`)) as PersonalData;
    expect(shown.user).to.include({ id: user["id"], external_id: externalId });
    expect(shown.addresses.map((one) => one.token)).to.have.members([token, mail]);
    expect(shown.suppressions.map(({ note }) => note)).to.deep.equal([mark]);
    expect(shown.events.map(({ name, properties }) => [name, properties])).to.deep.equal([["bought", { mail }]]);
    expect(shown.inbox.map(({ message_id: id }) => id)).to.have.members(sent);
    expect(shown.deliveries.map(({ message_id: id }) => id)).to.have.members(sent);

    await ask("POST", `${users}/by/external_id/${externalId}/erase`);
    const kept = ["collection messages", "collection removals", "collection webhook_deliveries"];
    const left = async (word: string) => [...new Set(await placesOf(word))];
    await until(async () => (await left(mark)).join() === kept.join(), 40_000).catch(async () =>
      expect(await left(mark)).to.deep.equal(kept),
    );
    const { db } = sending.system;
    const naming = await db.collection<MessageRow>("messages").find().toArray();
    const those = naming.filter((row) => JSON.stringify(row).includes(mark)).map(({ _id }) => _id);
    expect(those, "a message that waits goes by its target").to.deep.equal([waiting]);
    const named = (await history()).filter((row) => JSON.stringify(row).includes(mark));
    expect(named.map(({ event_type: type }) => type)).to.deep.equal(["user.deleted"]);
    const [first = ""] = sent;
    const { data } = await ask("GET", `notifications/${first}/deliveries`);
    const deliveries = (data as Delivery[]).map(({ user_id, external_id, address_masked }) => [
      user_id === null,
      external_id,
      address_masked === null,
    ]);
    expect(deliveries).to.have.deep.members([
      [true, null, true],
      [false, "bystander", false],
    ]);
    const ofId = ["collection deletions", "collection removals", "collection webhook_deliveries"];
    expect(await left(String(user["id"]))).to.deep.equal(ofId);

    await ask("DELETE", `notifications/${String(waiting)}`);
    await db
      .collection<RemovalRow>("removals")
      .updateOne({ _id: String(user["id"]) }, { $set: { due_at: new Date() } });
    await until(async () => !(await left(mark)).includes("collection messages"));
  });

  it("is erased while a message is being sent to them, and of that message's deliveries, too", async () => {
    const { system, apns } = sending;
    const { app, db } = system;
    const [users, externalId] = [`apps/${app._id}/users`, "erased-in-the-middle"];
    const devices = await seedDevices(system, 40);
    const { id: userId } = await ask("POST", users, {
      external_id: externalId,
      subscriptions: [{ channel: "ios_push", token: aToken() }],
    });
    apns.script({ delay_ms: 700 });
    const { id } = await ask("POST", "notifications", {
      app_id: app._id,
      target: { all: true },
      contents: { en: "Hi" },
    });
    const messages = db.collection<MessageRow>("messages");
    await until(async () => (await messages.findOne({ _id: String(id) }))?.status === "processing");
    await ask("POST", `${users}/by/external_id/${externalId}/erase`);
    const { counts } = await system.ended(String(id), 30_000);
    apns.script({});
    expect(counts.targeted).to.be.within(devices.length, devices.length + 4);
    const removals = db.collection<RemovalRow>("removals");
    const passed = async (passes: number) => {
      const row = await removals.findOne({ _id: String(userId) });
      return row !== null && row.lease === null && row.passes >= passes;
    };
    await until(() => passed(1));
    await removals.updateOne({ _id: String(userId) }, { $set: { due_at: new Date() } }); // a minute later
    await until(() => passed(2));
    expect(JSON.stringify(await deliveriesOf(system, String(id)))).not.to.match(
      new RegExp(`${externalId}|${String(userId)}`),
    );
  });
});

/** Keys of Redis that say a word, by their names or in what they hold; files beside this one use it too, with other words. */
const inRedis = async (redis: Redis, word: string): Promise<string[]> => {
  const found: string[] = [];
  for await (const page of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>) {
    const held = await Promise.all(page.map((key) => redis.dumpBuffer(key)));
    for (const [at, key] of page.entries())
      if (key.includes(word) || held[at]?.includes(word) === true) found.push(`redis ${key.replace(word, "…")}`);
  }
  return found;
};

/** Streams of an installation whose messages say a word. */
const inStreams = async ({ jsm }: Nats, prefix: string, word: string): Promise<string[]> => {
  const ours: StreamInfo[] = [];
  for await (const one of jsm.streams.list())
    if (one.config.name.startsWith(prefix) && one.state.messages > 0) ours.push(one);
  const found: string[] = [];
  for (const { config, state } of ours)
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await jsm.streams.getMessage(config.name, { seq }).catch(() => null); // it was removed meanwhile
      if (message?.string().includes(word) === true) found.push(`stream ${config.name}`);
    }
  return found;
};

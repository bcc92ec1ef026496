import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { variantOf } from "#core/domain/experiments/assignment.ts";
import { type InboxRow, inboxes } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import { shownInboxes } from "#core/storage/inbox/shown.ts";
import { newSecret } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { openStream } from "../../support/api/event-stream.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { call, to } from "../../support/system/calling.ts";
import { deliveriesOf, post, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;

describe("inboxes", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatchers: SystemProgram[];

  before(async () => {
    sending = await startSending(await testServers());
    const programs = ["apiserver", "dispatcher", "dispatcher"] as const;
    [api, ...dispatchers] = (await Promise.all(programs.map((program) => sending.system.start(program)))) as [
      SystemProgram,
      ...SystemProgram[],
    ];
  });
  after(() => sending?.close());

  const another = async (): Promise<System> => ({ ...sending.system, ...(await sending.system.another()) });
  const ask = async (system: System, method: string, path: string, body?: object) => {
    const reply = await call(api)(system, method, `/v1/apps/${system.app._id}/${path}`, body);
    expect(reply.status, `${method} ${path}`).to.be.below(300);
    return reply.body as { inbox?: { title: string }[] };
  };
  const inboxOf = (system: System, userId: string) =>
    shownInboxes(system.db)({ tenantId: system.tenantId, appId: system.app._id }, userId, { now: new Date() });
  const sent = async (system: System, body: object): Promise<string> => {
    const id = await send(system, api, { add_to_inbox: true, ...body });
    await system.ended(id, withinMs);
    return id;
  };

  it("have what each person was sent, once for all of their devices, in their form and language", async () => {
    const system = await another();
    const phones = await seedDevices(system, 20, { language: "de" });
    const [first] = phones;
    const tablets = await seedDevices(system, 1, { user_id: first?.user_id ?? "", language: "de" });
    const variants = [
      { name: "plain", weight_percent: 40 },
      { name: "loud", weight_percent: 40, headings: { en: "Loud", de: "Laut" } },
      { name: "silence", weight_percent: 20, is_control: true },
    ];
    const id = await sent(system, {
      ...to([...phones, ...tablets]),
      headings: { en: "Title", de: "Titel" },
      contents: { en: "Body" },
      url: "https://shop.example/1",
      data: { order: "1" },
      buttons: [{ id: "open", text: "Open" }],
      category: "news",
      inbox_ttl: 3_600,
      variants,
    });
    for (const { user_id: userId } of phones) {
      const { items, placeOf: _, ...counts } = await inboxOf(system, userId);
      const form = variantOf(id, variants, userId)?.name;
      if (form === "silence") {
        expect(items).to.have.length(0);
        continue;
      }
      expect(counts).to.deep.equal({ revision: 1, unread: 1, unseen: 1 });
      expect(items).to.have.length(1);
      expect(items[0]).to.deep.include({
        message_id: id,
        title: form === "loud" ? "Laut" : "Titel",
        body: "Body",
        url: "https://shop.example/1",
        data: { order: "1" },
        actions: [{ id: "open", text: "Open", url: null }],
        category: "news",
      });
      expect(items.map(({ created_at: at, expires_at: end }) => end.getTime() - at.getTime())).to.deep.equal([
        3_600_000,
      ]);
    }
  });

  it("tell the streams that devices have open of what is sent", async () => {
    const system = await another();
    const { text, hash } = newSecret();
    const devices = await seedDevices(system, 1, { install: { id: randomUUID(), secret_hash: hash } });
    const headers = { "X-HS-App-Id": system.app._id, "X-HS-Subscription-Token": text };
    const stream = await openStream(api.url, headers);
    expect((await stream.next()).data).to.include({ unread_count: 0, revision: 0 });
    await sent(system, { ...to(devices), contents: { en: "Live" } });
    const { data } = await stream.next();
    expect([data.unread_count, data.items.map(({ body }) => body)]).to.deep.equal([1, ["Live"]]);
    await stream.close();
  });

  it("have nothing for who is left out, and make room by the app's bound", async () => {
    const system = await another();
    await ask(system, "PATCH", "settings", {
      inbox: { max_items: 2 },
      frequency_caps: [{ name: "few", max: 3, per: "day" }],
    });
    const devices = await seedDevices(system, 3);
    const messages: string[] = [];
    for (const n of [1, 2, 3, 4]) messages.push(await sent(system, { ...to(devices), contents: { en: `${n}` } }));
    const reasons = (await deliveriesOf(system, messages[3] ?? "")).map(({ suppression_reason: why }) => why);
    expect(new Set(reasons)).to.deep.equal(new Set(["frequency_cap"]));
    for (const { user_id: userId } of devices) {
      const { items, unread, unseen } = await inboxOf(system, userId);
      expect([items.map(({ body }) => body), unread, unseen]).to.deep.equal([["3", "2"], 2, 2]);
    }
    const rows = await system.db.collection("inbox_items").find({ app_id: system.app._id }).toArray();
    expect(rows).to.have.length(6);
  });

  it("say what a template makes for each, and nothing where it aborts", async () => {
    const system = await another();
    const [one, other] = await seedDevices(system, 2);
    const made = (await ask(system, "POST", "templates", {
      name: "greeting",
      content: {
        headings: {
          en: "{% if subscription.id == custom_data.out %}{% abort 'no' %}{% endif %}For {{ subscription.id }}",
        },
        contents: { en: "x" },
      },
    })) as { id?: string };
    await ask(system, "POST", `templates/${made.id}/publish`);
    await sent(system, {
      ...to([one, other] as SubscriptionRow[]),
      template_id: made.id,
      custom_data: { out: other?._id },
    });
    expect((await inboxOf(system, one?.user_id ?? "")).items.map(({ title }) => title)).to.deep.equal([
      `For ${one?._id}`,
    ]);
    expect((await inboxOf(system, other?.user_id ?? "")).items).to.have.length(0);
  });

  it("have each item exactly once although dispatchers are killed while they send", async () => {
    const system = await another();
    const devices = await seedDevices(system, 600);
    sending.apns.script({ delay_ms: 150 });
    const id = await send(system, api, { ...to(devices), contents: { en: "Hi" }, add_to_inbox: true });
    const rows = system.db.collection<InboxItemRow>("inbox_items");
    await until(async () => (await rows.countDocuments({ message_id: id })) > 50, withinMs);
    const [killed, ...left] = dispatchers;
    await killed?.kill();
    dispatchers = [...left, await sending.system.start("dispatcher")];
    sending.apns.script({});
    await system.ended(id, withinMs);
    const found = await system.db.collection<InboxRow>("inboxes").find({ app_id: system.app._id }).toArray();
    expect(found).to.have.length(600);
    for (const { entries, unread, unseen, revision } of found)
      expect([entries.length, unread, unseen, revision]).to.deep.equal([1, 1, 1, 1]);
    expect(await rows.countDocuments({ message_id: id })).to.equal(600);
  });

  it("count right whatever happens at the same moment", async () => {
    const { db, app, tenantId } = await another();
    const store = inboxes(db);
    const [of, userId, now] = [{ tenantId, appId: app._id }, `usr_${app._id}`, new Date()];
    const item = (n: number): InboxItemRow => ({
      _id: `itm_${app._id}_${n}`,
      tenant_id: tenantId,
      app_id: app._id,
      user_id: userId,
      message_id: `msg_${n}`,
      category: null,
      title: null,
      body: `${n}`,
      image_url: null,
      url: null,
      data: {},
      actions: [],
      created_at: now,
      expires_at: new Date(now.getTime() + 60_000),
    });
    const add = (n: number) => store.add(of, { messageId: `msg_${n}`, items: [item(n)], most: 1_000, now });
    await add(0);
    const numbers = Array.from({ length: 12 }, (_, n) => n);
    await Promise.all([
      ...numbers.map(add),
      store.change({ userId, ids: "all", state: "seen", now, from: null }),
      store.change({ userId, ids: "all", state: "read", now, from: null }),
    ]);
    const inbox = await store.read(of, userId, now);
    expect(inbox?.entries).to.have.length(12);
    const open = (member: "seen_at" | "read_at") => inbox?.entries.filter((one) => one[member] === undefined).length;
    expect(inbox).to.include({ unread: open("read_at"), unseen: open("seen_at") });
    expect(await store.read({ ...of, tenantId: "ten_other" }, userId, now)).to.equal(null);
    const later = await store.read(of, userId, new Date(now.getTime() + 60_001));
    expect(later).to.include({ unread: 0, unseen: 0 });
  });

  it("go with a user who is merged into another, and are among their personal data", async () => {
    const system = await another();
    const phone = { channel: "ios_push", token: "ab".repeat(32) };
    await ask(system, "POST", "users", { external_id: "old", subscriptions: [phone] });
    await ask(system, "POST", "users", { external_id: "new" });
    await sent(system, { target: { include_external_ids: ["old"] }, headings: { en: "Kept" } });
    await ask(system, "POST", "users/by/external_id/old/merge", { into: { label: "external_id", id: "new" } });
    const { inbox } = await ask(system, "GET", "users/by/external_id/new/data");
    expect(inbox?.map(({ title }) => title)).to.deep.equal(["Kept"]);
    await ask(system, "DELETE", "users/by/external_id/new");
    const left = async () =>
      (await system.db.collection("inboxes").countDocuments({ app_id: system.app._id })) +
      (await system.db.collection("inbox_items").countDocuments({ app_id: system.app._id }));
    await until(async () => (await left()) === 0);
  });

  it("are refused for what they could not show or keep, each by name", async () => {
    const closed = await another();
    await ask(closed, "PATCH", "settings", { inbox: { enabled: false } });
    const secret = await another();
    await ask(secret, "PATCH", "settings", { redact_payloads: true });
    const wrong: [system: System, body: object, field: string][] = [
      [sending.system, { inbox_ttl: 60 }, "inbox_ttl"],
      [sending.system, { add_to_inbox: true, inbox_ttl: 59 }, "inbox_ttl"],
      [sending.system, { add_to_inbox: true, contents: {}, data: { a: "b" } }, "contents"],
      [sending.system, { add_to_inbox: true, redact_payload: true }, "add_to_inbox"],
      [closed, { add_to_inbox: true }, "add_to_inbox"],
      [secret, { add_to_inbox: true }, "add_to_inbox"],
    ];
    for (const [system, body, field] of wrong) {
      const reply = await post(system, api, { target: { all: true }, ...body });
      const { error } = reply.body as { error?: { details: { field: string } } };
      expect([reply.status, error?.details.field], JSON.stringify(body)).to.deep.equal([400, field]);
    }
  });
});

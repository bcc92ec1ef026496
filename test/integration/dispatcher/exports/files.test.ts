import { expect } from "chai";
import { derivedId, instantOfId, newId } from "#core/domain/ids.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { downloaded, type ExportReply, exportCalls, rowsOf, startExporting } from "../../../support/system/exports.ts";
import type { System } from "../../../support/system/system.ts";

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const positionAt = (minute: number): string => newId("delivery", at(minute)).slice("dlv_".length);

describe("the file of an export", () => {
  let system: System;
  let calls: ReturnType<typeof exportCalls>;
  let messages: MessageRow[];

  before(async () => {
    system = await startExporting();
    const [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    calls = exportCalls(system, api);
    messages = [0, 1, 2].map((n) => aMessage({ ...of(), _id: newId("message", at(n)), due_at: null }));
    await system.db.collection<MessageRow>("messages").insertMany(messages);
  });
  after(() => system?.stop());

  const of = () => ({ tenant_id: system.tenantId, app_id: system.app._id });
  const other = { tenant_id: "ten_other", app_id: "app_other" };
  const made = async (wanted: Partial<ExportRow>): Promise<ExportReply> => {
    const row = anExport({ ...of(), ...wanted });
    await system.db.collection<ExportRow>("exports").insertOne(row); // the interface takes ten a minute
    return calls.ended(row._id);
  };
  const rows = async (body: Partial<ExportRow>): Promise<Record<string, string>[]> => {
    const { status, row_count: count, download_url: address } = await made(body);
    expect(status).to.equal("completed");
    const found = await rowsOf(await downloaded(address));
    expect(found).to.have.length(count ?? -1);
    return found;
  };
  const aDelivery = (change: Partial<DeliveryRow>, minute = 5): DeliveryRow => ({
    _id: newId("delivery", at(minute)),
    ...of(),
    message_id: messages[0]?._id ?? "",
    subscription_id: "sub_1",
    user_id: "usr_1",
    channel: "ios_push",
    address_masked: "•••",
    position: positionAt(minute),
    status: "sent",
    sent_at: at(minute),
    attempts: 1,
    created_at: at(minute),
    updated_at: at(minute),
    ...change,
  });

  it("of users has every user of the app once, over many pages, and nobody of another app", async () => {
    const users = Array.from({ length: 2_500 }, () => aUser({ ...of() }));
    const hard = aUser({
      ...of(),
      external_id: '=HYPERLINK("http://x")',
      tags: { plan: 'a "gold", one', place: "Zürich\nWest" },
      properties: { n: [1, { deep: null }] },
    });
    await seed(system.db, { users: [...users, hard, aUser(other)] });
    const found = await rows({ type: "users" });
    expect(found.map((row) => row["id"])).to.deep.equal([...users, hard].map(({ _id }) => _id).sort());
    const shown = found.find((row) => row["id"] === hard._id);
    expect(shown).to.deep.equal({
      id: hard._id,
      external_id: `'=HYPERLINK("http://x")`,
      tags: JSON.stringify(hard.tags),
      properties: JSON.stringify(hard.properties),
      session_count: "0",
      first_seen_at: hard.first_seen_at.toISOString(),
      last_active_at: hard.last_active_at.toISOString(),
      created_at: hard.created_at.toISOString(),
    });
  });

  it("begins with a byte order mark and the names of the columns", async () => {
    const { download_url: address, size_bytes: bytes } = await made({ type: "suppressions" });
    const reply = await fetch(address ?? "");
    expect(reply.headers.get("content-type")).to.equal("text/csv; charset=utf-8");
    expect(reply.headers.get("content-disposition")).to.match(/^attachment; filename="suppressions-exp_\w+\.csv"$/);
    const file = Buffer.from(await reply.arrayBuffer());
    expect(file.byteLength).to.equal(bytes);
    expect(file.subarray(0, 5).toString("latin1")).to.equal("\xEF\xBB\xBFid");
  });

  it("is packed when that is asked for", async () => {
    const { download_url: address } = await made({ type: "suppressions", compression: "gzip" });
    expect(new URL(address ?? "").pathname).to.match(/\.csv\.gz$/);
    expect(await downloaded(address)).to.match(/^\uFEFFid,channel,address,.*\r\n$/);
  });

  it("of subscriptions masks tokens, and has those of a channel and status alone", async () => {
    const token = `${"a".repeat(56)}12345678`;
    const wanted = aSubscription({ ...of(), token, device: { model: "iPhone17,1" }, test_device: true });
    const others = [
      aSubscription({ ...of(), channel: "email", token: "anna@example.com" }),
      aSubscription({ ...of(), channel: "sms", token: "+4915112345678" }),
      aSubscription({ ...of(), status: "unsubscribed", unsubscribed_at: at(1) }),
    ];
    await seed(system.db, { subscriptions: [wanted, ...others, aSubscription(other)] });
    const all = await rows({ type: "subscriptions" });
    expect(all).to.have.length(4);
    const text = JSON.stringify(all);
    for (const { token } of [wanted, ...others]) expect(text).not.to.include(token);
    expect(all.find((row) => row["channel"] === "sms")?.["token_masked"]).to.match(/^'\+/); // no formula
    const [only, ...more] = await rows({
      type: "subscriptions",
      filters: { channel: "ios_push", status: "subscribed" },
    });
    expect(more).to.deep.equal([]);
    expect(only).to.deep.equal({
      id: wanted._id,
      user_id: wanted.user_id,
      external_id: "",
      channel: "ios_push",
      status: "subscribed",
      token_masked: "•••12345678",
      device: '{"model":"iPhone17,1"}',
      test_device: "true",
      last_active_at: wanted.last_active_at.toISOString(),
      unsubscribed_at: "",
      created_at: wanted.created_at.toISOString(),
    });
  });

  describe("about messages", () => {
    let deliveries: DeliveryRow[];
    let clicked: DeliveryRow;
    before(async () => {
      const [a = "", b = "", c = ""] = messages.map(({ _id }) => _id);
      // more than two pages of one message, one with a few, and one whose deliveries came an hour later
      const many = Array.from({ length: 2_300 }, (_, n) =>
        aDelivery({ message_id: a, position: `${positionAt(5)}${String(n).padStart(5, "0")}` }),
      );
      const click = { status: "clicked", delivered_at: at(6), opened_at: at(7), clicked_at: at(8) } as const;
      clicked = aDelivery({ message_id: b, ...click, clicked_url: "https://x.example/a,b", external_id: "+ann" });
      const suppressed = aDelivery({ message_id: b, status: "suppressed", suppression_reason: "frequency_cap" });
      delete suppressed.sent_at;
      const refusal = { error_code: "HARD_BOUNCE", error_message: "550 no such user", provider_code: "550" } as const;
      const bounced = aDelivery(
        {
          message_id: c,
          channel: "email",
          status: "bounced",
          bounce_type: "hard",
          bounced_at: at(66),
          ...refusal,
        },
        65,
      );
      deliveries = [...many, clicked, suppressed, bounced];
      await system.db.collection<DeliveryRow>("deliveries").insertMany([...deliveries]);
      const foreign = aDelivery({ ...other, message_id: "msg_other" });
      await system.db.collection<DeliveryRow>("deliveries").insertOne(foreign);
    });

    const idsOf = (found: Record<string, string>[]) => found.map((row) => row["id"] ?? "").sort();
    const idsWhere = (is: (row: DeliveryRow) => boolean) =>
      deliveries
        .filter(is)
        .map(({ _id }) => _id)
        .sort();

    it("of deliveries has each once, with its instants", async () => {
      const found = await rows({ type: "deliveries" });
      expect(idsOf(found)).to.deep.equal(idsWhere(() => true));
      expect(found.find((row) => row["id"] === clicked._id)).to.deep.equal({
        id: clicked._id,
        message_id: clicked.message_id,
        campaign_id: "",
        subscription_id: "sub_1",
        user_id: "usr_1",
        channel: "ios_push",
        status: "clicked",
        error_code: "",
        suppression_reason: "",
        sent_at: at(5).toISOString(),
        delivered_at: at(6).toISOString(),
        opened_at: at(7).toISOString(),
        clicked_at: at(8).toISOString(),
        created_at: at(5).toISOString(),
      });
    });

    it("of deliveries heeds each filter", async () => {
      const [, b = ""] = messages.map(({ _id }) => _id);
      const filtered = async (filters: ExportRow["filters"]) => idsOf(await rows({ type: "deliveries", filters }));
      expect(await filtered({ message_id: b })).to.deep.equal(idsWhere((row) => row.message_id === b));
      expect(await filtered({ status: "bounced" })).to.deep.equal(idsWhere((row) => row.status === "bounced"));
      expect(await filtered({ from: at(60).toISOString() })).to.deep.equal(idsWhere((row) => row.created_at >= at(60)));
      const before = { from: at(5).toISOString(), to: at(59).toISOString(), message_id: b };
      expect(await filtered(before)).to.deep.equal(idsWhere((row) => row.message_id === b));
      expect(await filtered({ campaign_id: "cmp_1" })).to.deep.equal([]);
      expect(await filtered({ message_id: "msg_other" })).to.deep.equal([]);
    });

    it("of message events has a row for each thing that happened, under the id of its webhook event", async () => {
      const [, b = "", c = ""] = messages.map(({ _id }) => _id);
      const found = await rows({ type: "message_events", filters: { message_id: b } });
      expect(found.map((row) => [row["event"], row["occurred_at"]])).to.have.deep.members([
        ...[b, b].map((id) => ["queued", instantOfId(id).toISOString()]),
        ["sent", at(5).toISOString()],
        ["delivered", at(6).toISOString()],
        ["opened", at(7).toISOString()],
        ["clicked", at(8).toISOString()],
        ["suppressed", at(5).toISOString()],
      ]);
      expect(Object.keys(found[0] ?? {})).to.have.length(22);
      const click = found.find((row) => row["event"] === "clicked");
      expect(click).to.include({ url: "https://x.example/a,b", external_id: "'+ann", machine: "false" });
      expect(click?.["id"]).to.equal(
        derivedId("event", "delivery.clicked", clicked._id, at(8).toISOString(), "https://x.example/a,b", ""),
      );
      const [bounce, ...more] = await rows({ type: "message_events", filters: { message_id: c, status: "bounced" } });
      expect(more).to.deep.equal([]);
      expect(bounce).to.include({
        event: "bounced",
        bounce_type: "hard",
        error_code: "HARD_BOUNCE",
        provider_code: "550",
      });
    });

    it("of message events heeds channel, events and time", async () => {
      const eventsOf = async (filters: ExportRow["filters"]) =>
        (await rows({ type: "message_events", filters })).map((row) => row["event"] ?? "").sort();
      expect(await eventsOf({ channel: "email" })).to.deep.equal(["bounced", "queued", "sent"]);
      expect(await eventsOf({ events: ["opened", "clicked"] })).to.deep.equal(["clicked", "opened"]);
      const between = { from: at(7).toISOString(), to: at(8).toISOString() };
      expect(await eventsOf(between)).to.deep.equal(["clicked", "opened"]);
    });

    it("is found again by the message's history, and made anew when that is asked for", async () => {
      const path = `/v1/notifications/${messages[1]?._id}/history`;
      const first = await calls.call("GET", path);
      expect(first).to.include({ httpStatus: 200, type: "deliveries", success: true });
      expect((await calls.call("GET", path)).id).to.equal(first.id);
      const ended = await calls.ended(first.id);
      expect(ended.row_count).to.equal(2);
      const again = await calls.call("GET", path);
      expect(again).to.include({ id: first.id, destination_url: again.download_url });
      const fresh = await calls.call("GET", `${path}?fresh=true`);
      expect(fresh.id).not.to.equal(first.id);
      const byClick = await calls.call("POST", path, { events: "clicked" });
      expect((await calls.ended(byClick.id)).row_count).to.equal(1);
      expect((await calls.call("POST", path, { email: "a@example.com" })).httpStatus).to.equal(400);
    });

    it("is the same one for the same events within a minute", async () => {
      const path = `/v1/notifications/${messages[1]?._id}/export_events`;
      const [one, same] = [
        await calls.call("POST", path, { events: ["sent"] }),
        await calls.call("POST", path, { events: ["sent"] }),
      ];
      expect(same.id).to.equal(one.id);
      expect((await calls.call("POST", path, { events: ["opened"] })).id).not.to.equal(one.id);
      const ended = await calls.ended(one.id);
      expect(ended).to.include({ status: "completed", row_count: 1, type: "message_events" });
      expect((await calls.call("POST", path, { events: ["sent"] }))["csv_file_url"]).to.be.a("string");
    });
  });

  it("of suppressions has their addresses, of a channel and a time", async () => {
    const rowOf = (change: Partial<SuppressionRow>, minute: number): SuppressionRow => ({
      _id: newId("suppression", at(minute)),
      ...of(),
      channel: "email",
      subject: `s${minute}`,
      address: "anna@example.com",
      external_id: null,
      user_id: null,
      people: [],
      reason: "manual",
      source: "api",
      categories: ["news"],
      note: "-- asked, twice",
      expires_at: null,
      revision: 0,
      created_at: at(minute),
      updated_at: at(minute),
      ...change,
    });
    const made = [rowOf({}, 1), rowOf({ channel: "sms", address: "+4915112345678" }, 2), rowOf({}, 3)];
    await system.db.collection<SuppressionRow>("suppressions").insertMany([...made]);
    const found = await rows({ type: "suppressions", filters: { channel: "email", to: at(2).toISOString() } });
    expect(found.map((row) => row["id"])).to.deep.equal([made[0]?._id]);
    expect(found[0]).to.include({ address: "anna@example.com", note: "'-- asked, twice", categories: '["news"]' });
  });
});

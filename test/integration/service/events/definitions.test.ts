import { expect } from "chai";
import type { EventDefinition, EventDefinitionDetail } from "#core/schema/events/definition.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { aUser, seed } from "../../../support/rows/fixtures.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { useEventSystem } from "../../../support/system/event-system.ts";
import { until } from "../../../support/until.ts";

const countedMs = 20_000;
const hourMs = 3_600_000;
const campaign = "spring";

describe("event definitions", () => {
  const { system, api, stream } = useEventSystem();

  type Reply = EventDefinitionDetail & {
    accepted: number;
    errors: { index: number; code: string }[];
    error: { details: Record<string, unknown> };
  };

  const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: Reply }> => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/events${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as Reply };
  };
  const publish = (...events: object[]) => ask("POST", "", { events });
  const detail = async (name: string): Promise<EventDefinitionDetail> =>
    (await ask("GET", `/definitions/${encodeURIComponent(name)}`)).body;
  const change = (name: string, body: object) => ask("PATCH", `/definitions/${name}`, body);
  const counted = (name: string, count: number) =>
    until(async () => (await detail(name)).count_30d === count, countedMs);
  const toldOf = (kind: string, name: string) =>
    stream.all().filter(({ type, data }) => type === kind && [data["name"], data["event_name"]].includes(name));

  it("are there from the first event on, and show what came by day, by whom, and with which properties", async () => {
    const [today, yesterday] = [0, 24].map((hours) => new Date(Date.now() - hours * hourMs).toISOString()) as [
      string,
      string,
    ];
    const { body } = await publish(
      {
        name: " cart/öffnet ",
        external_id: "ann",
        properties: { total: 9.5, at: "2026-11-23", mail: "ann@example.com" },
        occurred_at: today,
      },
      { name: "cart/öffnet", external_id: "ann", properties: { total: "9.50", currency: "EUR" }, occurred_at: today },
      { name: "cart/öffnet", external_id: "bob", properties: { total: null, currency: "EUR" }, occurred_at: yesterday },
      { name: "cart/öffnet", occurred_at: today },
    );
    expect(body).to.deep.include({ accepted: 4, errors: [] });
    expect(await detail("cart/öffnet")).to.include({ name: "cart/öffnet", is_conversion: false, retention_days: null });
    await counted("cart/öffnet", 4);
    const { daily, properties, properties_schema: schema } = await detail("cart/öffnet");
    expect(daily).to.have.length(30);
    const shownOf = (at: string) => daily.filter(({ date }) => date === at.slice(0, 10));
    expect([yesterday, today].map((at) => shownOf(at).map(({ count, users }) => [count, users]))).to.deep.equal([
      [[1, 1]],
      [[3, 1]],
    ]);
    expect(daily.at(-1)?.date).to.be.oneOf([today, new Date().toISOString()].map((at) => at.slice(0, 10)));
    expect(schema).to.deep.equal({ total: "mixed", at: "datetime", mail: "string", currency: "string" });
    const shown = Object.fromEntries(properties.map(({ key, values }) => [key, values]));
    expect(shown).to.deep.equal({
      total: [
        { value: "9.5", count: 1 },
        { value: "9.50", count: 1 },
      ],
      at: [{ value: "2026-11-23", count: 1 }],
      mail: [],
      currency: [{ value: "EUR", count: 2 }],
    });
    expect(JSON.stringify(await system.db.collection("event_values").find().toArray())).to.not.include("ann@");
  });

  it("are changed, and an audit event says so; what changes nothing says nothing", async () => {
    await publish({ name: "changed" });
    const set = { display_name: "Changed", outcome_unique: true, retention_days: 30 };
    const { status, body } = await change("changed", set);
    expect(status).to.equal(200);
    expect(body).to.include(set);
    expect((await change("changed", set)).body.updated_at).to.equal(body.updated_at);
    expect((await change("changed", { display_name: null })).body.display_name).to.equal(null);
    const audits = () =>
      stream
        .all()
        .filter(({ type, data }) => type === "audit.created" && data["action"] === "event_definition.updated");
    await until(() => audits().length === 2, countedMs);
    expect(audits()[0]?.data["changes"]).to.deep.equal({
      display_name: { before: null, after: "Changed" },
      outcome_unique: { before: false, after: true },
      retention_days: { before: null, after: 30 },
    });
  });

  const refused: { it: string; body: object; field: string }[] = [
    { it: "a longer retention than the plan's", body: { retention_days: 731 }, field: "retention_days" },
    { it: "a retention of no day", body: { retention_days: 0 }, field: "retention_days" },
    { it: "an empty display name", body: { display_name: "" }, field: "display_name" },
    { it: "a flag that is null", body: { is_conversion: null }, field: "is_conversion" },
    { it: "an unknown member", body: { name: "other" }, field: "name" },
  ];
  for (const { it: what, body, field } of refused) {
    it(`refuse ${what}`, async () => {
      await publish({ name: "refusing" });
      const reply = await change("refusing", body);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  it("are 404 as long as nothing came under the name", async () => {
    expect((await change("never", { is_conversion: true })).status).to.equal(404);
    expect((await ask("GET", "/definitions/never")).status).to.equal(404);
  });

  it("are at most a thousand: further names are stored, not counted, and reported", async () => {
    const other = await system.another();
    const post = async (events: object[]) => {
      const reply = await fetch(`${api.url}/v1/apps/${other.app._id}/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${other.token}`, "content-type": "application/json" },
        body: JSON.stringify({ events }),
      });
      return (await reply.json()) as { accepted: number; errors: { index: number; code: string }[] };
    };
    const names = Array.from({ length: 1_000 }, (_, n) => ({ name: `n-${String(n).padStart(4, "0")}` }));
    expect((await post(names)).errors).to.deep.equal([]);
    const { accepted, errors } = await post([{ name: "n-0007" }, { name: "one too many" }]);
    expect([accepted, errors.map(({ index, code }) => [index, code])]).to.deep.equal([2, [[1, "DEFINITION_LIMIT"]]]);
    await until(
      async () => (await system.db.collection("events").countDocuments({ app_id: other.app._id })) === 1_002,
      countedMs,
    );
    expect(await system.db.collection("event_definitions").countDocuments({ app_id: other.app._id })).to.equal(1_000);

    const page = async (query: string) => {
      const url = `${api.url}/v1/apps/${other.app._id}/events/definitions${query}`;
      const reply = await fetch(url, { headers: { authorization: `Bearer ${other.token}` } });
      return { status: reply.status, ...((await reply.json()) as { data: EventDefinition[]; next_cursor: string }) };
    };
    const first = await page("");
    const second = await page(`?cursor=${first.next_cursor}`);
    expect([first.data.length, second.data.length, second.next_cursor]).to.deep.equal([500, 500, null]);
    expect([...first.data, ...second.data].map(({ name }) => name)).to.deep.equal(names.map(({ name }) => name));
    expect((await page("?limit=501")).status).to.equal(400);
    expect((await page("?limit=2")).data.map(({ name }) => name)).to.deep.equal(["n-0000", "n-0001"]);
  });

  describe("of conversions", () => {
    /** A message that reached a user some hours ago. */
    const reached = async (userId: string, hoursAgo: number, clickedHoursAgo?: number) => {
      const id = `msg_${userId}_${hoursAgo}`;
      const of = { tenant_id: system.tenantId, app_id: system.app._id };
      const now = new Date(Date.now() - hoursAgo * hourMs);
      const message = aMessage({ ...of, _id: id, status: "completed", due_at: null, planned: true, completed_at: now });
      await system.db.collection<MessageRow>("messages").insertOne({ ...message, outbox: [] });
      const row: DeliveryRow = {
        _id: `dlv_${id}`,
        ...of,
        message_id: id,
        subscription_id: `sub_${userId}`,
        user_id: userId,
        channel: "ios_push",
        address_masked: "•••1",
        position: `0${id}`,
        status: "sent",
        sent_at: now,
        campaign_id: campaign,
        ...(clickedHoursAgo !== undefined && { clicked_at: new Date(Date.now() - clickedHoursAgo * hourMs) }),
        attempts: 1,
        created_at: now,
        updated_at: now,
      };
      await system.db.collection<DeliveryRow>("deliveries").insertOne(row);
      return id;
    };
    const aPerson = async (externalId: string): Promise<string> => {
      const user = aUser({
        tenant_id: system.tenantId,
        app_id: system.app._id,
        external_id: externalId,
        alias_keys: [`external_id:${externalId}`],
      });
      await seed(system.db, { users: [user] });
      return user._id;
    };
    const conversionsOf = (name: string) => toldOf("conversion.created", name).map(({ data }) => data);

    it("are told once each, by what led to them, and count at their messages, also those sent before", async () => {
      const [direct, influenced, cold] = [await aPerson("direct"), await aPerson("influenced"), await aPerson("cold")];
      await reached(direct, 1);
      const clicked = await reached(direct, 30, 2);
      await reached(influenced, 20);
      const latest = await reached(influenced, 3);
      await reached(cold, 25);
      await publish({ name: "paid", external_id: "nobody" });
      await counted("paid", 1);
      await change("paid", { is_conversion: true });
      await publish(
        { name: "paid", external_id: "direct", value: 19.9 },
        { name: "paid", user_id: influenced },
        { name: "paid", external_id: "cold" },
        { name: "paid" },
      );
      await until(() => conversionsOf("paid").length >= 4, countedMs);
      const told = conversionsOf("paid").map((data) => [
        data["user_id"],
        data["attribution"],
        data["message_id"],
        data["value"],
        data["window_seconds"],
        data["campaign_id"],
      ]);
      expect(told).to.have.deep.members([
        [direct, "direct", clicked, 19.9, 86_400, campaign],
        [influenced, "influenced", latest, 1, 86_400, campaign],
        [cold, "unattributed", null, 1, null, null],
        [null, "unattributed", null, 1, null, null],
      ]);
      expect(toldOf("event.received", "paid")).to.have.length(5);
      const convertedOf = async (id: string) =>
        (await system.db.collection<MessageRow>("messages").findOne({ _id: id }))?.counts.converted ?? 0;
      await until(async () => (await convertedOf(clicked)) + (await convertedOf(latest)) === 2, countedMs);
      const row = await system.db.collection<DeliveryRow>("deliveries").findOne({ _id: `dlv_${clicked}` });
      expect(row?.converted_at).to.be.instanceOf(Date);
    });

    it("count once for a person and message when they are unique, and not without a message when that is said", async () => {
      const person = await aPerson("unique");
      const id = await reached(person, 2);
      await aPerson("without");
      await publish({ name: "unique" });
      await change("unique", { is_conversion: true, outcome_unique: true, outcome_unattributed: false });
      await publish({ name: "unique", external_id: "unique" }, { name: "unique", external_id: "without" });
      await publish({ name: "unique", external_id: "unique" }, { name: "unique", external_id: "unique" });
      await counted("unique", 5);
      await until(() => conversionsOf("unique").length >= 1, countedMs);
      expect(conversionsOf("unique").map((data) => data["message_id"])).to.deep.equal([id]);
      expect(await system.db.collection("conversions").countDocuments({ event_name: "unique" })).to.equal(1);
    });
  });
});

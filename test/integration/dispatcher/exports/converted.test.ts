import { expect } from "chai";
import { derivedId, newId } from "#core/domain/ids.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import { type InAppEventRow, inAppEventCollection } from "#core/storage/in-app-messages/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { exportLines } from "../../../../dispatcher/exports/all.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { anInAppEvent } from "../../../support/rows/in-app-event.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { rowsOf } from "../../../support/system/exports.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

const aConversion = (event_id: string, over: Partial<ConversionRow>): ConversionRow => ({
  _id: `cnv_${event_id}`,
  ...of,
  event_id,
  event_name: "order.paid",
  person: null,
  user_id: null,
  external_id: null,
  value: 1,
  attribution: "direct",
  message_id: null,
  delivery_id: null,
  subscription_id: null,
  channel: null,
  among: [],
  occurred_at: at(9),
  created_at: at(9),
  ...over,
});

describe("conversions among the events of messages", () => {
  const db = testDatabase("converted", [
    conversionCollection,
    deliveryCollection,
    inAppEventCollection,
    messageCollection,
  ]);
  const [deliveryId, position] = ["dlv_1", newId("delivery", at(5)).slice("dlv_".length)];

  before(async () => {
    const message = aMessage({ ...of, _id: newId("message", at(0)), due_at: null });
    const delivery: DeliveryRow = {
      _id: deliveryId,
      ...of,
      message_id: message._id,
      subscription_id: "sub_1",
      user_id: "usr_1",
      channel: "ios_push",
      address_masked: "•••",
      position,
      status: "sent",
      sent_at: at(5),
      attempts: 1,
      created_at: at(5),
      updated_at: at(5),
    };
    await db().collection<{ _id: string }>(messageCollection.name).insertOne(message);
    await db().collection<DeliveryRow>(deliveryCollection.name).insertOne(delivery);
    const all = [
      aConversion("evt_1", { delivery_id: deliveryId }),
      aConversion("evt_2", { delivery_id: deliveryId, value: 3, occurred_at: at(10) }),
      aConversion("evt_3", { delivery_id: "dlv_other" }),
      aConversion("evt_4", { delivery_id: deliveryId, tenant_id: "ten_2", app_id: "app_2" }),
    ];
    await db().collection<ConversionRow>(conversionCollection.name).insertMany(all);
  });

  const rows = async (filters: ExportFilters, appId = of.app_id): Promise<Record<string, string>[]> => {
    const found: Buffer[] = [];
    const lines = exportLines.message_events(db(), { tenantId: of.tenant_id, appId }, filters, storedFacts(db()));
    for await (const { bytes } of lines) found.push(bytes);
    return rowsOf(Buffer.concat(found).toString());
  };
  const kinds = async (filters: ExportFilters): Promise<string[]> =>
    (await rows(filters)).map(({ event = "", occurred_at: when = "" }) => `${event} ${when.slice(11, 16)}`);

  it("have a row each, with the id of the event that told of them and what counted", async () => {
    const found = await rows({ status: "converted" });
    const shown = found.map(({ id, delivery_id: of, properties }) => [id, of, properties]);
    const told = (event: string): string => derivedId("event", "conversion.created", event);
    expect(shown).to.have.deep.members([
      [told("evt_1"), deliveryId, '{"name":"order.paid","value":1,"attribution":"direct"}'],
      [told("evt_2"), deliveryId, '{"name":"order.paid","value":3,"attribution":"direct"}'],
    ]);
  });

  it("stand beside what people did with in-app messages, which no delivery has", async () => {
    const app = "app_in_app";
    const inApp = (n: number, over: Partial<InAppEventRow>): InAppEventRow =>
      anInAppEvent({ _id: `evt_in_app_${n}`, app_id: app, external_id: "ann", at: at(n), ...over });
    const all = [
      inApp(1, {}),
      inApp(2, { type: "page_impression", page_id: "two", message_id: "iam_2" }),
      inApp(3, { type: "clicked", click_id: "go" }),
      inApp(4, { type: "dismissed", channel: "web_push", external_id: null }),
      inApp(5, { app_id: "app_other" }),
    ];
    await db().collection<InAppEventRow>(inAppEventCollection.name).insertMany(all);
    const shown = async (filters: ExportFilters) =>
      (await rows(filters, app)).map((row) => [row["id"], row["event"], row["button_id"], row["properties"]]);
    expect(await shown({})).to.deep.equal([
      ["evt_in_app_1", "in_app_impression", "", "{}"],
      ["evt_in_app_2", "in_app_impression", "", '{"page_id":"two"}'],
      ["evt_in_app_3", "in_app_clicked", "go", "{}"],
      ["evt_in_app_4", "in_app_dismissed", "", "{}"],
    ]);
    const ids = async (filters: ExportFilters) => (await shown(filters)).map(([id]) => id?.slice("evt_in_app_".length));
    expect(await ids({ message_id: "iam_2" })).to.deep.equal(["2"]);
    expect(await ids({ channel: "web_push" })).to.deep.equal(["4"]);
    expect(await ids({ status: "in_app_clicked" })).to.deep.equal(["3"]);
    expect(await ids({ from: at(2).toISOString(), to: at(3).toISOString() })).to.deep.equal(["2", "3"]);
    expect(await ids({ campaign_id: "spring" })).to.deep.equal([]);
    expect(await ids({ events: ["sent"] })).to.deep.equal([]);
    const [first] = await rows({}, app);
    expect(first).to.include({ message_id: "iam_1", delivery_id: "", user_id: "usr_1", external_id: "ann" });
  });

  it("stand beside what else happened, and heed kinds and time", async () => {
    expect(await kinds({})).to.have.members(["queued 12:00", "sent 12:05", "converted 12:09", "converted 12:10"]);
    expect(await kinds({ events: ["sent"] })).to.deep.equal(["sent 12:05"]);
    expect(await kinds({ events: ["converted"], from: at(10).toISOString() })).to.deep.equal(["converted 12:10"]);
  });
});

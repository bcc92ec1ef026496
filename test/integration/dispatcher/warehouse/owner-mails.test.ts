import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { appCollection } from "#core/storage/apps/apps.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../../dev/simulators/smtp.ts";
import { type Destination, DestinationError } from "../../../../dispatcher/warehouse/destinations/destination.ts";
import { s3Destination } from "../../../support/rows/warehouse.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { warehouseSite } from "../../../support/warehouse/site.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const tls = selfSigned();

describe("the contact of a tenant", () => {
  const db = testDatabase("warehouse_mails", [
    appCollection,
    deliveryCollection,
    tenantCollection,
    warehouseExportCollection,
    warehouseRunCollection,
  ]);
  let smtp: Simulator;
  before(async () => {
    smtp = await startSmtp({ port: 0, tls });
  });
  after(() => smtp.stop());

  it("is mailed once when an export begins to fail, and once when it is paused after 14 days; pausing ends its runs", async () => {
    const server = { url: `${smtp.url}?tls.rejectUnauthorized=false`, from: "herald@example.com" };
    const site = warehouseSite(db, ["warehouse_export"], server);
    const contact = { _id: of.tenant_id, contact_email: "anna@shop.example" } as TenantRow; // sound: no more of it is read
    await db().collection<TenantRow>(tenantCollection.name).insertOne(contact);
    const destination = s3Destination((await testServers()).s3Url);
    const began = new Date();
    const row = await site.add(destination, { ...of, name: "Lake\r\nBcc: x@y.example", failure_count: 2 });
    const away = (one: Destination): Destination => ({
      ...one,
      write: () => Promise.reject(new DestinationError("AUTH", "the store answered InvalidAccessKeyId (403)")),
    });
    const fail = async (): Promise<void> => {
      const id = await site.begin(row, new Date(0), began);
      await site.runs().updateOne({ _id: id }, { $set: { attempt: 5 } }); // the last of its attempts
      await site.run(id, { through: away });
    };
    await fail();
    await site.look(row._id);
    await site.look(row._id);
    expect(await site.exportNow(row._id)).to.include({ status: "failing", failure_count: 3 });
    await site.runs().deleteMany({});
    site.shift(14 * dayMs + 60_000);
    await fail();
    const runs = await site.runs().countDocuments();
    await site.look(row._id);
    await site.look(row._id);
    expect(await site.exportNow(row._id)).to.include({ status: "paused", pause_reason: "auth" });
    expect(await site.exportNow(row._id)).not.to.have.property("notice");
    expect(await site.runs().countDocuments(), "no further run").to.equal(runs);
    const mails = smtp.log.page().toReversed();
    const read = mails.map(({ body }) => JSON.parse(body) as { subject: string; text: string });
    expect(mails.map(({ address }) => address)).to.deep.equal(["anna@shop.example", "anna@shop.example"]);
    expect(read.map(({ subject }) => subject).toSorted()).to.deep.equal([
      "Warehouse export is failing: Lake Bcc: x@y.example (app_1)",
      "Warehouse export was paused: Lake Bcc: x@y.example (app_1)",
    ]);
    for (const { text } of read) {
      expect(text).to.include("the store answered InvalidAccessKeyId (403)").and.include(row._id);
      expect(text).not.to.include(destination.secret_access_key);
    }
  });
});

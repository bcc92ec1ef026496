import { expect } from "chai";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { eventsOf } from "../../../../dispatcher/callbacks/events.ts";
import { noon } from "../../../support/rows/work.ts";

describe("events of receipts", () => {
  const row: DeliveryRow = {
    _id: "dlv_1",
    tenant_id: "ten_1",
    app_id: "app_1",
    message_id: "msg_1",
    subscription_id: "sub_1",
    user_id: "usr_1",
    channel: "ios_push",
    address_masked: null,
    position: "1",
    status: "clicked",
    attempts: 1,
    created_at: noon,
    updated_at: noon,
  };
  const click = (at: Date, said?: string): Receipt => ({
    kind: "clicked",
    deliveryId: row._id,
    providerId: null,
    address: null,
    at,
    machine: false,
    url: null,
    buttonId: null,
    ...(said !== undefined && { said }),
  });
  const idsOf = (receipt: Receipt) => eventsOf({ row, receipt }).map(({ id }) => id);
  const later = new Date(noon.getTime() + 5_000);

  it("of a click that a device tells again are one, also where its clock is ahead", () => {
    const said = "2999-01-01T00:00:00Z";
    expect(idsOf(click(noon, said))).to.have.length(1);
    expect(idsOf(click(later, said))).to.deep.equal(idsOf(click(noon, said)));
    expect(idsOf(click(later))).not.to.deep.equal(idsOf(click(noon)));
  });

  it("of a dismissal are none", () => {
    const { deliveryId, providerId, address } = click(noon);
    expect(idsOf({ kind: "dismissed", deliveryId, providerId, address, at: noon })).to.deep.equal([]);
  });
});

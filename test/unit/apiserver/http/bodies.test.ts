import { expect } from "chai";
import { operations } from "../../../../apiserver/features.ts";

describe("the body of an operation", () => {
  for (const { id, body } of operations) {
    if (body === undefined || id === "validateNotification") continue; // its reply says what of it is wrong
    it(`of ${id} admits no member that it does not name`, () => {
      expect(body).to.include({ additionalProperties: false });
    });
  }
});

describe("an operation that makes or sends something", () => {
  const own = ["createNotification", "startLiveActivity", "updateLiveActivity", "endLiveActivity"]; // it lies in the message
  const harmless = [
    "renderTemplate",
    "previewWebhook",
    "previewSegment",
    "estimateAudience",
    "validateNotification",
    "testWarehouseExport",
    "recountDeliveries",
  ]; // they make nothing
  for (const { id, method, headers, scopes, isRepeatable } of operations) {
    if (method !== "POST" || harmless.includes(id) || id === "createNotifications") continue; // each item has its own
    if (scopes === "app" || scopes === "device") continue; // what devices send has ids of its own
    it(`honours an idempotency key: ${id}`, () => {
      expect(headers).to.have.property("Idempotency-Key");
      expect(isRepeatable || own.includes(id)).to.equal(true);
    });
  }
});

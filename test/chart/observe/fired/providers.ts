import { expect } from "chai";
import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import { newId } from "#core/domain/ids.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { callbackQueue } from "#core/queue/callbacks.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { Script } from "../../../../dev/simulators/kit/script.ts";
import type { Sending } from "../../../support/system/sending.ts";
import { nowAndThen, type Planted } from "./planted.ts";

/** What providers, and who says to be one, do. */
export const providerCases = (at: () => Planted): void => {
  it("somebody calls who is not the provider", async () => {
    const { sending, programs, fires, shows } = at();
    const { app, token } = sending.system;
    const setAccount = async (authToken: string): Promise<void> => {
      const account = {
        provider: "twilio",
        settings: { twilio: { account_sid: `AC${"0".repeat(32)}`, senders: ["+15005550026"] } },
        secrets: { auth_token: authToken },
      };
      const set = await fetch(`${programs.apiserver.url}/v1/apps/${app._id}/channels/sms`, {
        method: "PUT",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(account),
      });
      expect(set.status, await set.text()).to.be.oneOf([200, 201]);
    };
    let tried = 0;
    await fires(
      ["HeraldAccountsRefused"],
      nowAndThen(() => setAccount(`auth ${++tried}`), 5_000),
    );
    await shows("HeraldAccountsRefused", app._id, '"channel":"sms"');
    const forged = (): Promise<Response> =>
      fetch(`${programs.apiserver.url}/ingress/twilio/${app._id}/status/dlv_1`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": "AAAA" },
        body: "MessageSid=SM1&MessageStatus=delivered",
      });
    await fires(["HeraldCallbacksRefused"], () => Promise.all(Array.from({ length: 20 }, forged)));
    await shows("HeraldCallbacksRefused", app._id);
  });

  it("a provider reports deliveries that nobody here has sent", async () => {
    const { sending, stores, fires, shows } = at();
    const { prefix, tenantId, app } = sending.system;
    await using used = new AsyncDisposableStack();
    const nats = await connectNats({ url: stores.nats.url, name: "somebody" });
    used.defer(() => nats.close());
    const publishText = async (subject: string, text: string) => {
      await nats.js.publish(subject, text);
      return "published" as const;
    };
    const queue = callbackQueue({ publisher: { publishText }, subjects: subjects(prefix) });
    const receipts = Array.from({ length: 120 }, () => aReceipt());
    const sixteenMinutesAgo = new Date(Date.now() - 960_000); // they are waited for as long as a quarter of an hour
    await queue.keep({ tenantId, appId: app._id, provider: ownProvider }, ownCallback(receipts, sixteenMinutesAgo));
    await fires(["HeraldReceiptsUnmatched"]);
    await shows("HeraldReceiptsUnmatched", app._id, '"count":120');
  });

  it("a provider answers slowly", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    using _ = scripted(sending, { delay_ms: 4_000 });
    const all = await devices(300);
    await fires(
      ["HeraldUnsavedAtLimit"],
      nowAndThen(async () => void (await sendTo(all))),
    );
    await shows("HeraldUnsavedAtLimit", '"pod":"dispatcher"');
  });

  it("a provider says of everybody that they are gone", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    using _ = scripted(sending, { answers: [{ status: 410, reason: "Unregistered" }] });
    await sendTo(await devices(60));
    await fires(["HeraldInvalidationsHeld"]);
    await shows("HeraldInvalidationsHeld", sending.system.app._id);
  });

  it("a provider does not take the account's key", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    using _ = scripted(sending, { answers: [{ status: 403, reason: "InvalidProviderToken" }] });
    const device = await devices(1);
    await fires(["HeraldCredentialsRefused"], () => sendTo(device));
    await shows("HeraldCredentialsRefused", sending.system.app._id, '"channel":"ios_push"');
  });

  it("a provider has a fault of its own", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    using _ = scripted(sending, { answers: [{ status: 503, reason: "ServiceUnavailable" }] });
    const all = await devices(60);
    const budgets = ["HeraldDeliveryBudgetBurnsFast", "HeraldDeliveryBudgetBurnsSlowly"];
    await fires([...budgets, "HeraldBreakersOpen"], () => sendTo(all));
    for (const alert of [...budgets, "HeraldBreakersOpen"]) await shows(alert, '"channel":"ios_push"');
  });
};

/** Has the provider answer as scripted, until that is disposed of. */
const scripted = ({ apns }: Sending, script: Partial<Script>): Disposable => {
  apns.script(script);
  return { [Symbol.dispose]: () => apns.script({}) };
};

const aReceipt = (): Receipt => ({
  deliveryId: newId("delivery", new Date()),
  providerId: null,
  address: null,
  at: new Date(),
  kind: "delivered",
});

import { expect } from "chai";
import { anEvent, postEvents } from "../../../support/webhooks/traffic.ts";
import { endpoints, nowAndThen, type Planted } from "./planted.ts";

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
      nowAndThen(() => setAccount(`auth ${++tried}`)),
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

  it("no endpoint can be reached", async () => {
    const { sending, programs, fires, shows } = at();
    let posted = 0;
    await fires(["HeraldWebhooksFailEverywhere"], () =>
      postEvents(sending.system, programs.apiserver, [anEvent(endpoints.unreachable, ++posted)]),
    );
    await shows("HeraldWebhooksFailEverywhere", '"error_class":"connect"');
  });

  it("an endpoint takes fewer events than there are", async () => {
    const { programs, sending, fires, shows } = at();
    let posted = 0;
    const some = (): Promise<void> => {
      const events = Array.from({ length: 40 }, () => anEvent(endpoints.slow, ++posted));
      return postEvents(sending.system, programs.apiserver, events);
    };
    const budgets = ["HeraldWebhooksLateBudgetBurnsFast", "HeraldWebhooksLateBudgetBurnsSlowly"];
    await fires([...budgets, "HeraldWebhooksLate"], nowAndThen(some));
    for (const alert of budgets) await shows(alert, "webhook.delivered", "mostQueuedMs");
    await shows("HeraldWebhooksLate", '"pod":"dispatcher"');
  });

  it("a provider answers slowly", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    sending.apns.script({ delay_ms: 4_000 });
    const all = await devices(300);
    await fires(
      ["HeraldUnsavedAtLimit"],
      nowAndThen(async () => void (await sendTo(all))),
    );
    await shows("HeraldUnsavedAtLimit", '"pod":"dispatcher"');
    sending.apns.script({});
  });

  it("a provider says of everybody that they are gone", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    sending.apns.script({ answers: [{ status: 410, reason: "Unregistered" }] });
    await sendTo(await devices(60));
    await fires(["HeraldInvalidationsHeld"]);
    await shows("HeraldInvalidationsHeld", sending.system.app._id);
  });

  it("a provider does not take the account's key", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    sending.apns.script({ answers: [{ status: 403, reason: "InvalidProviderToken" }] });
    const device = await devices(1);
    await fires(["HeraldCredentialsRefused"], () => sendTo(device));
    await shows("HeraldCredentialsRefused", sending.system.app._id, '"channel":"ios_push"');
  });

  it("a provider has a fault of its own", async () => {
    const { sending, devices, sendTo, fires, shows } = at();
    sending.apns.script({ answers: [{ status: 503, reason: "ServiceUnavailable" }] });
    const all = await devices(60);
    const budgets = ["HeraldDeliveryBudgetBurnsFast", "HeraldDeliveryBudgetBurnsSlowly"];
    await fires([...budgets, "HeraldBreakersOpen"], () => sendTo(all));
    for (const alert of [...budgets, "HeraldBreakersOpen"]) await shows(alert, '"channel":"ios_push"');
    sending.apns.script({});
  });
};

import { collectionOf } from "#core/storage/mongo/collection.ts";
import { retryConflicts } from "#core/storage/mongo/duplicate.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { removePages } from "#core/storage/work/removal-pages.ts";
import type { System } from "../../../support/system/system.ts";
import { addEndpoint, anEvent, postEvents } from "../../../support/webhooks/traffic.ts";
import { eventNames, nowAndThen, type Planted } from "./planted.ts";

/** What befalls requests to endpoints. */
export const webhookCases = (at: () => Planted): void => {
  it("an endpoint takes fewer events than there are", async () => {
    const { programs, sending, fires, shows } = at();
    let posted = 0;
    const some = (): Promise<void> => {
      const events = Array.from({ length: 40 }, () => anEvent(eventNames.slow, ++posted));
      return postEvents(sending.system, programs.apiserver, events);
    };
    const budgets = ["HeraldWebhooksLateBudgetBurnsFast", "HeraldWebhooksLateBudgetBurnsSlowly"];
    await fires([...budgets, "HeraldWebhooksLate"], nowAndThen(some));
    for (const alert of budgets) await shows(alert, "webhook.delivered", "mostQueuedMs");
    await shows("HeraldWebhooksLate", '"pod":"dispatcher"');
  });

  it("no endpoint can be reached", async () => {
    const { sending, programs, fires, finds, shows } = at();
    await finds('herald_webhook_endpoints{state="failing"} offset 1m == 0', nothing); // what is compared with later
    let posted = 0;
    await fires(["HeraldWebhooksFailEverywhere"], () =>
      postEvents(sending.system, programs.apiserver, [anEvent(eventNames.unreachable, ++posted)]),
    );
    await shows("HeraldWebhooksFailEverywhere", '"error_class":"connect"');
  });

  it("all endpoints of ten organisations hang", async () => {
    const { sending, programs, fires, finds, shows } = at();
    const { tenantId } = sending.system;
    await finds(`herald:others_webhook_backlog{tenant="${tenantId}"} offset 45s < 200`, nothing); // it grows from here
    const others = await Promise.all(Array.from({ length: organisations }, () => organisationOf(at())));
    for (const other of others) await postEvents(other, programs.apiserver, [anEvent(eventNames.hanging, 1)]);
    await fires(["HeraldWebhookLanesFull"]);
    await shows("HeraldWebhookLanesFull", '"pod":"dispatcher"');
  });
};

const nothing = async (): Promise<void> => undefined;

const organisations = 10;
const endpointsOfEach = 100; // as many as an app may have

/** Stores an organisation with an app whose endpoints hang. */
const organisationOf = async ({ sending, inbox }: Planted): Promise<System> => {
  const other = await sending.system.another();
  inbox.answer("/hangs", () => new Promise(() => undefined));
  const one = { url: `${inbox.url}/hangs`, names: [eventNames.hanging], timeout_ms: 30_000 };
  await Promise.all(Array.from({ length: endpointsOfEach }, () => addEndpoint(other, one)));
  return other;
};

/** Takes away the endpoints that hang and what waits for them, and those that are failing. */
export const removeEndpoints = async ({ sending: { system }, inbox }: Planted): Promise<void> => {
  inbox.answer("/hangs", () => 200);
  const webhooks = system.db.collection<WebhookRow>("webhooks");
  const found = await webhooks.find({ event_names: { $in: [eventNames.hanging, eventNames.unreachable] } }).toArray();
  const ids = found.map(({ _id }) => _id);
  await retryConflicts(() => webhooks.deleteMany({ _id: { $in: ids } })); // a dispatcher may write some of them
  const deliveries = collectionOf<WebhookDeliveryRow>(system.db, webhookDeliveryCollection);
  await removePages(deliveries, { filter: { endpoint_id: { $in: ids } }, hint: "list_status", pages: Infinity });
};

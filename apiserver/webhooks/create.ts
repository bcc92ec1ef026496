import type { CreateWebhook } from "#core/schema/webhooks/webhook.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { EndpointPlaces } from "#core/storage/webhooks/places.ts";
import { healthAnew, type WebhookRow, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";
import type { By } from "../settings/audit.ts";
import { newSetting, type Settings } from "../settings/settings.ts";
import { type CheckDeps, checkReach } from "./checks.ts";
import { membersOf } from "./members.ts";
import { newSecret, type SecretDeps, secretPlace } from "./secret.ts";

type CreateDeps = CheckDeps & SecretDeps & { settings: Pick<Settings<WebhookRow>, "create">; places: EndpointPlaces };

/** Makes an endpoint with an id of its own, of a body that `checkWebhook` has passed. */
export const createWebhook =
  (deps: CreateDeps) =>
  async (by: By, app: AppRow, id: string, body: CreateWebhook): Promise<WebhookRow> => {
    await checkReach(deps, body.url);
    return deps.settings.create(by, { ...newRow(deps, app, id, body), ...(await deps.places.place(app, id)) });
  };

const newRow = ({ clock, secrets }: CreateDeps, app: AppRow, id: string, body: CreateWebhook): WebhookRow => ({
  ...webhookDefaults,
  ...newSetting(app, id, clock.now()),
  url: body.url,
  description: null,
  events: body.events,
  event_names: [],
  ...membersOf(secrets, id, body),
  ...healthAnew,
  last_success_at: null,
  last_failure_at: null,
  secret: secrets.seal(newSecret(), secretPlace(id)),
  previous_secret: null,
});

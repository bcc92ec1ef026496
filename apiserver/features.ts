import { analytics } from "./analytics/feature.ts";
import { apiKeys } from "./api-keys/feature.ts";
import { apps } from "./apps/feature.ts";
import { audit } from "./audit/feature.ts";
import { ingress } from "./callbacks/outside.ts";
import { conversations } from "./conversations/feature.ts";
import { devices } from "./devices/feature.ts";
import { events } from "./events/feature.ts";
import { exports } from "./exports/feature.ts";
import { downloads } from "./files/outside.ts";
import type { Feature } from "./http/feature.ts";
import { openapi } from "./http/openapi/document.ts";
import type { Outside } from "./http/outside.ts";
import { imports } from "./imports/feature.ts";
import { inAppMessages } from "./in-app-messages/feature.ts";
import { inbox } from "./inbox/feature.ts";
import { mailLinks } from "./links/mail.ts";
import { shortLinks } from "./links/short.ts";
import { liveActivities } from "./live-activities/feature.ts";
import { messages } from "./messages/feature.ts";
import { people } from "./people/feature.ts";
import type { Platform } from "./platform.ts";
import { reference } from "./reference/outside.ts";
import { segments } from "./segments/feature.ts";
import { service } from "./service/feature.ts";
import { status } from "./status/feature.ts";
import { statusPage } from "./status/outside.ts";
import { suppressions } from "./suppressions/feature.ts";
import { templates } from "./templates/feature.ts";
import { usage } from "./usage/feature.ts";
import { warehouse } from "./warehouse/feature.ts";
import { webClient } from "./web-client/outside.ts";
import { webhooks } from "./webhooks/feature.ts";
import { why } from "./why/feature.ts";

/** Everything that the REST interface can do. */
export const features: readonly Feature<Platform>[] = [
  apps,
  apiKeys,
  audit,
  messages,
  why,
  people,
  devices,
  segments,
  suppressions,
  conversations,
  templates,
  inAppMessages,
  inbox,
  imports,
  exports,
  warehouse,
  liveActivities,
  webhooks,
  events,
  analytics,
  usage,
  status,
  service(() => document()),
];

/** What is answered outside of it, without an API key. */
export const outsides: readonly Outside<Platform>[] = [
  ingress,
  shortLinks,
  ...mailLinks,
  statusPage,
  webClient,
  reference(() => document()),
  downloads,
];

export const operations = features.flatMap((feature) => feature.operations);

/** The interface's description, as it is served and as docs/openapi.json. Made when it is first asked for. */
export const document = (): ReturnType<typeof openapi> => (made ??= openapi(features));

let made: ReturnType<typeof openapi> | undefined;

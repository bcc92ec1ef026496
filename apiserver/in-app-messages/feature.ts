import {
  CreateInAppMessage,
  InAppMessage,
  InAppMessageListQuery,
  InAppMessagePage,
  UpdateInAppMessage,
} from "#core/schema/in-app-messages/in-app-message.ts";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";
import { feature } from "../http/feature.ts";
import { settingRoutes } from "../settings/routes.ts";
import { docs } from "./openapi.ts";
import { inAppUseCases } from "./use-cases.ts";

const schemas = {
  create: CreateInAppMessage,
  update: UpdateInAppMessage,
  view: InAppMessage,
  made: InAppMessage,
  list: InAppMessagePage,
  query: InAppMessageListQuery,
};

const { list, create, get, update, remove } = settingRoutes<InAppMessageRow, typeof schemas>({
  name: "InAppMessage",
  what: "in-app message",
  tag: "In-app messages",
  path: "/v1/apps/{appId}/in-app-messages",
  parameter: "inAppMessageId",
  idKind: "inAppMessage",
  schemas,
  summaries: {
    list: "List the in-app messages of an app",
    create: "Make an in-app message",
    get: "Show an in-app message",
    update: "Change an in-app message",
    remove: "Delete an in-app message",
  },
  errors: ["HS_ALREADY_EXISTS"],
});

/** What apps show to people while they use them. */
export const inAppMessages = feature({ make: inAppUseCases, routes: [list, create, get, update, remove], ...docs });

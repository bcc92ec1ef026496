import { maxHeaderSize } from "node:http";
import { maxApnsBytes } from "#core/channels/ios-push/render.ts";
import { mostKeys } from "#core/domain/events/day-values.ts";
import { mostTracked } from "#core/domain/events/sketch.ts";
import { maxEventBytes } from "#core/domain/events/text.ts";
import { longestRow } from "#core/domain/imports/csv.ts";
import { longestText } from "#core/domain/imports/report.ts";
import { sendAfterDays } from "#core/domain/messages/send-after.ts";
import { standardTtlSeconds } from "#core/domain/messages/ttl.ts";
import { filterLimits } from "#core/domain/webhooks/filter.ts";
import { maxWebhookRequests } from "#core/domain/webhooks/retry.ts";
import { mjmlLimits } from "#core/runtime/mjml/limits.ts";
import { contentLimits, templateLimits } from "#core/runtime/templates/limits.ts";
import { customEventLimits } from "#core/schema/events/custom.ts";
import { definitionLimits } from "#core/schema/events/definition.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import { inAppBounds } from "#core/schema/in-app-messages/content.ts";
import { maxErrors } from "#core/schema/json/parser-problems.ts";
import { mostChannels } from "#core/schema/live-activities/channel.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { mostDataBytes } from "#core/schema/messages/notification.ts";
import { userBatchLimits } from "#core/schema/people/batch.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { incidentLimits } from "#core/schema/status/vocabulary.ts";
import { templateBounds } from "#core/schema/templates/template.ts";
import { warehouseLimits } from "#core/schema/warehouse/export.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import { exportKeptDays } from "#core/storage/exports/exports.ts";
import { activityKeptDays } from "#core/storage/live-activities/recipient-row.ts";
import { holdMs } from "#core/storage/live-activities/recipients.ts";
import { mostOfUser } from "#core/storage/people/subscriptions.ts";
import { replyKeptHours } from "#core/storage/service/replies.ts";
import { versionKeptDays } from "#core/storage/templates/publish.ts";
import { runKeptDays } from "#core/storage/warehouse/runs.ts";
import { maxBodyBytes, maxDepth } from "../../../apiserver/http/protocol/request-body.ts";
import { lastsHours } from "../../../apiserver/live-activities/start.ts";
import { exportHours } from "../../../config/shared.ts";
import { flush } from "../../../dispatcher/webhooks/accept/group.ts";
import { requestBounds } from "../../../dispatcher/webhooks/send/send-webhook.ts";
import { figure, table } from "./markdown.ts";

/** The other tables of docs/reference/limits.md#bounds: what no schema of a request says, from where the code has it. */
export const otherBounds = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(rows).map(([noun, of]) => [`other bounds of ${noun}`, table(["What", "Bound"], Object.entries(of))]),
  );

const { maxInFlight, timeoutMs } = webhookLimits;
const hours = exportHours as unknown as { env: string; default: number; minimum: number; maximum: number }; // sound: it is given them
const bytes = (count: number): string => `${figure(count)} bytes`;

const rows: Record<string, Record<string, string>> = {
  requests: {
    body: `${bytes(maxBodyBytes)}, also inflated; ${maxDepth} levels`,
    headers: `${bytes(maxHeaderSize)} in total`,
    "a reply by its idempotency key": `is remembered for ${replyKeptHours} hours`,
    "errors named in a 400": figure(maxErrors),
  },
  messages: {
    "`custom_data`, with that of its template": `${bytes(mostDataBytes)} of JSON`,
    "HTML of `email_mjml`": `${bytes(mjmlLimits.outputBytes)}; ${mjmlLimits.compileMs / 1_000} s to compile it`,
    "`ttl`": `${figure(standardTtlSeconds)} s by default`,
    "`send_after`": `${24 * sendAfterDays.back} hours back to ${sendAfterDays.ahead} days ahead`,
  },
  people: {
    properties: `${figure(userLimits.propertyCharacters)} characters of JSON in total`,
    "a [batch](people.md#batches)": `${figure(userBatchLimits.users)} users with ${figure(userBatchLimits.subscriptions)} subscriptions in all`,
  },
  "in-app messages": { "triggers and variants of one, together": `${bytes(inAppBounds.bytes)} of JSON` },
  templates: {
    "outputs and tags of Liquid": `${figure(contentLimits.steps)} of a template, each at most ${figure(contentLimits.stepCharacters)} characters`,
    "partials that a template renders": `${templateBounds.partials}, and ${bytes(templateBounds.partialBytes)} of JSON`,
    versions: `the newest ${templateBounds.versions}, and those before them for ${versionKeptDays} days`,
  },
  imports: {
    "the file": `${bytes(importLimits.fileBytes)} as sent; ${bytes(importLimits.inflatedBytes)} inflated, and ${importLimits.inflatedTimes} times its size; ${figure(importLimits.rows)} rows`,
    "a row": `${figure(longestRow)} characters; ${figure(longestText)} of them in the report`,
    "subscriptions of a user": `${mostOfUser}, of which the interface gives ${userLimits.subscriptions}`,
    "imports of an app": `1 runs, ${importLimits.pending} wait`,
    "an upload": `${importLimits.uploadSeconds / 60} minutes`,
  },
  exports: {
    "rows of a file": figure(exportLimits.rows),
    "of an app at a time": `${exportLimits.running} are made, ${exportLimits.pending} wait`,
    "a file can be downloaded for": `${hours.default} hours (\`${hours.env}\`, ${hours.minimum}–${hours.maximum})`,
    "an export is listed for": `${exportKeptDays} days`,
    "attempts, when their process is killed": figure(exportLimits.attempts),
  },
  "warehouse exports": {
    "of an app": `${warehouseLimits.exports}; one run of each at a time`,
    "rows of a file": figure(warehouseLimits.partRows),
    "a file before compression": `${bytes(warehouseLimits.partBytes)}, and a page of 1,000 rows`,
    "a run is tried again": `${warehouseLimits.retries} times`,
    "a run is listed for": `${runKeptDays} days`,
  },
  events: {
    "properties of a custom event": `${customEventLimits.depth} levels`,
    "JSON of one": bytes(customEventLimits.bytes),
    "`occurred_at`": `${customEventLimits.daysBack} days back to ${customEventLimits.minutesAhead} minutes ahead`,
    "an event as it is sent": bytes(maxEventBytes),
    "names with a definition of an app": figure(definitionLimits.definitions),
    "properties of a name that are known, and whose values are counted on a day": `${definitionLimits.keys}, ${mostKeys}`,
    "values of a property: counted on a day, shown": `${mostTracked}, ${definitionLimits.values}`,
  },
  webhooks: {
    "a filter": `texts of ${filterLimits.characters}, lists of ${filterLimits.items}; ${bytes(filterLimits.bytes)} in total`,
    "body template": `${templateLimits.renderMs} ms; ${bytes(templateLimits.outputBytes)} of output; ${figure(templateLimits.memory)} characters and items of memory`,
    "events in a batch": `${flush.events}, and ${bytes(maxEventBytes)}`,
    "requests of a delivery": figure(maxWebhookRequests),
    "`timeout_ms`": `${figure(timeoutMs.standard)} by default; ${requestBounds.connectMs / 1_000} s of it to connect`,
    "`max_in_flight`": `${maxInFlight.standard} by default`,
    answer: `${bytes(requestBounds.replyBytes)} are read, ${figure(requestBounds.excerptCharacters)} characters shown`,
  },
  "live activities": {
    "texts of `content_state` and `attributes`": `${figure(activityLimits.textCharacters)} characters`,
    payload: `${bytes(maxApnsBytes)}, for each platform and in each language of the alert; on Android with the attributes`,
    "types of an app": figure(activityLimits.types),
    "broadcast channels of an app": figure(mostChannels),
    "an update waits for a device's token": `${holdMs / 60_000} minutes after the start`,
    "an activity": `ends ${lastsHours} hours after its last start`,
    "activities and tokens of devices": `are kept for ${activityKeptDays} days`,
  },
  incidents: { "updates of one": figure(incidentLimits.updates) },
};

import type { Db } from "mongodb";
import { deliveryCounterCollection } from "./analytics/delivery-counters.ts";
import { dueQuarterCollection } from "./analytics/due-quarters.ts";
import { messageReportCollection } from "./analytics/message-reports.ts";
import { peopleReportCollection } from "./analytics/people-reports.ts";
import { apiKeyCollection } from "./api-keys/api-keys.ts";
import { revokedTokenCollection } from "./api-keys/revoked-tokens.ts";
import { accountCheckCollection } from "./apps/account-checks.ts";
import { appCollection } from "./apps/apps.ts";
import { auditCollection } from "./audit/audit-log.ts";
import { contentTemplateCollection } from "./content-templates/content-templates.ts";
import { conversationCollection } from "./conversations/conversation-row.ts";
import { conversationCountsCollection } from "./conversations/counts.ts";
import { conversationMessageCollection } from "./conversations/message-row.ts";
import { noteCollection } from "./conversations/notes.ts";
import { eventBatchCollection } from "./events/batches.ts";
import { conversionDayCollection } from "./events/conversion-days.ts";
import { conversionCollection } from "./events/conversions.ts";
import { countedBatchCollection } from "./events/counted.ts";
import { dayUserCollection } from "./events/day-users.ts";
import { eventDefinitionCollection } from "./events/definitions.ts";
import { eventDayCollection } from "./events/event-days.ts";
import { eventValuesCollection } from "./events/event-values.ts";
import { eventCollection } from "./events/events.ts";
import { exportCollection } from "./exports/exports.ts";
import { importCollection } from "./imports/imports.ts";
import { inAppCountsCollection } from "./in-app-messages/counts.ts";
import { inAppEventCollection } from "./in-app-messages/events.ts";
import { inAppMessageCollection } from "./in-app-messages/in-app-messages.ts";
import { inboxCollection } from "./inbox/inboxes.ts";
import { inboxItemCollection } from "./inbox/items.ts";
import { keyUseCollection } from "./keys/uses.ts";
import { linkCollection } from "./links/links.ts";
import { liveActivityCollection } from "./live-activities/activities.ts";
import { activityChannelCollection } from "./live-activities/channels.ts";
import { activityRecipientCollection } from "./live-activities/recipient-row.ts";
import { startTokenCollection } from "./live-activities/start-tokens.ts";
import { liveActivityTypeCollection } from "./live-activities/types.ts";
import { capTakeCollection } from "./messages/cap-takes.ts";
import { choiceCollection } from "./messages/choices.ts";
import { chunkCollection } from "./messages/chunks.ts";
import { deliveryCollection } from "./messages/deliveries.ts";
import { messageCollection } from "./messages/messages.ts";
import { throttleCollection } from "./messages/throttles.ts";
import { usageCollection } from "./messages/usage.ts";
import { dataVersionCollection } from "./migrations/data-version.ts";
import type { CollectionSpec } from "./mongo/collection.ts";
import { indexesAsDeclared } from "./mongo/indexes.ts";
import { sessionMonthCollection } from "./people/session-months.ts";
import { subscriptionCollection } from "./people/subscription-row.ts";
import { userCollection } from "./people/users.ts";
import { planCollection } from "./plans/plans.ts";
import { segmentCountCollection } from "./segments/counts.ts";
import { segmentCollection } from "./segments/segments.ts";
import { callbackTokenCollection } from "./service/callback-tokens.ts";
import { cursorSecretCollection } from "./service/cursor-secret.ts";
import { providerCertificateCollection } from "./service/provider-certificates.ts";
import { replyCollection } from "./service/replies.ts";
import { statusDayCollection } from "./status/days.ts";
import { heartbeatCollection } from "./status/heartbeats.ts";
import { incidentCollection } from "./status/incidents.ts";
import { suppressionKeyCollection } from "./suppressions/keys.ts";
import { suppressionCollection } from "./suppressions/suppressions.ts";
import { verdictCollection } from "./suppressions/verdicts.ts";
import { followedWordCollection } from "./suppressions/words.ts";
import { templateCollection } from "./templates/templates.ts";
import { templateVersionCollection } from "./templates/versions.ts";
import { tenantCollection } from "./tenants/tenants.ts";
import { webhookBacklogCollection } from "./usage/backlogs.ts";
import { tenantUsageCollection } from "./usage/tenant-usage.ts";
import { deletionCollection } from "./warehouse/deletions.ts";
import { warehouseExportCollection } from "./warehouse/exports.ts";
import { hashKeyCollection } from "./warehouse/hash-keys.ts";
import { warehouseRunCollection } from "./warehouse/runs.ts";
import { webhookDeliveryCollection } from "./webhooks/deliveries.ts";
import { webhookOwnerCollection } from "./webhooks/owners.ts";
import { webhookStatsCollection } from "./webhooks/stats.ts";
import { webhookCollection } from "./webhooks/webhooks.ts";
import { leaseCollection } from "./work/leases.ts";
import { removalCollection } from "./work/removals.ts";

/** Every collection of the service. */
export const allCollections: readonly CollectionSpec[] = [
  accountCheckCollection,
  apiKeyCollection,
  appCollection,
  auditCollection,
  callbackTokenCollection,
  capTakeCollection,
  choiceCollection,
  chunkCollection,
  contentTemplateCollection,
  conversationCollection,
  conversationCountsCollection,
  conversationMessageCollection,
  conversionCollection,
  countedBatchCollection,
  cursorSecretCollection,
  dataVersionCollection,
  dayUserCollection,
  deletionCollection,
  deliveryCollection,
  deliveryCounterCollection,
  dueQuarterCollection,
  eventBatchCollection,
  eventCollection,
  eventDayCollection,
  conversionDayCollection,
  eventDefinitionCollection,
  eventValuesCollection,
  exportCollection,
  followedWordCollection,
  heartbeatCollection,
  incidentCollection,
  importCollection,
  inAppCountsCollection,
  inAppEventCollection,
  inAppMessageCollection,
  inboxCollection,
  inboxItemCollection,
  keyUseCollection,
  leaseCollection,
  linkCollection,
  activityChannelCollection,
  activityRecipientCollection,
  liveActivityCollection,
  liveActivityTypeCollection,
  messageCollection,
  messageReportCollection,
  peopleReportCollection,
  noteCollection,
  throttleCollection,
  planCollection,
  providerCertificateCollection,
  removalCollection,
  replyCollection,
  revokedTokenCollection,
  segmentCollection,
  segmentCountCollection,
  sessionMonthCollection,
  statusDayCollection,
  startTokenCollection,
  subscriptionCollection,
  suppressionCollection,
  suppressionKeyCollection,
  templateCollection,
  templateVersionCollection,
  tenantCollection,
  tenantUsageCollection,
  usageCollection,
  userCollection,
  warehouseExportCollection,
  hashKeyCollection,
  warehouseRunCollection,
  webhookBacklogCollection,
  webhookCollection,
  webhookDeliveryCollection,
  webhookOwnerCollection,
  webhookStatsCollection,
  verdictCollection,
];

/** Makes the indexes of every collection, or of those given, as they are declared. @throws IndexError */
export const ensureIndexes = (
  db: Db,
  specs: readonly Pick<CollectionSpec, "name" | "indexes">[] = allCollections,
): Promise<void> => indexesAsDeclared(db, specs);

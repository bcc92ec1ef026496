import { type AccountCheckJobDeps, accountCheckJob } from "./account-checks.ts";
import { type ActivityChannelJobDeps, activityChannelJob } from "./activity-channels.ts";
import { type ConversationFilesJobDeps, conversationFilesJob } from "./conversation-files.ts";
import { type DeliveryCountersJobDeps, deliveryCountersJob } from "./delivery-counters.ts";
import { type ExportJobDeps, exportJob } from "./exports.ts";
import { type ImportJobDeps, importJob } from "./imports.ts";
import type { Job } from "./job.ts";
import { type LiveActivityJobDeps, liveActivityJob } from "./live-activities.ts";
import { type MessageReportJobDeps, messageReportJob } from "./message-reports.ts";
import { type PeopleReportJobDeps, peopleReportJob } from "./people-reports.ts";
import { type RemovalJobDeps, removalJob } from "./removals.ts";
import { type SegmentCountJobDeps, segmentCountJob } from "./segment-counts.ts";
import { type WarehouseExportJobDeps, warehouseExportJob } from "./warehouse-exports.ts";
import { type WarehouseRunJobDeps, warehouseRunJob } from "./warehouse-runs.ts";

/** Every type of job. */
export const allJobs = (
  deps: RemovalJobDeps &
    AccountCheckJobDeps &
    LiveActivityJobDeps &
    ActivityChannelJobDeps &
    ConversationFilesJobDeps &
    DeliveryCountersJobDeps &
    ImportJobDeps &
    ExportJobDeps &
    MessageReportJobDeps &
    PeopleReportJobDeps &
    SegmentCountJobDeps &
    WarehouseExportJobDeps &
    WarehouseRunJobDeps,
): readonly Job[] => [
  removalJob(deps),
  accountCheckJob(deps),
  liveActivityJob(deps),
  activityChannelJob(deps),
  conversationFilesJob(deps),
  deliveryCountersJob(deps),
  importJob(deps),
  exportJob(deps),
  messageReportJob(deps),
  peopleReportJob(deps),
  segmentCountJob(deps),
  warehouseExportJob(deps),
  warehouseRunJob(deps),
];

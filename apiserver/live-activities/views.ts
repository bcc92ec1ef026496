import { defaultPlatforms } from "#core/domain/live-activities/platforms.ts";
import { swiftOf } from "#core/domain/live-activities/swift.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { LiveActivitySwift } from "#core/schema/live-activities/activity.ts";
import { type ActivitySchema, LiveActivityType } from "#core/schema/live-activities/type.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";

/** A type as the REST interface shows it. */
export const activityTypeView = (row: LiveActivityTypeRow): LiveActivityType =>
  showAs(LiveActivityType, {
    ...row,
    id: row._id,
    content_state_schema: row.content_state_schema as ActivitySchema, // sound: only what passed its schema is stored
    attributes_schema: row.attributes_schema as ActivitySchema, // sound: only what passed its schema is stored
    platforms: row.platforms ?? defaultPlatforms,
    frequent_updates: row.frequent_updates ?? false,
    push_to_start_tokens: row.push_to_start_tokens ?? 0,
    ...warningsOf(row),
  });

/** The struct that an app decodes the type with. */
export const swiftView = (row: LiveActivityTypeRow): LiveActivitySwift => ({
  file_name: `${row.name.replaceAll(/[^\p{L}\p{N}_]/gu, "_")}.swift`,
  source: swiftOf({
    name: row.name,
    content_state_schema: row.content_state_schema as ActivitySchema, // sound: only what passed its schema is stored
    attributes_schema: row.attributes_schema as ActivitySchema, // sound: only what passed its schema is stored
  }),
});

/** By the name Apple finds the app's struct. Source: docs/reference/live-activities.md#names. */
const warningsOf = ({ name, platforms = defaultPlatforms }: LiveActivityTypeRow): Pick<LiveActivityType, "warnings"> =>
  !platforms.includes("ios") || swiftIdentifier.test(name)
    ? {}
    : { warnings: ["the name is not a Swift identifier: no ActivityAttributes has it"] };

const swiftIdentifier = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u;

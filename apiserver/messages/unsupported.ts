import type { FieldError } from "#core/errors.ts";
import type { CreateNotification, Target } from "#core/schema/messages/notification.ts";

/**
 * Members of the interface that have no effect in this release. They are validated like all others, then
 * refused by name: nothing is accepted and ignored. A release that builds one removes it here.
 */
export const unsupportedMembers = [
  "template_id",
  "custom_data",
  "delayed_option",
  "delivery_time_of_day",
  "throttle_rate_per_minute",
  "one_per_user",
  "frequency_cap_exempt",
  "quiet_hours_exempt",
  "add_to_inbox",
  "inbox_ttl",
] as const satisfies readonly (keyof CreateNotification)[];

/** The same of `target`. */
export const unsupportedTargets = [
  "included_segments",
  "excluded_segments",
  "filters",
  "email_to",
  "include_phone_numbers",
] as const satisfies readonly (keyof CreateNotification["target"])[];

/** Every member of a body that would be without effect, but for its target. */
export const unsupported = (body: CreateNotification): FieldError[] =>
  unsupportedMembers.filter((member) => body[member] !== undefined).map(refused);

/** The same of `target`. */
export const unsupportedTarget = (target: Target): FieldError[] =>
  unsupportedTargets.filter((member) => target[member] !== undefined).map((member) => refused(`target.${member}`));

const refused = (field: string): FieldError => ({ field, message: "is not supported by this release" });

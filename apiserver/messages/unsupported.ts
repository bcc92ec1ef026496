import { isNeutral } from "#core/domain/messages/neutral.ts";
import type { FieldError } from "#core/errors.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";

/** Members of `rcs_card` that Twilio's cards do not have. Source: twilio.com/docs/content/twiliocard, "Parameter mapping". */
export const unsupportedOfCard = ["media_height", "orientation"] as const;

/** Data for a template, where none is taken. */
const idleData = ({ template_id: id, custom_data: data }: Partial<CreateNotification>): FieldError[] =>
  id !== undefined || isNeutral(data ?? null)
    ? []
    : [{ field: "custom_data", message: "is read by templates alone, and none is named by template_id" }];

/** Every member of a body that would be without effect. */
export const unsupported = (body: Partial<CreateNotification>): FieldError[] => [
  ...idleData(body),
  ...asking(unsupportedOfCard, body.rcs_card ?? {}).map((member) => ({
    field: `rcs_card.${member}`,
    message: "cannot be sent: cards of Twilio, which carries RCS, do not have it",
  })),
];

/** Those of them whose value asks for something: 0 messages a minute is no rate. */
const asking = <Name extends string>(names: readonly Name[], members: { [N in Name]?: unknown }): Name[] =>
  names.filter((name) => members[name] !== undefined && members[name] !== 0 && !isNeutral(members[name]));

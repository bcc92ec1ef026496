import { checkAddress } from "#core/channels/addresses.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import type { CreateSubscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";

/** A subscription's address in its channel's one spelling. */
export type Addressed = { channel: Channel; token: string; web: { p256dh: string; auth: string } | null };

/** Checks what a schema cannot say of a new subscription. `at` is its place in the body, "" for the body itself. */
export const addressOf = (body: CreateSubscription, at = ""): Addressed => {
  const { channel, token, web } = body;
  const field = fieldsBelow(at);
  const checked = checkAddress(channel, token);
  refuse([...(checked.ok ? [] : [{ field: field("token"), message: checked.problem }]), ...zoneErrors(body, at)]);
  return { channel, token: checked.ok ? checked.address : token, web: web ?? null };
};

/** The same for a change; an address that does not change stays as it is. */
export const changedAddress = (channel: Channel, body: UpdateSubscription): Partial<Addressed> => {
  if (body.web !== undefined && channel !== "web_push") throw invalid("web", "belongs to web_push");
  refuse(zoneErrors(body, ""));
  if (body.token === undefined) return body.web === undefined ? {} : { web: body.web };
  const checked = checkAddress(channel, body.token);
  if (!checked.ok) throw invalid("token", checked.problem);
  return { token: checked.address, ...(body.web !== undefined && { web: body.web }) };
};

const zoneErrors = ({ device }: UpdateSubscription, at: string): FieldError[] => {
  const zone = device?.["timezone"];
  if (zone === undefined || isTimeZone(zone)) return [];
  return [{ field: fieldsBelow(at)("device.timezone"), message: "must be a name of the IANA time zone database" }];
};

const fieldsBelow = (at: string) => (member: string) => (at === "" ? member : `${at}.${member}`);

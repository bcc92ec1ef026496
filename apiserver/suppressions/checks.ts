import { checkAddress, contactKey } from "#core/channels/addresses.ts";
import { personKey } from "#core/domain/people/keys.ts";
import { type FieldError, invalid } from "#core/errors.ts";
import type { CreateSuppression, SuppressionEntry } from "#core/schema/suppressions/suppression.ts";
import { type Channel, type ContactChannel, contactChannels, isContact } from "#core/schema/vocabulary/channels.ts";

/**
 * Refuses what is neither one entry nor a list of some, whenever it is asked.
 * @throws ValidationError
 */
export const checkForm = ({ entries, ...single }: CreateSuppression): void => {
  if (entries !== undefined && Object.keys(single).length > 0)
    throw invalid("entries", "cannot be given with other members");
  const about = entries === undefined ? named(single) : null;
  if (about !== null && "field" in about) throw invalid(about.field, about.message);
};

/** Whom an entry is about, in one spelling. `key` is theirs in events, such as `email:anna@example.com`. */
export type About =
  | { kind: "address"; key: string; channel: ContactChannel; address: string }
  | { kind: "user"; key: string; channel: Channel | null; externalId: string };

/** Whom an entry is about; or what is wrong with it that a schema cannot say. */
export const aboutOf = (entry: SuppressionEntry, now: Date): About | FieldError => {
  const hasEnded = entry.expires_at !== undefined && new Date(entry.expires_at) <= now;
  return hasEnded ? { field: "expires_at", message: "must be ahead of now" } : named(entry);
};

const named = ({ address, external_id: externalId, channel }: SuppressionEntry): About | FieldError => {
  if ((address === undefined) === (externalId === undefined)) {
    return { field: "address", message: "is needed, or else external_id, and not both" };
  }
  if (externalId !== undefined) {
    return { kind: "user", key: personKey("external_id", externalId), channel: channel ?? null, externalId };
  }
  if (channel === undefined || !isContact(channel)) {
    return { field: "channel", message: `must be one of ${contactChannels.join(", ")} with an address` };
  }
  const checked = checkAddress(channel, address ?? "");
  if (!checked.ok) return { field: "address", message: checked.problem };
  return { kind: "address", key: contactKey(channel, checked.address), channel, address: checked.address };
};

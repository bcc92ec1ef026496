import { isReservedId } from "#core/domain/people/reserved-ids.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import type { UpdateUser, UpsertUser } from "#core/schema/people/user.ts";

/** An upsert has to say whom it means. */
export const checkIdentity = ({ external_id: externalId, aliases = {} }: UpsertUser): void => {
  if (externalId === undefined && Object.keys(aliases).length === 0) {
    throw invalid("external_id", "is required, or at least one alias");
  }
};

/** Ids that would merge strangers, and time zones that do not exist. */
export const checkUser = ({ external_id: externalId, aliases = {}, timezone }: UpdateUser): void => {
  const ids: [string, string | null | undefined][] = [
    ["external_id", externalId],
    ...Object.entries(aliases).map(([label, id]): [string, string | null] => [`aliases.${label}`, id]),
  ];
  const errors: FieldError[] = ids.flatMap(([field, id]) =>
    typeof id === "string" && isReservedId(id)
      ? [{ field, message: "is a reserved value, not an id of one user" }]
      : [],
  );
  if (typeof timezone === "string" && !isTimeZone(timezone)) {
    errors.push({ field: "timezone", message: "must be a name of the IANA time zone database" });
  }
  refuse(errors);
};

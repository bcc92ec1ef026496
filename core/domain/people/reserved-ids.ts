const reserved = new Set(["", "0", "null", "undefined", "na", "-1", "unknown", "not set"]);

/** Ids that would merge strangers into one user. Source: docs/reference/people.md#reserved-ids. */
export const isReservedId = (id: string): boolean =>
  reserved.has(id.trim().toLowerCase()) || /^0{8}-?(0{4}-?){3}0{12}$/.test(id.trim());

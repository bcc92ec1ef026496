/** The instant that a text of ISO 8601 names; no offset means UTC. An invalid date for any other text. */
export const instantOf = (text: string): Date =>
  new Date(/(z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? isoOffset(text) : `${text}Z`);

/** `+01` and `+0100` as `+01:00`, which is all that Date reads. */
const isoOffset = (text: string): string =>
  text.replace(/([+-]\d\d):?(\d\d)?$/, (_, hours, minutes) => `${hours}:${minutes ?? "00"}`);

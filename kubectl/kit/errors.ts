/** The command was used wrongly; the message says how it is used. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The cluster or the REST interface does not give what the command needs; the message says what to do. */
export class Refused extends Error {
  override readonly name = "Refused";
}

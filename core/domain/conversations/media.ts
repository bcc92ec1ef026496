/** Why a file of a message is not there. */
export type MediaProblem =
  | "too_large"
  | "type_not_allowed"
  | "not_found"
  | "address_refused"
  | "unavailable"
  | "no_store";

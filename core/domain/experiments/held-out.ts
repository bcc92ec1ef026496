/** Why somebody is sent nothing so that it can be measured, as their delivery says it. Source: docs/reference/variants.md. */
export const heldOut = {
  control: "the control of the message",
  holdout: "the app's holdout",
  undecided: "no variant won",
} as const;

import type { Planted } from "./planted.ts";

/** Faults of segments and templates. */
export const plantedContent: readonly Planted[] = [
  {
    it: "a name that another segment has",
    file: "08-segment.yaml",
    from: "name: Testers",
    to: "name: Active gold customers",
    rule: "name-taken",
    at: "name: Active gold customers",
  },
  {
    it: "a segment's filter that cannot be read, by the condition at fault",
    file: "08-segment.yaml",
    from: "op: within_last",
    to: "op: since",
    rule: "filter",
    at: "op: since",
  },
  {
    it: "an in-app message's trigger of nothing, by its place",
    file: "11-in-app-message.yaml",
    from: "- { session: true }",
    to: "- { op: eq }",
    rule: "in-app-message",
    at: "{ op: eq }",
  },
  {
    it: "a template's Liquid that is not closed, by its member",
    file: "09-template.yaml",
    from: "For you alone, until Sunday.",
    to: "For you alone{% if x %}, until Sunday.",
    rule: "template",
    at: "For you alone",
  },
];

import type { FieldError } from "../../errors.ts";
import {
  type InAppContent,
  type InAppTrigger,
  type InAppVariant,
  inAppBounds,
} from "../../schema/in-app-messages/content.ts";

/** What of an in-app message no schema can judge. */
export type CheckedInApp = {
  triggers: readonly InAppTrigger[];
  start_at: Date | null;
  end_at: Date | null;
  variants: readonly InAppVariant[];
};

/** What is wrong with an in-app message whose members have their forms. Source: docs/reference/in-app-messages.md. */
export const inAppFaults = (message: CheckedInApp): FieldError[] => [
  ...message.triggers.flatMap((trigger, i) => at(`triggers[${i}]`, triggerFaults(trigger))),
  ...variantFaults(message.variants),
  ...(message.start_at !== null && message.end_at !== null && message.end_at <= message.start_at
    ? [{ field: "end_at", message: "must be after start_at" }]
    : []),
  ...sizeFaults(message),
];

/** A member below the one that is looked at, "" for that itself, and what is wrong with it. */
type Fault = [member: string, message: string];

const at = (field: string, faults: readonly Fault[]): FieldError[] =>
  faults.map(([member, message]) => ({ field: member === "" ? field : `${field}.${member}`, message }));

const causes = ["event", "session", "page", "time_on_page"] as const;

const triggerFaults = (trigger: InAppTrigger): Fault[] => {
  const named = causes.filter((cause) => trigger[cause] !== undefined);
  if (named.length !== 1) return [["", `must have exactly one of ${causes.join(", ")}`]];
  return trigger.event === undefined ? ofEventsOnly(trigger) : comparisonFaults(trigger);
};

const ofEventsOnly = (trigger: InAppTrigger): Fault[] =>
  (["property", "op", "value"] as const).flatMap((member): Fault[] =>
    trigger[member] === undefined ? [] : [[member, "is only of a trigger with event"]],
  );

const comparisonFaults = (trigger: InAppTrigger): Fault[] => {
  const { property, op, value } = trigger;
  if (property === undefined) return ofPropertiesOnly(trigger);
  if (op === undefined) return [["op", "is required with property"]];
  if (op === "exists") return value === undefined ? [] : [["value", "must be left out with exists"]];
  if (value === undefined) return [["value", `is required with ${op}`]];
  if (op === "contains") return typeof value === "string" ? [] : [["value", "must be a text with contains"]];
  const isOrder = op !== "eq" && op !== "neq";
  return isOrder && typeof value !== "number" ? [["value", `must be a number with ${op}`]] : [];
};

const ofPropertiesOnly = (members: InAppTrigger): Fault[] =>
  (["op", "value"] as const).flatMap((member): Fault[] =>
    members[member] === undefined ? [] : [[member, "is only of a trigger with property"]],
  );

const variantFaults = (variants: readonly InAppVariant[]): FieldError[] => {
  const sum = variants.reduce((all, { weight_percent: weight }) => all + weight, 0);
  return [
    ...(sum === 100 ? [] : [{ field: "variants", message: `weight_percent of all must make 100, and makes ${sum}` }]),
    ...repeated(variants.map(({ id }) => id)).map((i) => ({ field: `variants[${i}].id`, message: taken })),
    ...variants.flatMap(({ content }, i) => at(`variants[${i}].content`, contentFaults(content))),
  ];
};

const taken = "is the id of another one before it";

/** The places of what stands in a list a second time. */
const repeated = (ids: readonly string[]): number[] => ids.flatMap((id, i) => (ids.indexOf(id) === i ? [] : [i]));

const says = (texts: object): boolean => Object.values(texts).some((text) => text !== "");

const contentFaults = ({ title = {}, body = {}, image_url: image = null, buttons = [] }: InAppContent): Fault[] => {
  const isEmpty = !says(title) && !says(body) && image === null;
  return [
    ...(isEmpty ? [["", "must have a title, a body or an image_url"] satisfies Fault] : []),
    ...repeated(buttons.map(({ id }) => id)).map((i): Fault => [`buttons[${i}].id`, taken]),
    ...buttons.flatMap(({ text, action = "dismiss", url = null }, i): Fault[] => [
      ...(says(text) ? [] : [[`buttons[${i}].text`, "must say something in a language"] satisfies Fault]),
      ...addressFaults(action, url).map((message): Fault => [`buttons[${i}].url`, message]),
    ]),
  ];
};

const addressFaults = (action: string, url: string | null): string[] => {
  if (action !== "open") return url === null ? [] : ["is only of a button with the action open"];
  if (url === null) return ["is required with the action open"];
  return scripting.has(url.slice(0, url.indexOf(":")).toLowerCase())
    ? ["must be an https address, or one of an app's own scheme"]
    : [];
};

const scripting = new Set(["javascript", "data", "vbscript", "blob", "file", "filesystem"]); // run or show what somebody else wrote, or what is on the device

const sizeFaults = ({ triggers, variants }: CheckedInApp): FieldError[] => {
  const bytes = Buffer.byteLength(JSON.stringify({ triggers, variants }));
  if (bytes <= inAppBounds.bytes) return [];
  return [
    {
      field: "variants",
      message: `with the triggers must have at most ${inAppBounds.bytes} bytes as JSON, not ${bytes}`,
    },
  ];
};

/** When a message is shown: one of `event`, `session`, `page` and `time_on_page`. */
export type Trigger = {
  event?: string;
  property?: string;
  op?: "eq" | "neq" | "gt" | "gte" | "lt" | "lte" | "contains" | "exists";
  value?: string | number | boolean;
  session?: true;
  page?: string;
  time_on_page?: number;
};

/** What happened in a page. */
export type Happening =
  | { kind: "event"; name: string; properties: Readonly<Record<string, unknown>> }
  | { kind: "session" }
  | { kind: "page"; name: string }
  | { kind: "time"; seconds: number };

/** Whether a message is shown because of what happened. Source: docs/reference/in-app-messages.md#triggers. */
export const isTriggered = (trigger: Trigger, happening: Happening): boolean => {
  switch (happening.kind) {
    case "event":
      return trigger.event === happening.name && compares(trigger, happening.properties);
    case "session":
      return trigger.session === true;
    case "page":
      return trigger.page !== undefined && isLike(happening.name, trigger.page);
    case "time":
      return trigger.time_on_page === happening.seconds;
  }
};

const compares = ({ property, op, value }: Trigger, properties: Readonly<Record<string, unknown>>): boolean => {
  if (property === undefined) return true;
  const own = Object.hasOwn(properties, property) ? properties[property] : undefined;
  switch (op ?? "exists") {
    case "exists":
      return own !== undefined && own !== null;
    case "eq":
      return own === value;
    case "neq":
      return own !== undefined && own !== value;
    case "contains":
      return typeof own === "string" && own.includes(`${value}`);
    case "gt":
      return isNumber(own) && isNumber(value) && own > value;
    case "gte":
      return isNumber(own) && isNumber(value) && own >= value;
    case "lt":
      return isNumber(own) && isNumber(value) && own < value;
    case "lte":
      return isNumber(own) && isNumber(value) && own <= value;
  }
};

const isNumber = (value: unknown): value is number => typeof value === "number";

/** `*` stands for any characters. It takes one pass over the name: a pattern of an app costs no more than its length. */
const isLike = (name: string, pattern: string): boolean => {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
};

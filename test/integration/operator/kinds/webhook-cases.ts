const header = (more: object) => ({ headers: [{ name: "X-Key", value: "v", ...more }] });
const fromSecret = { secretKeyRef: { name: "keys", key: "x" } };
const condition = (more: object) => ({ filters: { match: "all", conditions: [{ field: "type", op: "eq", ...more }] } });

const named = (name: string) => ({ name, value: "v" });

/** What the schema of a Webhook refuses: each rule once, laid over a right spec. */
export const webhookCases: { it: string; spec: object; says: string }[] = [
  { it: "for custom events of no name", spec: { events: ["event.received"] }, says: "needs eventNames" },
  { it: "with an empty list of names", spec: { events: ["event.received"], eventNames: [] }, says: "needs eventNames" },
  { it: "with an audience of what it does not get", spec: { audience: "bot" }, says: "audience narrows" },
  { it: "with 51 names", spec: { eventNames: Array.from({ length: 51 }, (_, n) => `e${n}`) }, says: "Too many" },
  { it: "with a name of 101 characters", spec: { eventNames: ["n".repeat(101)] }, says: "Too long" },
  { it: "with a name that ends with a space", spec: { eventNames: ["a "] }, says: "spec.eventNames[0]" },
  { it: "with a name twice", spec: { eventNames: ["a", "a"] }, says: "Duplicate value" },
  { it: "with filters of no condition", spec: { filters: { match: "all", conditions: [] } }, says: "spec.filters" },
  { it: "with filters that match otherwise", spec: { filters: { match: "some" } }, says: "Unsupported value" },
  { it: "with a condition on nothing", spec: condition({ field: "" }), says: "conditions[0].field" },
  {
    it: "with a condition on a path with a gap",
    spec: condition({ field: "data..name" }),
    says: "conditions[0].field",
  },
  {
    it: "with the names of events in another field",
    spec: condition({ field: "data.title", op: "matches_event", value: ["a"] }),
    says: "matches_event is about the event's name",
  },
  { it: "with an unknown comparison", spec: condition({ op: "like" }), says: "Unsupported value" },
  {
    it: "with 21 conditions",
    spec: {
      filters: { match: "all", conditions: Array.from({ length: 21 }, () => ({ field: "type", op: "exists" })) },
    },
    says: "Too many",
  },
  { it: "with an empty template", spec: { bodyTemplate: "" }, says: "spec.bodyTemplate" },
  { it: "with a template of 20,001 characters", spec: { bodyTemplate: "a".repeat(20_001) }, says: "Too long" },
  { it: "with a body of another type", spec: { bodyContentType: "text/html" }, says: "Unsupported value" },
  { it: "with a header of two sources", spec: header({ valueFrom: fromSecret }), says: "value or valueFrom" },
  { it: "with a header of no source", spec: { headers: [{ name: "X-Key" }] }, says: "value or valueFrom" },
  { it: "with a header of two lines", spec: header({ value: "a\nb" }), says: "headers[0].value" },
  { it: "with a header of 2,001 characters", spec: header({ value: "a".repeat(2_001) }), says: "Too long" },
  { it: "with a header whose name has a blank", spec: header({ name: "X Key" }), says: "headers[0].name" },
  { it: "with a header's Secret of no key", spec: header({ valueFrom: { secretKeyRef: { name: "a" } } }), says: "key" },
  { it: "with 21 headers", spec: { headers: Array.from({ length: 21 }, (_, n) => named(`X-${n}`)) }, says: "Too many" },
  { it: "with a header twice", spec: { headers: [named("X-Key"), named("x-key")] }, says: "names a header twice" },
  ...["Host", "content-type", "Service-Signature", "webhook-id", "Connection", "Transfer-Encoding", "Keep-Alive", "TE"]
    .concat("Trailer", "Upgrade", "Proxy-Authorization", "Expect", "User-Agent")
    .map((name) => ({ it: `with the header ${name}`, spec: header({ name }), says: "is a reserved header" })),
  { it: "that sends nothing a second", spec: { ratePerSecond: 0 }, says: "spec.ratePerSecond" },
  { it: "that sends 10,001 a second", spec: { ratePerSecond: 10_001 }, says: "spec.ratePerSecond" },
  { it: "with no request at once", spec: { maxInFlight: 0 }, says: "spec.maxInFlight" },
  { it: "with 21 requests at once", spec: { maxInFlight: 21 }, says: "spec.maxInFlight" },
  { it: "with 999 ms for a request", spec: { timeoutMilliseconds: 999 }, says: "spec.timeoutMilliseconds" },
  { it: "with 30,001 ms for a request", spec: { timeoutMilliseconds: 30_001 }, says: "spec.timeoutMilliseconds" },
];

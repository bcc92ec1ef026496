import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import type { HealthWindow } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { headerSecretsOf, headersOf, sealHeaders } from "../../../../../operator/policies/webhooks/headers.ts";
import { type Health, healthStatus } from "../../../../../operator/policies/webhooks/health.ts";
import { enableAskedFor, stateOf } from "../../../../../operator/policies/webhooks/row.ts";

const aSpec = (over: Partial<WebhookSpec> = {}): WebhookSpec => ({
  appRef: "shop",
  url: "https://a.example/",
  events: ["delivery.sent"],
  secretName: "s",
  batch: false,
  bodyContentType: "application/json",
  maxInFlight: 10,
  timeoutMilliseconds: 10_000,
  paused: false,
  suspended: false,
  managementPolicy: "Enforce",
  deletionPolicy: "Delete",
  ...over,
});

describe("policy: a webhook's headers", () => {
  const from = (name: string, key: string) => ({ name, valueFrom: { secretKeyRef: { name: "keys", key } } });
  const secrets = new Map([
    ["keys", { good: " Bearer x\n", long: "a".repeat(2_001), lines: "a\nb", umlaut: "ü", empty: "" }],
  ]);
  const read = (headers: NonNullable<WebhookSpec["headers"]>, values = secrets): unknown => {
    const result = headersOf(aSpec({ headers }), values);
    return "finding" in result ? `${result.finding.reason}: ${result.finding.message}` : result.headers;
  };
  const cases = [
    { it: "none", headers: [], is: [] },
    { it: "a value of its own", headers: [{ name: "A", value: "b" }], is: [{ name: "A", value: "b" }] },
    { it: "an empty value of its own", headers: [{ name: "A", value: "" }], is: [{ name: "A", value: "" }] },
    {
      it: "a Secret's, without its last line end",
      headers: [from("A", "good")],
      is: [{ name: "A", value: "Bearer x" }],
    },
    {
      it: "no such key",
      headers: [from("A", "none")],
      is: "SecretKeyMissing: spec.headers, A: Secret keys has no value for none",
    },
    {
      it: "an empty one",
      headers: [from("A", "empty")],
      is: "SecretKeyMissing: spec.headers, A: Secret keys has no value for empty",
    },
    {
      it: "one too long",
      headers: [from("A", "long")],
      is: "SecretInvalid: spec.headers, A: Secret keys, long: is longer than 2000 characters",
    },
    ...["lines", "umlaut"].map((key) => ({
      it: `one of ${key}`,
      headers: [from("A", key)],
      is: `SecretInvalid: spec.headers, A: Secret keys, ${key}: holds other characters than printable ASCII`,
    })),
  ];
  for (const { it: name, headers, is } of cases) {
    it(`reads ${name}`, () => {
      expect(read(headers)).to.deep.equal(is);
    });
  }

  it("says when there is no such Secret, and which keys of it are read where", () => {
    const headers = [from("A", "good"), from("B", "none")];
    expect(read(headers, new Map())).to.equal(
      "SecretNotFound: spec.headers, A: Secret keys does not exist; it has to have good; " +
        "spec.headers, B: Secret keys does not exist; it has to have none",
    );
    expect(headerSecretsOf(aSpec({ headers }))).to.deep.equal(["keys"]);
  });

  it("keeps what is sealed until a value, a name or the writing key changes", () => {
    const [one, two] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"));
    const ring = keyRing(`k1:${one}`);
    const stored = sealHeaders(ring, "whk_1", [{ name: "A", value: "x" }], []);
    expect(sealHeaders(ring, "whk_1", [{ name: "A", value: "x" }], stored)).to.equal(stored);
    expect(sealHeaders(ring, "whk_1", [{ name: "A", value: "y" }], stored)).not.to.deep.equal(stored);
    expect(sealHeaders(ring, "whk_1", [{ name: "B", value: "x" }], stored)[0]?.name).to.equal("B");
    const renewed = sealHeaders(keyRing(`k2:${two}\nk1:${one}`), "whk_1", [{ name: "A", value: "x" }], stored);
    expect(renewed[0]?.value.kid).to.equal("k2");
    const lost = sealHeaders(keyRing(`k2:${two}`), "whk_1", [{ name: "A", value: "x" }], stored);
    expect(lost[0]?.value.kid).to.equal("k2");
  });
});

describe("policy: an endpoint's state", () => {
  const webhook = ({ spec = {}, asked, enabledFor }: { spec?: object; asked?: string; enabledFor?: string } = {}) => ({
    metadata: {
      name: "w",
      uid: "u",
      resourceVersion: "1",
      ...(asked !== undefined && { annotations: { "herald.dev/enable": asked } }),
    },
    spec: aSpec(spec),
    ...(enabledFor !== undefined && { status: { enabledFor } }),
  });
  const row = (over: Partial<WebhookRow>): WebhookRow =>
    ({ url: "https://a.example/", status: "active", disabled_reason: null, ...over }) as WebhookRow; // what is read
  const gone = row({ status: "disabled", disabled_reason: "gone" });
  const suspended = row({ status: "disabled", disabled_reason: "suspended by its resource" });
  const cases = [
    { it: "begins active", webhook: webhook(), row: null, is: "active" },
    { it: "is the service's own", webhook: webhook(), row: row({ status: "failing" }), is: undefined },
    { it: "stays disabled", webhook: webhook(), row: gone, is: undefined },
    {
      it: "is disabled while suspended",
      webhook: webhook({ spec: { suspended: true } }),
      row: row({}),
      is: "disabled",
    },
    { it: "is active when no longer suspended", webhook: webhook(), row: suspended, is: "active" },
    {
      it: "begins anew with another url",
      webhook: webhook({ spec: { url: "https://b.example/" } }),
      row: gone,
      is: "active",
    },
    { it: "is enabled by the annotation", webhook: webhook({ asked: "1" }), row: gone, is: "active" },
    { it: "is enabled by another value", webhook: webhook({ asked: "2", enabledFor: "1" }), row: gone, is: "active" },
    {
      it: "is not enabled by a value twice",
      webhook: webhook({ asked: "1", enabledFor: "1" }),
      row: gone,
      is: undefined,
    },
    { it: "is not enabled by an empty value", webhook: webhook({ asked: "" }), row: gone, is: undefined },
    {
      it: "is not reset by the annotation while failing",
      webhook: webhook({ asked: "1" }),
      row: row({ status: "failing" }),
      is: undefined,
    },
    {
      it: "stays suspended whatever is asked",
      webhook: webhook({ spec: { suspended: true }, asked: "1" }),
      row: suspended,
      is: "disabled",
    },
  ];
  for (const { it: name, webhook: resource, row: stored, is } of cases) {
    it(name, () => {
      expect(stateOf(resource, stored).status).to.equal(is);
    });
  }

  it("remembers as much of the annotation as status holds, so that a long value counts once", () => {
    const long = "x".repeat(300);
    const heard = enableAskedFor(webhook({ asked: long }));
    expect(stateOf(webhook({ asked: long, enabledFor: heard ?? "" }), gone).status).to.equal(undefined);
  });
});

describe("policy: an endpoint's health in status", () => {
  const now = new Date("2026-11-21T12:00:00Z");
  const window = (over: Partial<HealthWindow> = {}): HealthWindow => ({
    requests: 10,
    success_rate: 0.999,
    p50_ms: 3,
    p99_ms: 15,
    last_error_class: "timeout",
    ...over,
  });
  const before = (secondsAgo: number, over: Partial<Health> = {}): Health => ({
    successRate1h: "99%",
    p99Milliseconds1h: 15,
    lastErrorClass: "timeout",
    updatedAt: new Date(now.getTime() - secondsAgo * 1_000).toISOString(),
    ...over,
  });
  const none = window({ requests: 0, success_rate: null, p50_ms: null, p99_ms: null, last_error_class: null });

  it("is absent without requests", () => {
    expect(healthStatus(none, undefined, now)).to.equal(undefined);
    expect(healthStatus(none, before(61), now)).to.equal(undefined);
  });

  it("rounds down: only without a failure it is 100%", () => {
    expect(healthStatus(window(), undefined, now)?.successRate1h).to.equal("99%");
    expect(healthStatus(window({ success_rate: 1 }), undefined, now)?.successRate1h).to.equal("100%");
  });

  it("stays as it was written while the numbers are the same", () => {
    const old = before(3_000);
    expect(healthStatus(window(), old, now)).to.equal(old);
  });

  it("stays for a minute though the numbers changed, and changes then", () => {
    const changed = window({ success_rate: 0.5, last_error_class: null });
    const [young, old] = [before(59), before(60)];
    expect(healthStatus(changed, young, now)).to.equal(young);
    expect(healthStatus(changed, old, now)).to.deep.equal({
      successRate1h: "50%",
      p99Milliseconds1h: 15,
      updatedAt: now.toISOString(),
    });
  });
});

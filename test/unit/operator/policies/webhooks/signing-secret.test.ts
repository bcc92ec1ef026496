import { expect } from "chai";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import type { FoundSecret } from "../../../../../operator/kube/secrets.ts";
import { type SigningInput, signingOf } from "../../../../../operator/policies/webhooks/signing-secret.ts";
import { testKeyRing } from "../../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

const ring = keyRing(testKeyRing);
const now = new Date("2026-11-22T12:00:00Z");
const [former, current, made] = ["a", "b", "c"].map((letter) => `whsec_${letter.repeat(43)}=`) as [
  string,
  string,
  string,
];
const context = "webhooks/whk_1/secret";
const stored = (secret: string) => aWebhook({ secret: ring.seal(secret, context) });

const inSecret = (secret: string, kind: "own" | "left" = "own", rotatedFor: string | null = null): FoundSecret => ({
  kind,
  secret: { metadata: { name: "s", namespace: "n", uid: "s", resourceVersion: "1" } },
  values: { secret },
  rotatedFor,
});

const aResource = (annotations: Record<string, string> = {}, status: { appId?: string } = {}) => ({
  metadata: { name: "events", namespace: "n", uid: "u", resourceVersion: "1", annotations },
  spec: {} as WebhookSpec, // not looked at
  status,
});

/** What is in force afterwards: the signing secret, whether it replaced another, and the one before. */
const decided = (over: Partial<SigningInput>) => {
  const input = { webhook: aResource(), id: "whk_1", appId: "app_1", row: null, now, ...over };
  const signing = signingOf(ring, { found: { kind: "absent" }, ...input }, () => made);
  if (signing === null) return null;
  const { secret, isReplaced, sealed } = signing;
  expect(ring.open(sealed.secret, context), "the document has what the Secret has").to.equal(secret);
  const previous = sealed.previous_secret;
  return { secret, isReplaced, previous: previous && ring.open(previous.secret, context) };
};

describe("policy: a webhook's signing secret", () => {
  const cases: { it: string; given: Partial<SigningInput>; is: ReturnType<typeof decided> }[] = [
    { it: "is made for a new endpoint", given: {}, is: { secret: made, isReplaced: false, previous: null } },
    {
      it: "stays as it is",
      given: { row: stored(current), found: inSecret(current) },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is written back when its Secret is gone",
      given: { row: stored(current) },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is written back when its Secret holds no signing secret",
      given: { row: stored(current), found: inSecret("nonsense") },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is what a person wrote into the Secret; the one before signs for another day",
      given: { row: stored(former), found: inSecret(current) },
      is: { secret: current, isReplaced: true, previous: former },
    },
    {
      it: "is made anew when a person asks for it by the annotation",
      given: {
        webhook: aResource({ "herald.dev/rotate": "2" }),
        row: stored(current),
        found: inSecret(current, "own", "1"),
      },
      is: { secret: made, isReplaced: true, previous: current },
    },
    {
      it: "is made once for each value of the annotation",
      given: {
        webhook: aResource({ "herald.dev/rotate": "2" }),
        row: stored(current),
        found: inSecret(current, "own", "2"),
      },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is taken from the Secret of a former endpoint of the same app",
      given: { webhook: aResource({}, { appId: "app_1" }), found: inSecret(current) },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is another one for another app of the same name",
      given: { webhook: aResource({}, { appId: "app_0" }), found: inSecret(current) },
      is: { secret: made, isReplaced: true, previous: null },
    },
    {
      it: "is taken back with a Secret that was left and has its value",
      given: { row: stored(current), found: inSecret(current, "left") },
      is: { secret: current, isReplaced: false, previous: null },
    },
    {
      it: "is not written into a Secret that was left with another value",
      given: { row: stored(current), found: inSecret(former, "left") },
      is: null,
    },
    { it: "is not written into somebody else's Secret", given: { found: { kind: "foreign" } }, is: null },
    {
      it: "is sealed anew when the stored one cannot be opened any more",
      given: { row: aWebhook({ secret: { kid: "lost", data: "" } }), found: inSecret(current) },
      is: { secret: current, isReplaced: false, previous: null },
    },
  ];
  for (const { it: name, given, is } of cases) {
    it(name, () => {
      expect(decided(given)).to.deep.equal(is);
    });
  }

  it("ends the former one after a day", () => {
    const previous_secret = { secret: ring.seal(former, context), expires_at: now };
    const row = { ...stored(current), previous_secret };
    expect(decided({ row, found: inSecret(current) })).to.include({ previous: null });
    const before = new Date(now.getTime() - 1);
    expect(decided({ row, found: inSecret(current), now: before })).to.include({ previous: former });
  });
});

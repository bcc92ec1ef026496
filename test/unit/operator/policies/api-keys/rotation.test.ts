import { expect } from "chai";
import { hashOf } from "#core/domain/api-keys/hashes.ts";
import {
  isReplacementDue,
  madeAtOf,
  nextRotationAt,
  overlapMsOf,
} from "../../../../../operator/policies/api-keys/rotation.ts";

const hourMs = 3_600_000;
const now = new Date("2026-01-10T00:00:00Z");
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * hourMs);
const current = { hash: hashOf("current"), expires_at: null };
const former = { hash: hashOf("current"), expires_at: now };
const daily = { rotation: { everyHours: 24, overlapHours: 12 } };

describe("policy: rotation", () => {
  const cases = [
    { it: "is not due without a schedule", given: { spec: {} }, due: false },
    { it: "is not due by an overlap alone", given: { spec: { rotation: { overlapHours: 1 } } }, due: false },
    { it: "is due when the token is as old as the schedule allows", given: { hours: 24 }, due: true },
    { it: "is not due a moment before", given: { hours: 23.999 }, due: false },
    { it: "is due once after many intervals", given: { hours: 1_000 }, due: true },
    { it: "is due when somebody asks, however young the token", given: { hours: 0, asked: "1" }, due: true },
    { it: "is not due for what was asked before", given: { hours: 0, asked: "1", rotatedFor: "1" }, due: false },
    {
      it: "is not due by schedule for a key that has expired",
      given: { hours: 99, spec: { ...daily, expiresAt: hoursAgo(1).toISOString() } },
      due: false,
    },
    { it: "is due again when it was cut short before the Secret", given: { hours: 0, cutShort: true }, due: true },
    { it: "is not due by schedule as long as the age is not known", given: { hours: null }, due: false },
  ];
  for (const { it: name, given, due } of cases) {
    it(name, () => {
      const { spec = daily, hours = 9_999, asked, rotatedFor = null, cutShort = false } = given as Given;
      const hashes = cutShort ? [{ hash: hashOf("lost"), expires_at: null }, former] : [current];
      const stored = { hashes, ...(hours !== null && { rotated_at: hoursAgo(hours) }) };
      expect(isReplacementDue({ spec, asked, rotatedFor, token: "current", stored, now })).to.equal(due);
    });
  }

  it("lets a replaced token work for a day when the resource does not say", () => {
    expect(overlapMsOf({})).to.equal(24 * hourMs);
    expect(overlapMsOf({ rotation: { overlapHours: 0 } })).to.equal(0);
    expect(overlapMsOf(daily)).to.equal(12 * hourMs);
  });

  it("counts from when the token was made", () => {
    expect(nextRotationAt(daily, hoursAgo(1))).to.deep.equal(new Date(now.getTime() + 23 * hourMs));
    expect(nextRotationAt({}, hoursAgo(1))).to.equal(null);
  });

  it("remembers when the token was made, and counts anew for one that it does not know", () => {
    const stored = { hashes: [current], rotated_at: hoursAgo(5) };
    expect(madeAtOf("current", { stored, now })).to.deep.equal(hoursAgo(5));
    expect(madeAtOf("other", { stored, now })).to.deep.equal(now);
    expect(madeAtOf("current", { stored: { hashes: [current] }, now })).to.deep.equal(now);
    expect(madeAtOf("current", { stored: null, now })).to.deep.equal(now);
  });
});

type Given = {
  spec?: Parameters<typeof isReplacementDue>[0]["spec"];
  hours?: number | null;
  asked?: string;
  rotatedFor?: string | null;
  cutShort?: boolean;
};

import { expect } from "chai";
import { hashesAfter, hashesBefore, hashOf } from "#core/domain/api-keys/hashes.ts";

describe("policy: tokens", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const later = (ms: number): Date => new Date(now.getTime() + ms);
  const overlapMs = 24 * 3_600_000;
  const at = { token: "new", expiresAt: null, overlapMs, now };
  const current = { hash: hashOf("new"), expires_at: null };

  it("leave all that works as it is until the new one is in the Secret", () => {
    const known = [
      { hash: "old", expires_at: null },
      { hash: "older", expires_at: later(1) },
    ];
    expect(hashesBefore({ ...at, known })).to.deep.equal([current, ...known]);
  });

  it("keep the replaced token valid for a day, and no longer than it was to live", () => {
    const [, old] = hashesAfter({ ...at, known: [{ hash: "old", expires_at: null }] });
    expect(old).to.deep.equal({ hash: "old", expires_at: later(overlapMs) });
    const [, short] = hashesAfter({ ...at, known: [{ hash: "old", expires_at: later(1) }] });
    expect(short?.expires_at).to.deep.equal(later(1));
  });

  it("drop what has expired and keep what still overlaps", () => {
    const known = [
      { hash: "gone", expires_at: later(-1) },
      { hash: "still", expires_at: later(1_000) },
    ];
    expect(hashesAfter({ ...at, known }).map(({ hash }) => hash)).to.deep.equal([current.hash, "still"]);
  });

  it("end sooner when the overlap is made shorter, and never later", () => {
    const known = [
      { hash: "long", expires_at: later(5_000) },
      { hash: "short", expires_at: later(500) },
    ];
    const of = (overlap: number) => hashesAfter({ ...at, known, overlapMs: overlap }).slice(1);
    expect(of(1_000).map(({ expires_at }) => expires_at)).to.deep.equal([later(1_000), later(500)]);
    expect(of(9_000)).to.deep.equal(known);
    expect(of(0)).to.deep.equal([]);
  });
});

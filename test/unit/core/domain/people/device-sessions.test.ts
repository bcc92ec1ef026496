import { expect } from "chai";
import { withSession } from "#core/domain/people/device-sessions.ts";

describe("a session that a device tells", () => {
  const at = new Date("2026-11-27T12:00:00Z");
  const session = { of: "sub_1", at, s: 30 };

  it("is new, then longer, then known", () => {
    const first = withSession([], session);
    expect(first).to.deep.equal({ counted: "new", sessions: [session], seconds: 30 });
    const second = withSession(first.sessions, { ...session, s: 45 });
    expect(second).to.deep.equal({ counted: "longer", sessions: [{ ...session, s: 45 }], seconds: 15 });
    expect(withSession(second.sessions, session)).to.deep.include({ counted: "known", seconds: 0 });
  });

  it("is another one of another device, or at another time", () => {
    const known = [session];
    expect(withSession(known, { ...session, of: "sub_2" }).counted).to.equal("new");
    expect(withSession(known, { ...session, at: new Date(at.getTime() + 1) }).counted).to.equal("new");
  });

  it("is remembered with the last ten", () => {
    const many = Array.from({ length: 12 }, (_, n) => ({ ...session, at: new Date(at.getTime() + n) }));
    const kept = many.reduce<(typeof session)[]>((known, one) => withSession(known, one).sessions, []);
    expect(kept).to.deep.equal(many.slice(2));
  });
});

import { expect } from "chai";
import { beforeIdsOf, derivedId, derivedIdAt, newId, ulid } from "#core/domain/ids.ts";

const noon = new Date("2026-03-01T12:00:00Z");

describe("ids", () => {
  it("of things that follow from others stay what they were in every release", () => {
    expect(derivedId("delivery", "msg_1", "sub_1")).to.equal("dlv_1NFWXPW0HY8BC1H3S360PGVVF6");
    expect(derivedIdAt("event", noon, "a")).to.equal("evt_01KJMMA2G0SABR24PA3EYWNYP2");
  });

  it("grow within one millisecond", () => {
    const made = Array.from({ length: 1_000 }, () => ulid(noon));
    expect(made).to.deep.equal(made.toSorted());
    expect(new Set(made).size).to.equal(made.length);
  });

  it("grow within one millisecond, whatever other instants are asked for in between", () => {
    const later = new Date(noon.getTime() + 3_600_000);
    const made = Array.from({ length: 1_000 }, () => ({ early: ulid(noon), late: ulid(later) }));
    for (const ids of [made.map(({ early }) => early), made.map(({ late }) => late)])
      expect(ids).to.deep.equal(ids.toSorted());
  });

  it("grow within one millisecond while it is asked for, however many other instants are", () => {
    const made = Array.from({ length: 200 }, (_, index) => {
      ulid(new Date(noon.getTime() + 1_000 + index)); // far more than keep a sequence
      return ulid(noon);
    });
    expect(made).to.deep.equal(made.toSorted());
  });

  it("have the time of their instant, also when it is older than the last one", () => {
    for (const at of [new Date(noon.getTime() + 86_400_000), noon])
      expect(newId("message", at).slice(0, 14)).to.equal(beforeIdsOf("message", at));
    expect(beforeIdsOf(null, noon)).to.equal("01KJMMA2G0");
    expect(ulid(noon)).to.match(/^01KJMMA2G0[0-9A-HJKMNP-TV-Z]{16}$/);
  });

  it("begin with 1970", () => {
    expect(beforeIdsOf(null, new Date(-1))).to.equal("0000000000");
  });
});

import { expect } from "chai";
import { Type } from "typebox";
import { Nullable } from "#core/schema/json/common.ts";
import { showAs } from "#core/schema/json/show.ts";

const Thing = Type.Object({
  id: Type.String(),
  made_at: Type.String({ format: "date-time" }),
  ended_at: Nullable(Type.String({ format: "date-time" })),
  note: Nullable(Type.String()),
  warnings: Type.Optional(Type.Array(Type.String())),
});

const row = { _id: "t_1", secret: "s", id: "t_1", made_at: new Date("2026-11-21T12:00:00.000Z") };

describe("what a reply shows of a document", () => {
  it("is the schema's members in its order, instants as text, null for what is not there", () => {
    const shown = JSON.stringify(showAs(Thing, { ...row, note: undefined }));
    expect(shown).to.equal('{"id":"t_1","made_at":"2026-11-21T12:00:00.000Z","ended_at":null,"note":null}');
  });

  it("has a member that may be left out when the document has it", () => {
    const shown = showAs(Thing, { ...row, ended_at: new Date(0), warnings: ["w"] });
    expect(shown).to.include({ ended_at: "1970-01-01T00:00:00.000Z" });
    expect(shown.warnings).to.deep.equal(["w"]);
  });

  it("fails for a damaged document, which lacks what a reply always shows", () => {
    const { made_at: _, ...damaged } = row;
    expect(() => showAs(Thing, damaged as typeof row)).to.throw(TypeError, "made_at is missing");
    expect(() => showAs(Thing, { ...row, id: null as unknown as string })).to.throw(TypeError, "id is missing");
  });
});

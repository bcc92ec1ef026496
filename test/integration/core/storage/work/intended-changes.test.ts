import { expect } from "chai";
import {
  type Changeable,
  changeWasMade,
  type IntendedChange,
  rememberChange,
} from "#core/storage/work/intended-changes.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const ids = (from: number, count: number) => Array.from({ length: count }, (_, n) => `evb_${from + n}`);

describe("whether a change was made", () => {
  const db = testDatabase("changes", []);

  const cases: { it: string; kind: IntendedChange["kind"]; row: Changeable | null; expected: boolean }[] = [
    { it: "made, and there", kind: "made", row: {}, expected: true },
    { it: "made, and not there", kind: "made", row: null, expected: false },
    { it: "changed, and the last change of it", kind: "changed", row: { change_ids: ["evb_20"] }, expected: true },
    { it: "changed, and again since", kind: "changed", row: { change_ids: ["evb_20", "evb_21"] }, expected: true },
    { it: "changed, and not by this change", kind: "changed", row: { change_ids: ids(21, 9) }, expected: false },
    { it: "changed, and never since it was made", kind: "changed", row: {}, expected: false },
    { it: "changed, and forgotten since", kind: "changed", row: { change_ids: ids(21, 10) }, expected: true },
    { it: "changed, and not among ten older ones", kind: "changed", row: { change_ids: ids(10, 10) }, expected: false },
    { it: "changed, and gone since", kind: "changed", row: null, expected: true },
    { it: "removed, and gone", kind: "removed", row: null, expected: true },
    { it: "removed, and still there", kind: "removed", row: {}, expected: false },
  ];
  for (const collection of ["webhooks", "live_activity_types"] as const) {
    for (const { it: title, kind, row, expected } of cases) {
      it(`says of one of ${collection} that was to be ${title}: ${expected}`, async () => {
        const document_id = `${kind}-${cases.findIndex((one) => one.it === title)}`;
        if (row !== null)
          await db()
            .collection(collection)
            .insertOne({ _id: document_id as never, ...row });
        expect(await changeWasMade(db())("evb_20", { collection, document_id, kind })).to.equal(expected);
      });
    }
  }

  it("is remembered for ten changes", () => {
    const last = ids(10, 12).reduce<Changeable>(rememberChange, {});
    expect(last.change_ids).to.deep.equal(ids(12, 10));
  });
});

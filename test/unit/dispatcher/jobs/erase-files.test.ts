import { expect } from "chai";
import { names } from "../../../../dispatcher/jobs/erase-files.ts";

const keys = new Set(["usr_01A", "external_id:anna-1", "crm:7", "email:anna@example.com"]);

/** A file whose pieces end after so many bytes each. */
const inPieces = async function* (text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let from = 0; from < all.length; from += bytes) yield all.subarray(from, from + bytes);
};

describe("a file that may name somebody who is erased", () => {
  const cases = [
    { it: "has an id of ours", text: "id,name\nusr_01A,x\n", isNamed: true },
    { it: "has an id of the app as a cell", text: "a,anna-1\r\nb,c", isNamed: true },
    { it: "has it as the last thing it says", text: "a,anna-1", isNamed: true },
    { it: "has it in the JSON of a cell", text: '"{""crm"":""7""}"', isNamed: true },
    { it: "has an address in capitals", text: "ANNA@EXAMPLE.COM\n", isNamed: true },
    {
      it: "has it only as a part of another id",
      text: "anna-10,usr_01AB,xanna-1,17,dianna@example.com\n",
      isNamed: false,
    },
    { it: "has another's before the person's", text: "anna-10,anna-1\n", isNamed: true },
    { it: "has nothing", text: "", isNamed: false },
  ];
  for (const { it: says, text, isNamed } of cases)
    it(`${says}: ${isNamed ? "names them" : "does not"}, however it is cut`, async () => {
      for (const bytes of [1, 3, 7, 1_000])
        expect(await names(inPieces(text, bytes), keys), `${bytes}`).to.equal(isNamed);
    });
});

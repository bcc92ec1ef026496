import { expect } from "chai";
import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from "mongodb";
import { Unavailable } from "#core/errors.ts";
import { isOfOne, isPassing } from "#core/queue/jetstream/passing.ts";

const givenUp = { code: 16_908_292, message: "deadlock detected" };
const oneOfSeveral = {
  message: "a write failed",
  code: 0,
  writeErrors: [{ code: 16_908_292, errmsg: "deadlock detected" }],
};
const bulk = new MongoBulkWriteError(oneOfSeveral as never, {} as never); // sound: as the driver makes it

describe("errors that pass by themselves", () => {
  const cases: [name: string, error: Error, passes: boolean, ofOne: boolean][] = [
    ["a store that is away", new MongoNetworkError("connection closed"), true, false],
    ["what a request is answered when it is", new Unavailable("the database"), true, false],
    ["a deadlock that FerretDB hands on", new MongoServerError(givenUp), true, true],
    ["a conflict of MongoDB", new MongoServerError({ code: 112, message: "WriteConflict" }), true, true],
    ["one write of a bulk that was given up", bulk, true, true],
    ["a document that the store refuses", new MongoServerError({ code: 2, message: "BadValue" }), false, true],
    ["a fault of the work itself", new TypeError("undefined is not a function"), false, true],
  ];
  for (const [name, error, passes, ofOne] of cases)
    it(`${name} ${passes ? "passes" : "stays"}, and is ${ofOne ? "" : "not "}written again one by one`, () => {
      expect([isPassing(error), isOfOne(error)]).to.deep.equal([passes, ofOne]);
    });
});

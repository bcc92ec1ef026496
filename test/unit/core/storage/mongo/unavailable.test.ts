import { expect } from "chai";
import { MongoServerError } from "mongodb";
import { Unavailable } from "#core/errors.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";

describe("an error of MongoDB", () => {
  for (const { it: name, code, message, isAway } of [
    {
      it: "without room, as FerretDB says it, means that the same call may work later",
      code: 4293,
      message: 'could not extend file "base/5/19178_fsm": No space left on device',
      isAway: true,
    },
    { it: "without room, as MongoDB says it, does too", code: 14_031, message: "disk is low on space", isAway: true },
    { it: "of another kind stays itself", code: 4293, message: "could not read", isAway: false },
  ])
    it(name, () => {
      const error = new MongoServerError({ code, message });
      expect(unavailable(error) instanceof Unavailable).to.equal(isAway);
    });
});

import { expect } from "chai";
import { openGates } from "../../../../dispatcher/messages/gates/all.ts";
import type { Gate } from "../../../../dispatcher/messages/gates/gate.ts";
import { aMessage, aSubscription } from "../../../support/rows/work.ts";

describe("the gates before a send", () => {
  const recipients = ["sub_1", "sub_2", "sub_3"].map((_id) => aSubscription({ _id }));

  it("are opened once for all recipients, and the first that has a reason gives it", async () => {
    const opened: string[][] = [];
    const knowing: Gate = async (_message, all) => {
      opened.push(all.map(({ _id }) => _id));
      return ({ _id }) => (_id === "sub_2" ? "unsubscribed" : null);
    };
    const strict: Gate =
      () =>
      ({ _id }) =>
        _id === "sub_1" ? null : "not_test_device";
    const check = await openGates([knowing, strict], aMessage(), recipients);
    expect(recipients.map(check)).to.deep.equal([null, "unsubscribed", "not_test_device"]);
    expect(opened).to.deep.equal([["sub_1", "sub_2", "sub_3"]]);
  });
});

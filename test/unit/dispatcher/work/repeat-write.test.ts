import { expect } from "chai";
import { MongoNetworkError } from "mongodb";
import { repeatWrite } from "../../../../dispatcher/work/repeat-write.ts";

const away = () => new MongoNetworkError("connect ECONNREFUSED");

describe("a repeated write", () => {
  it("is repeated until the database is back", async () => {
    let calls = 0;
    const write = async (): Promise<string> => {
      if (++calls < 3) throw away();
      return "written";
    };
    expect(await repeatWrite(5_000, write)).to.equal("written");
    expect(calls).to.equal(3);
  });

  it("gives up when its time is over", async () => {
    let calls = 0;
    const write = async (): Promise<never> => {
      calls++;
      throw away();
    };
    const failure = await repeatWrite(290, write).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(MongoNetworkError);
    expect(calls).to.equal(2);
  });

  it("is not repeated for an error that would come again", async () => {
    let calls = 0;
    const write = async (): Promise<never> => {
      calls++;
      throw new Error("not a valid document");
    };
    const failure = await repeatWrite(5_000, write).catch((error: unknown) => error);
    expect(failure).to.have.property("message", "not a valid document");
    expect(calls).to.equal(1);
  });
});

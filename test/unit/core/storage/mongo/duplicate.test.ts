import { expect } from "chai";
import { MongoBulkWriteError, MongoServerError } from "mongodb";
import { Unavailable } from "#core/errors.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import { oneWriter, retryConflicts } from "#core/storage/mongo/duplicate.ts";

const conflict = () => new MongoServerError({ message: "deadlock detected", code: 16_908_292 });

describe("one writer of a key", () => {
  it("runs writes of one key one after another, in the order of coming", async () => {
    const alone = oneWriter();
    const steps: string[] = [];
    const write = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${name} ends`);
    };
    await Promise.all([alone("k", write("a")), alone("k", write("b"))]);
    expect(steps).to.deep.equal(["a begins", "a ends", "b begins", "b ends"]);
  });

  it("lets writes of another key pass", async () => {
    const alone = oneWriter();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = alone("waiting", () => promise);
    await alone("free", async () => undefined);
    resolve();
    await waiting;
  });

  it("goes on after a write that failed, and tells its own caller", async () => {
    const alone = oneWriter();
    const failed = alone("k", () => Promise.reject(new Error("away")));
    const next = alone("k", async () => "written");
    expect(await failed.catch((error: Error) => error.message)).to.equal("away");
    expect(await next).to.equal("written");
  });
});

describe("a write that the store gave up", () => {
  it("is made again", async () => {
    let calls = 0;
    const write = () => (++calls === 1 ? Promise.reject(conflict()) : Promise.resolve("written"));
    expect(await retryConflicts(write)).to.equal("written");
  });

  it("is made again when it is one of several, whatever befell the others", async () => {
    const writeErrors = [
      { code: 11_000, errmsg: "Duplicate key violation" },
      { code: 16_908_292, errmsg: "deadlock detected" },
    ];
    const bulk = new MongoBulkWriteError(
      { message: "Duplicate key violation", code: 11_000, writeErrors } as never,
      {} as never,
    ); // sound: as the driver makes it
    let calls = 0;
    expect(await retryConflicts(() => (++calls === 1 ? Promise.reject(bulk) : Promise.resolve("written")))).to.equal(
      "written",
    );
    expect(unavailable(bulk)).to.be.instanceOf(Unavailable);
  });

  it("is given up after eight attempts, ever further apart", async () => {
    let calls = 0;
    const pauses: number[] = [];
    const write = () => {
      calls++;
      return Promise.reject(conflict());
    };
    const pause = (ms: number) => Promise.resolve(pauses.push(ms));
    const error = await retryConflicts(write, pause).catch((thrown: Error) => thrown);
    expect(error).to.be.instanceOf(MongoServerError);
    expect(calls).to.equal(8);
    expect(pauses).to.have.length(7);
    for (const [n, ms] of pauses.entries()) expect(ms).to.be.within(25 * 2 ** n, 75 * 2 ** n);
  });

  it("is not made again for any other error", async () => {
    let calls = 0;
    const failing = retryConflicts(() => {
      calls++;
      return Promise.reject(new Error("away"));
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("away");
    expect(calls).to.equal(1);
  });
});

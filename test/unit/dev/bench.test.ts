import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { command } from "../../../dev/processes/run-command.ts";
import { compare, type Work, withOneDispatcher } from "../../bench/figures/compare.ts";
import { atLeast, atMost, type Figure, judge, reachPushUs } from "../../bench/figures/figure.ts";
import { type Course, type Measurement, measureAll } from "../../bench/measure-all.ts";
import { runLoad } from "../../bench/messages/load.ts";
import type { Round } from "../../bench/servers.ts";
import { firstArrivals } from "../../bench/webhooks/kill.ts";

const unused = () => Promise.reject(new Error("no server is needed here"));
const round: Round = {
  isShort: false,
  isBusy: false,
  pushUs: async () => reachPushUs,
  withStores: unused,
  withInstallation: unused,
  withCluster: unused,
};

const aFigure = (name: string, value = 1): Figure => ({ name, reach: atLeast(1), value, unit: "/s", how: "once" });
const telling =
  (...names: string[]): Measurement =>
  async (_round, tell) =>
    tell(...names.map((name) => aFigure(name)));

/** Runs a course and gives what it printed, what it kept and its tally. */
const run = async (over: Pick<Course, "groups"> & Partial<Course>) => {
  const lines: string[] = [];
  const kept: [string, string[]][] = [];
  const tally = await measureAll({
    round,
    print: (line) => void lines.push(line),
    keep: (group, figures) => void kept.push([group, figures.map(({ name }) => name)]),
    withinMs: 10_000,
    ...over,
  });
  return { lines, kept, tally };
};

describe("a round of measurements", () => {
  it("prints a figure when it is known, not when its measurement is over", async () => {
    const lines: string[] = [];
    const { promise: printed, resolve: goOn } = Promise.withResolvers<void>();
    const measurement: Measurement = async (_round, tell) => {
      tell(aFigure("first"));
      await printed;
    };
    const print = (line: string): void => {
      lines.push(line);
      if (line.startsWith("first")) goOn(); // else it would never end
    };
    await run({ groups: { a: { measurement } }, print });
    expect(lines[1]).to.match(/^first +≥ 1 \/s +1\.0 \/s +1\.0 \/s +reached +once$/);
  });

  it("has a row that says what failed and why, keeps what was printed before, and goes on", async () => {
    const breaks: Measurement = async (_round, tell) => {
      tell(aFigure("before"));
      throw new Error("operator-0 did not start: it ended\nthe last line of its log");
    };
    const { lines, kept, tally } = await run({ groups: { a: { breaks, next: telling("after") }, b: {} } });
    expect(lines[2]).to.match(/^breaks +FAILED +operator-0 did not start: it ended\n +the last line of its log$/);
    expect(lines[3]).to.match(/^after /);
    expect(kept).to.deep.equal([
      ["a", ["before"]],
      ["a", ["after"]],
    ]);
    expect(tally).to.deep.equal({ passed: 1, failed: 1 });
  });

  it("says that a figure is not reached, which is no failure", async () => {
    const slow: Measurement = async (_round, tell) => tell(aFigure("slow", 0.5));
    const { lines, tally } = await run({ groups: { a: { slow } } });
    expect(lines[1]).to.include("NOT REACHED");
    expect(tally).to.deep.equal({ passed: 1, failed: 0 });
  });

  it("says nothing of what is reached when it is short", async () => {
    const { lines } = await run({ groups: { a: { one: telling("one") } }, round: { ...round, isShort: true } });
    expect(lines[1]).to.match(/^one .* tried +once$/);
  });

  it("fails a figure that is no number, and does not keep it", async () => {
    const empty: Measurement = async (_round, tell) => tell(aFigure("p99 of nothing", Number.NaN));
    const { lines, kept, tally } = await run({ groups: { a: { empty } } });
    expect(lines[1]).to.match(/^empty +FAILED +p99 of nothing: no number/);
    expect(kept).to.deep.equal([]);
    expect(tally).to.deep.equal({ passed: 0, failed: 1 });
  });

  it("gives up a measurement that does not end", async () => {
    const endless: Measurement = () => new Promise(() => {});
    const { lines, tally } = await run({ groups: { a: { endless, next: telling("after") } }, withinMs: 20 });
    expect(lines[1]).to.match(/^endless +FAILED +not over after 0.02 s$/);
    expect(tally).to.deep.equal({ passed: 1, failed: 1 });
  });

  it("survives what is thrown beside all that is awaited", async () => {
    const script = `
      const { measureAll } = await import("./test/bench/measure-all.ts");
      const thrown = () => new Promise(() => setTimeout(() => { throw new Error("beside"); }, 1));
      const groups = { a: { thrown, fine: async () => {} } };
      const course = { groups, round: { isShort: false, pushUs: async () => 32 }, print: console.log, keep: () => {}, withinMs: 10_000 };
      console.log(JSON.stringify(await measureAll(course)));
    `;
    const printed = await command([process.execPath, "--input-type=module", "--eval", script]);
    expect(printed)
      .to.match(/^thrown +FAILED +beside$/m)
      .and.to.include('{"passed":1,"failed":1}');
  });
});

describe("a figure of a machine that needs twice the CPU", () => {
  const judged = (reach: Figure["reach"], value: number, unit: string) => {
    const { scaled, isReached } = judge({ name: "one", reach, value, unit, how: "once" }, 2 * reachPushUs);
    return { scaled, isReached };
  };

  it("is judged by half of it when it is an amount of CPU", () => {
    expect(judged(atMost(100), 200, "µs")).to.deep.equal({ scaled: 100, isReached: true });
    expect(judged(atMost(100), 202, "µs")).to.deep.equal({ scaled: 101, isReached: false });
  });

  it("is judged by twice of it when it is a rate", () => {
    expect(judged(atLeast(100), 50, "/s")).to.deep.equal({ scaled: 100, isReached: true });
    expect(judged(atLeast(100), 49, "/s")).to.deep.equal({ scaled: 98, isReached: false });
  });

  it("is judged by what a push cost beside it, where that is known", () => {
    const beside = { name: "one", reach: atMost(100), value: 300, unit: "µs", how: "once", pushUs: 3 * reachPushUs };
    expect(judge(beside, 2 * reachPushUs)).to.include({ scaled: 100, isReached: true });
  });

  it("is judged as it was measured when it is a time", () => {
    expect(judged(atMost(100), 101, "ms")).to.deep.equal({ scaled: undefined, isReached: false });
  });
});

describe("work that is compared with other work", () => {
  it("is scaled when the machine had become slower", () => {
    const work = (perSecond: number, cpuUs: number, pushUs: number): Work => ({
      perSecond,
      cpuUs: { all: cpuUs },
      pushUs,
    });
    const [rate, cpu] = compare("two", work(500, 220, 64), withOneDispatcher(work(1_000, 100, 32)));
    expect([rate?.value, cpu?.value]).to.deep.equal([100, 110]);
  });
});

describe("a load at an even pace", () => {
  it("sends each request when it is due, whether or not those before are answered", async () => {
    const waiting: ServerResponse[] = [];
    const server = createServer((_request, response) => {
      waiting.push(response);
      if (waiting.length === 20) for (const one of waiting) one.end();
    });
    await once(server.listen({ port: 0, host: "127.0.0.1" }), "listening");
    const { port } = server.address() as AddressInfo; // a TCP server's address is never a string
    const load = { url: `http://127.0.0.1:${port}`, connections: 32, headers: {}, body: String, status: 200 };
    const { perSecond, failures } = await runLoad({ ...load, requests: 20, perSecond: 200 });
    server.close();
    expect(perSecond).to.be.within(1, 220); // 20 in 95 ms, but for what a timer is early
    expect(failures).to.deep.equal({});
  });
});

describe("the first arrivals after a kill", () => {
  const sentAtMs = [1, 2, 11, 12, 13, 14];

  it("are those of events that were published after it, for each endpoint in turn", () => {
    const arrivals = new Map([
      [0, 15],
      [1, 16],
      [4, 40],
      [2, 50],
      [3, 30],
    ]);
    expect(firstArrivals(2, 10, { sentAtMs, arrivals })).to.deep.equal([40, 30]);
  });

  it("are never where nothing arrived", () => {
    expect(firstArrivals(2, 10, { sentAtMs, arrivals: new Map([[2, 20]]) })).to.deep.equal([20, Infinity]);
  });
});

import { expect } from "chai";
import { eventually, isReady } from "./support/cluster/cluster.ts";
import type { Disk } from "./support/cluster/disks.ts";
import { commandsOf, run } from "./support/pages.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";
import { trial } from "./support/trial.ts";

const withinMs = 120_000;
const [restartNats = ""] = commandsOf("full-disk.md", "The chart's own stores");

/** What a caller was answered; null when there was no answer. */
type Answer = { status: number; headers: Headers; id: string } | null;

describe("a store of the chart whose volume is full", function () {
  this.timeout(600_000); // every wait inside has a bound of its own
  let at: System;
  let disks: Record<"mongodb" | "nats" | "redis", Disk>;
  let token: string;
  const accepted: string[] = [];

  before(async function () {
    at = await system();
    const installation = (await trial(at)) ?? this.skip();
    const { diskOf } = installation.volumes;
    if (diskOf === null) {
      console.log("      pending: volumes are not the tests' own, as E2E_NODE_EXEC is not given");
      return this.skip();
    }
    await installation.ready();
    await at.people();
    ({ token } = await at.client());
    const of = (store: string) => diskOf(releaseName, `data-${pod(store)}`);
    disks = { mongodb: await of("mongodb"), nats: await of("nats"), redis: await of("redis") };
  });
  after(async () => {
    for (const disk of Object.values(disks ?? {})) await disk.free();
  });

  const call = async (): Promise<Answer> => {
    const target = { include_external_ids: ["ada"], channels: ["ios_push"] };
    const response = await fetch(`${at.at.rest}/v1/notifications`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ target, contents: { en: "x".repeat(2_000) } }),
      signal: AbortSignal.timeout(20_000),
    }).catch(() => null);
    if (response === null) return null;
    const { status, headers } = response;
    const { id = "" } = (await response.json()) as { id?: string };
    if (status === 202) accepted.push(id);
    return { status, headers, id };
  };
  /** Calls until an answer is as it has to be; all answers. */
  const callUntil = async (what: string, holds: (answer: Answer) => boolean): Promise<Answer[]> => {
    const answers: Answer[] = [];
    await eventually(what, withinMs, async () => {
      const answer = await call();
      answers.push(answer);
      return holds(answer) ? true : null;
    });
    return answers;
  };
  /** Waits until everything has been sent that was accepted so far. */
  const expectSent = async (): Promise<void> => {
    const { rest } = await at.client();
    const open = new Set(accepted);
    await eventually("everything is sent that was accepted", withinMs, async () => {
      for (const id of open) {
        const found = await rest.get<{ status: string }>(`/v1/notifications/${id}`).catch(() => null); // not back yet
        if (found?.status !== "completed") return null;
        open.delete(id);
      }
      return true;
    });
  };

  it("Redis: requests are answered, each replica counts by itself, and nothing has to be done when there is room", async () => {
    await disks.redis.fill();
    const degraded = (answer: Answer) => answer?.headers.get("x-ratelimit-degraded") === "1";
    const answers = await callUntil("an answer without Redis", degraded);
    await disks.redis.free();
    const later = await callUntil("an answer with Redis", (answer) => !degraded(answer));
    expect(statusesOf([...answers, ...later])).to.deep.equal([202]);
    await expectSent();
  });

  it("JetStream: what is accepted waits in MongoDB, and is sent once it has room and is started again", async () => {
    await disks.nats.fill();
    const answers = await Promise.all(Array.from({ length: 50 }, call));
    expect(statusesOf(answers)).to.deep.equal([202]);
    await eventually("JetStream finds no room", withinMs, async () =>
      (await inPod(at, ["logs", pod("nats")])).includes("no space left on device") ? true : null,
    );
    await disks.nats.free();
    await run(at, restartNats);
    await expectSent();
  });

  it("MongoDB: requests that write are refused, others are answered, and nothing has to be done when there is room", async () => {
    await roomInLog(at);
    await disks.mongodb.fill();
    const answers = await callUntil("a refusal", (answer) => answer?.status !== 202);
    const { status, headers } = answers.at(-1) ?? expect.fail("no answer");
    expect({ status, mayTryAgain: headers.has("retry-after") }).to.deep.equal({ status: 503, mayTryAgain: true });
    const { rest } = await at.client();
    await rest.get(`/v1/notifications/${accepted[0]}`);
    expect((await at.release.pods("apiserver")).map(isReady)).to.deep.equal([true]);
    await disks.mongodb.free();
    await callUntil("an answer when there is room", (answer) => answer?.status === 202);
    await expectSent();
  });

  it("has lost no event of them either", () => at.inbox.delivered(accepted, withinMs));
});

const statusesOf = (answers: readonly Answer[]) => [...new Set(answers.map((answer) => answer?.status))];

/** Has the log of PostgreSQL in a file that is new and has its full size, so that documents are what finds no room. */
const roomInLog = async (at: System): Promise<void> => {
  const psql = ["psql", "--host=127.0.0.1", "--username=herald", "--dbname=postgres"];
  const commands = ["--command=select pg_switch_wal()", "--command=checkpoint"];
  await inPod(at, ["exec", pod("mongodb"), "--container=postgres", "--", ...psql, ...commands]);
};

const pod = (store: string): string => `${releaseName}-${store}-0`;

const inPod = ({ cluster }: System, [verb = "", ...rest]: readonly string[]): Promise<string> =>
  cluster.kubectl([verb, "--namespace", releaseName, ...rest]);

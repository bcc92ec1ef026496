import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { testDir } from "../../../dev/files/paths.ts";
import { testServers } from "../../support/servers/servers.ts";
import { counted, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("calls of the stores", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  const dir = join(testDir, `files-${process.pid}`);

  before(async () => {
    await mkdir(dir, { recursive: true });
    sending = await startSending(await testServers());
    const { system } = sending;
    const env = { HERALD_FILES_DIR: dir };
    [api, dispatcher] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
    const devices = await seedDevices(system, 1);
    await system.ended(await send(system, api, { target: { include_subscription_ids: [devices[0]?._id] } }), 30_000);
  });
  after(async () => {
    await sending?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const lines = async ({ healthUrl }: SystemProgram): Promise<string[]> =>
    (await (await fetch(`${healthUrl}/metrics`)).text()).split("\n");
  const timed = async (program: SystemProgram): Promise<string[]> => {
    const counts = (await lines(program)).filter((line) =>
      line.startsWith("herald_store_call_duration_seconds_count{"),
    );
    return counts.flatMap((line) => (line.endsWith(" 0") ? [] : (/store="(\w+)"/.exec(line)?.[1] ?? [])));
  };

  it("are timed in each program, of each store that it uses", async () => {
    expect(await timed(api)).to.include.members(["mongodb", "redis", "jetstream"]);
    expect(await timed(dispatcher)).to.include.members(["mongodb", "jetstream"]);
    expect(await counted([api, dispatcher], "herald_store_call_duration_seconds_sum")).to.be.above(0);
  });

  it("are of files, too, once one is written or removed", async () => {
    const { app, token } = sending.system;
    const reply = await fetch(`${api.url}/v1/apps/${app._id}/exports`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ type: "users" }),
    });
    expect(reply.status).to.be.below(300);
    await until(async () => (await timed(dispatcher)).includes("files"));
  });

  /** Puts a file in the folder's place. The dispatcher may be quicker: it makes the folder when it finds none. */
  const isInTheWay = async (): Promise<boolean> => {
    await rm(dir, { recursive: true, force: true });
    return await writeFile(dir, "in the way of the folder").then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "EISDIR") return false;
        throw error;
      },
    );
  };

  it("can be made, says the dispatcher of the files, which it can do without", async () => {
    const of = async () => (await lines(dispatcher)).find((line) => /^herald_dependency_up{.*"files"/.test(line));
    await until(async () => (await of())?.endsWith(" 1") === true); // one that does not answer within a second counts as away
    await until(isInTheWay);
    await until(async () => (await of())?.endsWith(" 0") === true);
    expect((await fetch(`${dispatcher.healthUrl}/readyz`)).status).to.equal(200);
  });
});

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { attempt, type Outcome } from "../../dev/processes/run-command.ts";
import { objectsIn, render, valuesFiles } from "./support/helm.ts";

type TestPod = { containers: { args: string[] }[] };

describe("the pod of helm test", () => {
  let script: string;
  let server: Server;
  let port: number;
  let asked: Map<string, number>;
  /** Answers as the programs do, unless a test says otherwise of a request to `HOST/PATH`. */
  let answer: RequestListener;

  before(async () => {
    const objects = objectsIn(await render(valuesFiles["trial"] ?? "", "herald"));
    const pod = objects.find(({ kind }) => kind === "Pod") ?? expect.fail("no pod");
    script = (pod.spec as TestPod).containers[0]?.args[2] ?? expect.fail("no script");
  });
  beforeEach(async () => {
    asked = new Map();
    answer = asPrograms;
    server = createServer((request, response) => {
      const url = request.url ?? "";
      asked.set(url, (asked.get(url) ?? 0) + 1);
      answer(request, response);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    ({ port } = server.address() as AddressInfo); // it listens on TCP
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const asPrograms: RequestListener = ({ url }, response) => {
    response.writeHead(url?.endsWith("/v1/notifications") ? 401 : 200).end("{}");
  };
  /** Runs what the pod runs, with a limit of `seconds`, against the server of this test instead of the Services. */
  const run = (seconds = 20): Promise<Outcome> => {
    const here = script
      .replaceAll(/http:\/\/(herald[-a-z]*):\d+/g, `http://127.0.0.1:${port}/$1`)
      .replace("withinMs = 60_000", `withinMs = ${seconds * 1_000}`);
    expect(here).to.include(`withinMs = ${seconds * 1_000}`);
    return attempt([process.execPath, "--input-type=module", "--eval", here]);
  };

  it("asks every program and the interface, and says of each that it is well", async () => {
    const { code, stdout } = await run();
    expect(code).to.equal(0);
    expect(stdout.trim().split("\n")).to.have.length(5);
    for (const line of stdout.trim().split("\n")) expect(line).to.match(/^(200|401) http:\S+ ok$/);
    expect([...asked.values()]).to.deep.equal([1, 1, 1, 1, 1]);
  });

  it("asks again what is not ready yet, or whose answer breaks off", async () => {
    answer = (request, response) => {
      const times = asked.get(request.url ?? "") ?? 0;
      if (request.url?.includes("dispatcher") && times === 1) return void response.writeHead(503).end("unavailable");
      if (request.url?.includes("operator") && times < 3) return void request.socket.destroy();
      asPrograms(request, response);
    };
    const { code, stdout } = await run();
    expect(code).to.equal(0);
    expect(stdout.trim().split("\n")).to.have.length(5);
    expect(asked.get("/herald-operator-health/readyz")).to.equal(3);
  });

  it("says which address did not answer in time, which answered otherwise, and which are well", async () => {
    answer = (request, response) => {
      if (request.url?.includes("operator")) return; // it hangs
      if (request.url?.includes("dispatcher")) return void response.writeHead(503).end('{"mongodb":"timeout"}');
      asPrograms(request, response);
    };
    const { code, stdout } = await run(2);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^FAILED http:\S+\/herald-operator-health\/readyz: .*(timeout|abort)/m);
    expect(stdout).to.match(/^FAILED http:\S+\/herald-dispatcher-health\/readyz: 503 \{"mongodb":"timeout"\}$/m);
    expect(stdout.match(/ ok$/gm)).to.have.length(3);
  });

  it("says why an address cannot be reached at all", async () => {
    server.close();
    const { code, stdout } = await run(1);
    expect(code).to.equal(1);
    expect(stdout.match(/^FAILED http:\S+: .*ECONNREFUSED/gm)).to.have.length(5);
  });
});

import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesIn } from "#core/runtime/tls/certificates.ts";
import { httpServer } from "../../../../apiserver/http/server/server.ts";
import { type Certificate, selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import { until } from "../../../support/until.ts";

describe("a REST interface with a certificate of its own", () => {
  const log = createLog({ program: "apiserver", level: "fatal" });
  let dir: string;
  let server: Part & { port: () => number };

  const put = async ({ cert, key }: Certificate): Promise<void> => {
    await writeFile(join(dir, "tls.crt"), cert);
    await writeFile(join(dir, "tls.key"), key);
  };
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "encrypted-"));
  });
  after(async () => {
    await server?.stop(AbortSignal.timeout(1_000));
    await rm(dir, { recursive: true, force: true });
  });

  const ask = async (agent: Agent): Promise<string> => {
    const asked = request({ host: "127.0.0.1", port: server.port(), agent }).end();
    const [reply] = await once(asked, "response");
    return text(reply);
  };
  const trusting = ({ cert: ca }: Certificate): Agent => new Agent({ ca, keepAlive: true });

  it("shows the next one to new connections once it is there, and goes on with those that it has", async () => {
    const [first, second] = [selfSigned(), selfSigned()];
    await put(first);
    server = httpServer({
      host: "127.0.0.1",
      port: 0,
      tls: certificatesIn({ dir, log, everyMs: 25 }),
      drainMs: 0,
      mostStreams: 0,
      bodyMs: () => 1_000,
      handler: () => (_, reply) => void reply.end("served"),
      clock: systemClock,
    });
    await server.start(new AbortController().signal);
    const kept = trusting(first);
    expect(await ask(kept)).to.equal("served");
    await put(second);
    await until(async () => (await ask(trusting(second)).catch(String)) === "served");
    expect(await ask(kept)).to.equal("served");
    expect(await ask(trusting(first)).catch(String)).to.include("self-signed");
    kept.destroy();
  });
});

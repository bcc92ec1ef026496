import { execFile } from "node:child_process";
import { createServer as createHttps } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { selfSigned } from "../../../../../dev/simulators/kit/certificate.ts";
import type { GuardedReply } from "../../../../../dispatcher/net/guarded/client.ts";
import { outgoing } from "../../../../support/servers/outgoing.ts";

const root = join(import.meta.dirname, "../../../../..");
const limits = { timeoutMs: 2_000, connectTimeoutMs: 2_000, maxReplyBytes: 100 };
const pool = { poolKey: "whk_1", maxConnections: 1, mayRepeat: false };

/** One request by a process of its own, whose environment Node reads at its start. */
const askIn = async (env: NodeJS.ProcessEnv, url: string): Promise<GuardedReply> => {
  const wanted = JSON.stringify({ method: "POST", headers: {}, body: "hello", ...limits, ...pool });
  const script = `
    import { addressGuard } from "${root}/core/runtime/http/address-guard.ts";
    import { guardedClient } from "${root}/dispatcher/net/guarded/client.ts";
    const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }) });
    const signal = new AbortController().signal;
    console.log(JSON.stringify(await client.request({ url: new URL("${url}"), ...${wanted} }, signal)));
    client.close();`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
  return JSON.parse(stdout) as GuardedReply; // as the script above prints it
};

describe("a guarded request in an environment that", () => {
  const { http, listen, connections } = outgoing();

  it("names proxies goes straight to its receiver", async () => {
    let proxied = 0;
    const proxy = await http((_, response) => {
      proxied++;
      response.end();
    });
    const port = await http((_, response) => response.writeHead(202).end());
    const address = `http://127.0.0.1:${proxy}`;
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    const env = { ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
    expect(await askIn(env, `http://127.0.0.1:${port}/`)).to.include({ kind: "answered", status: 202 });
    expect([proxied, connections()]).to.deep.equal([0, 1]);
  });

  it("tells Node to trust every certificate trusts none of nobody", async () => {
    const port = await listen(createHttps(selfSigned(), (_, response) => response.end()));
    const reply = await askIn({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }, `https://127.0.0.1:${port}/`);
    expect(reply).to.include({ kind: "unreached", errorClass: "tls" });
  });
});

import { generateKeyPairSync, type KeyObject, randomBytes, verify } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { answersHttp, launch } from "../../../dev/processes/process.ts";
import { tool } from "../../../dev/release/tool.ts";

export type Store = { url: string; close: () => Promise<void> };

/** A server of Google Cloud Storage with a bucket, behind Google's part: tokens for service accounts, and a look at them. */
export const startGcs = async (dir: string, bucket: string): Promise<Store & { credentials: string }> => {
  const [port = 0] = await freePorts(1);
  const at = `http://127.0.0.1:${port}`;
  const server = await launch({
    name: "fake-gcs-server",
    dir,
    detached: false,
    command: [
      tool("fake-gcs-server"),
      "-backend",
      "memory",
      "-scheme",
      "http",
      "-host",
      "127.0.0.1",
      "-port",
      `${port}`,
    ],
    marker: `-port ${port}`,
    ports: [port],
    isReady: () => answersHttp(`${at}/storage/v1/b?project=p`),
  });
  await fetch(`${at}/storage/v1/b?project=p`, { method: "POST", body: JSON.stringify({ name: bucket }) });
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const front = createServer((asked, answer) => void inFront({ asked, answer }, port, publicKey));
  await new Promise<void>((done) => void front.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const credentials = {
    type: "service_account",
    project_id: "p",
    client_email: "herald@p.iam.gserviceaccount.com",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    token_uri: `${url}/token`,
  };
  return {
    url,
    credentials: JSON.stringify(credentials),
    close: async () => {
      front.closeAllConnections();
      front.close();
      await server.kill();
    },
  };
};

type Exchange = { asked: IncomingMessage; answer: ServerResponse };

const accessToken = randomBytes(16).toString("hex");

const inFront = async ({ asked, answer }: Exchange, port: number, key: KeyObject): Promise<void> => {
  if (asked.url === "/token") {
    const assertion = new URLSearchParams(await text(asked)).get("assertion") ?? "";
    const [head = "", claims = "", signature = ""] = assertion.split(".");
    const isSigned = verify("sha256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"));
    answer.statusCode = isSigned ? 200 : 400;
    answer.end(JSON.stringify(isSigned ? { access_token: accessToken, expires_in: 3600 } : { error: "invalid_grant" }));
    return;
  }
  if (asked.headers.authorization !== `Bearer ${accessToken}`) {
    answer.statusCode = 401;
    answer.end(JSON.stringify({ error: { code: 401, errors: [{ reason: "authError" }] } }));
    return;
  }
  const { method, url, headers } = asked;
  const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  asked.pipe(onward);
};

/** A server of Azure Blob Storage with an account. */
export const startAzure = async (dir: string, account: string): Promise<Store & { key: string }> => {
  const [port = 0] = await freePorts(1);
  const key = randomBytes(64).toString("base64");
  const where = ["--blobHost", "127.0.0.1", "--blobPort", `${port}`, "--inMemoryPersistence"];
  const server = await launch({
    name: "azurite",
    dir,
    detached: false,
    command: [
      process.execPath,
      tool("azurite-blob"),
      ...where,
      "--silent",
      "--skipApiVersionCheck",
      "--disableTelemetry",
    ],
    marker: `--blobPort ${port}`,
    ports: [port],
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) !== null,
    env: { AZURITE_ACCOUNTS: `${account}:${key}` },
  });
  return { url: `http://127.0.0.1:${port}`, key, close: () => server.kill() };
};

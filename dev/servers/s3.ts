import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bin } from "../files/paths.ts";
import { answersHttp, launch, type Server, type ServerOptions } from "../processes/process.ts";

/** What the server is started with; it holds nothing but what this machine makes up. */
const account = { accessKeyId: "herald", secretAccessKey: "herald-on-loopback" };
const bucket = "herald";

/** Starts an S3 server that keeps objects as files, on loopback, with a bucket. Its URL names account and bucket. */
export const startS3 = async (options: ServerOptions & { port: number }): Promise<Server> => {
  const { dir, port, name = "s3", detached = false } = options;
  const data = join(dir, name);
  mkdirSync(join(data, bucket), { recursive: true }); // it takes each folder for a bucket
  const listen = ["--port", `127.0.0.1:${port}`, "--health", "/health", "--quiet"];
  const { pid, ...controls } = await launch({
    name,
    dir,
    detached,
    command: [bin("versitygw"), ...listen, "posix", data],
    env: { ROOT_ACCESS_KEY_ID: account.accessKeyId, ROOT_SECRET_ACCESS_KEY: account.secretAccessKey },
    ports: [port],
    marker: `--port 127.0.0.1:${port} --health`,
    isReady: () => answersHttp(`http://127.0.0.1:${port}/health`),
  });
  const { accessKeyId, secretAccessKey } = account;
  return { ...controls, pids: [pid], url: `http://${accessKeyId}:${secretAccessKey}@127.0.0.1:${port}/${bucket}` };
};

/** A program's settings for the server at such a URL (`http://access-key:secret@host:port/bucket`). */
export const s3Settings = (url: string): Record<string, string> => {
  const { protocol, host, pathname, username, password } = new URL(url);
  return {
    HERALD_S3_ENDPOINT: `${protocol}//${host}`,
    HERALD_S3_BUCKET: pathname.slice(1),
    HERALD_S3_ACCESS_KEY_ID: decodeURIComponent(username),
    HERALD_S3_SECRET_ACCESS_KEY: decodeURIComponent(password),
  };
};

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { connection } from "#core/runtime/kube/connection.ts";

describe("kubeconfig", () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "herald-kubeconfig-"));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const write = (name: string, content: object): string => {
    const file = join(dir, name);
    writeFileSync(file, stringify(content));
    return file;
  };
  const base = { "current-context": "c", contexts: [{ name: "c", context: { cluster: "k", user: "u" } }] };
  const cluster = { name: "k", cluster: { server: "https://k.example:6443" } };
  it("gives the server and the token", async () => {
    const file = write("token", { ...base, clusters: [cluster], users: [{ name: "u", user: { token: "t" } }] });
    expect(connection({ KUBECONFIG: file }).server.href).to.equal("https://k.example:6443/");
    expect(await headersOf(file)).to.deep.equal({ Authorization: "Bearer t" });
  });

  it("may be split over several files", async () => {
    const first = write("first", base);
    const second = write("second", { clusters: [cluster], users: [{ name: "u", user: { token: "two" } }] });
    expect(await headersOf([first, second].join(delimiter))).to.deep.equal({ Authorization: "Bearer two" });
  });

  it("runs a plug-in for credentials", async () => {
    const credential = JSON.stringify({ status: { token: "from-plugin" } });
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "echo", args: [credential] };
    const file = write("exec", { ...base, clusters: [cluster], users: [{ name: "u", user: { exec } }] });
    expect(await headersOf(file)).to.deep.equal({ Authorization: "Bearer from-plugin" });
  });

  it("reads certificates beside the file", async () => {
    writeFileSync(join(dir, "ca.crt"), "CA");
    const trusted = { name: "k", cluster: { ...cluster.cluster, "certificate-authority": "ca.crt" } };
    const file = write("ca", { ...base, clusters: [trusted], users: [] });
    const options = { headers: {} };
    await connection({ KUBECONFIG: file }).authorize(options);
    expect(options).to.deep.include({ ca: Buffer.from("CA") });
  });

  const bad = [
    { it: "no current context", content: { clusters: [cluster] }, says: "current-context" },
    { it: "a context without its cluster", content: { ...base, clusters: [] }, says: "names no cluster" },
    {
      it: "a proxy",
      content: { ...base, clusters: [{ name: "k", cluster: { ...cluster.cluster, "proxy-url": "http://p" } }] },
      says: "proxy-url",
    },
    {
      it: "a legacy auth provider",
      content: { ...base, clusters: [cluster], users: [{ name: "u", user: { "auth-provider": { name: "gcp" } } }] },
      says: "use exec",
    },
  ];
  for (const { it: name, content, says } of bad) {
    it(`refuses ${name}`, () => {
      expect(() => connection({ KUBECONFIG: write("bad", content) })).to.throw(says);
    });
  }

  it("that does not exist is named", () => {
    expect(() => connection({ KUBECONFIG: "/nowhere/config" })).to.throw("/nowhere/config");
  });
});

const headersOf = async (KUBECONFIG: string): Promise<Record<string, string>> => {
  const options = { headers: {} };
  await connection({ KUBECONFIG }).authorize(options);
  return options.headers;
};

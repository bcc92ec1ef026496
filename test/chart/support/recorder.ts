import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { connection } from "#core/runtime/kube/connection.ts";

/** A request as RBAC judges it, e.g. `patch herald.dev/apps/status`. */
export type Use = { verb: string; resource: string; status: number };

/** Passes requests on to the API server as whoever sends them, and keeps what was asked. */
export type Recorder = { url: string; uses: () => readonly Use[]; close: () => void };

export const recorderBefore = async (kubeconfig: string): Promise<Recorder> => {
  const uses: Use[] = [];
  const { server: target, authorize } = connection({ KUBECONFIG: kubeconfig });
  const trust = { headers: {} as Record<string, string> }; // of the administrator only the authority is taken
  await authorize(trust);
  const { ca } = trust as { ca?: Buffer };
  const agent = new Agent({ keepAlive: true, ...(ca && { ca }) });

  const pass = (near: IncomingMessage, reply: ServerResponse): void => {
    const { method = "GET", url = "/", headers } = near;
    const far = request(new URL(url, target), { method, headers, agent }, (answer) => {
      const use = useOf(method, new URL(url, target));
      if (use !== null) uses.push({ ...use, status: answer.statusCode ?? 0 });
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      reply.flushHeaders();
      pipeline(answer, reply, () => far.destroy());
    });
    far.on("error", () => reply.destroy());
    reply.on("close", () => far.destroy());
    near.pipe(far);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    uses: () => uses,
    close: () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
};

const path =
  /^\/(?:api|apis\/(?<group>[^/]+))\/v[^/]+\/(?:namespaces\/[^/]+\/)?(?<resource>[a-z]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[a-z]+))?$/;

const verbs: Record<string, string> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

/** As the API server reads a request. Reviews of oneself are everybody's to make. */
const useOf = (method: string, { pathname, searchParams }: URL): Omit<Use, "status"> | null => {
  const { group, resource, name, sub } = path.exec(pathname)?.groups ?? {};
  if (resource === undefined || resource.startsWith("selfsubject")) return null;
  const collection = searchParams.get("watch") === null ? "list" : "watch";
  const verb = verbs[method] ?? (name === undefined ? collection : "get");
  return { verb, resource: [group, resource, sub].filter((part) => part !== undefined).join("/") };
};

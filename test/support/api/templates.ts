import { expect } from "chai";
import type { Installation, ReplyBody } from "./api.ts";
import type { Tenant } from "./site.ts";

export const hello = { contents: { en: "Hello {{ user.tags.name }}" } };

/** Calls the operations on a tenant's templates, below their path; both objects may be filled later. */
export const templateCalls = (site: Pick<Installation, "api">, tenant: Tenant) => {
  let n = 0;
  const call = (method: string, path = "", body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/templates${path}`, {
      token: tenant.token,
      ...(body !== undefined && { body }),
    });
  const ok = async (method: string, path: string, body?: object): Promise<ReplyBody> => {
    const reply = await call(method, path, body);
    expect([200, 201], JSON.stringify(reply.body)).to.include(reply.status);
    return reply.body;
  };
  const made = (over: object = {}): Promise<ReplyBody> =>
    ok("POST", "", { name: `template ${++n}`, content: hello, ...over });
  return {
    call,
    /** What is answered, when it is not refused. */
    ok,
    made,
    published: async (over: object = {}): Promise<ReplyBody> => ok("POST", `/${(await made(over)).id}/publish`),
    /** How it is refused. */
    refused: async (method: string, path: string, body?: object) => {
      const { status, body: reply } = await call(method, path, body);
      const details: { field?: string; message?: string } = reply.error.details;
      return { status, code: reply.error.code, ...details };
    },
  };
};

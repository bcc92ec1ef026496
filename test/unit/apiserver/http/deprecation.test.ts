import { expect } from "chai";
import { Type } from "typebox";
import type { Deprecation } from "../../../../apiserver/http/deprecation.ts";
import { deprecationHeaders } from "../../../../apiserver/http/deprecation.ts";
import { feature } from "../../../../apiserver/http/feature.ts";
import { routing } from "../../../../apiserver/http/middleware/routing.ts";
import { openapi } from "../../../../apiserver/http/openapi/document.ts";
import { routeOf } from "../../../../apiserver/http/route.ts";
import type { Context } from "../../../../apiserver/http/state.ts";

const deprecated: Deprecation = {
  since: new Date("2027-01-01T00:00:00Z"),
  sunset: new Date("2028-01-01T00:00:00Z"),
  more: "https://herald.example/docs/things",
};
const route = routeOf<object>({ tag: "Things", scopes: "public" });
const things = feature({
  make: () => ({}),
  routes: [
    route({
      id: "old",
      method: "GET",
      path: "/old",
      summary: "Old",
      reply: Type.Object({}),
      deprecated,
      handle: async () => ({ body: {} }),
    }),
    route({
      id: "new",
      method: "GET",
      path: "/new",
      summary: "New",
      reply: Type.Object({}),
      handle: async () => ({ body: {} }),
    }),
  ],
});

/** The headers of a reply to a request of a path, as far as routing says them. */
const headersOf = (path: string): Record<string, string> => {
  const state = { headers: {} };
  void routing(things.bind({}))({ path, method: "GET", state } as unknown as Context); // sound: routing reads no more
  return state.headers;
};

describe("an operation that will be taken away", () => {
  it("says so in its replies, and others do not", () => {
    expect(headersOf("/old")).to.deep.equal({
      Deprecation: "@1798761600",
      Sunset: "Sat, 01 Jan 2028 00:00:00 GMT",
      Link: '<https://herald.example/docs/things>; rel="deprecation"; type="text/html"',
    });
    expect(headersOf("/new")).to.deep.equal({});
  });

  it("says so in the OpenAPI document", () => {
    const { paths } = openapi([things]) as unknown as { paths: Record<string, { get: { deprecated?: boolean } }> };
    expect([paths["/old"]?.get.deprecated, paths["/new"]?.get.deprecated]).to.deep.equal([true, undefined]);
  });

  it("is there for a year at least", () => {
    const hasty = { ...deprecated, sunset: new Date("2027-12-31T00:00:00Z") };
    expect(() => deprecationHeaders(hasty)).to.throw(RangeError, "364 days");
  });
});
